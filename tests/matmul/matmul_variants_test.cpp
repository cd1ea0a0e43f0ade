// The choice of variant and tile, asked without a GPU.
#include "plan/matmul_variants.hpp"

#include <limits>

#include <gpu/error.hpp>

#include "support/catch.hpp"

namespace {

using gpu::matmul_variant;
using gpu::detail::matmul_choice;
using gpu::detail::matmul_device;
using gpu::detail::matmul_extents;

constexpr std::size_t unlimited = std::numeric_limits<std::size_t>::max();

matmul_device hopper() {
  return {.name = "cc 9.0",
          .compute = 90,
          .code = 90,
          .multiprocessors = 132,
          .shared_bytes = 232448,
          .has_wgmma = true};
}
matmul_device turing() {
  return {
      .name = "cc 7.5", .compute = 75, .code = 75, .multiprocessors = 40, .shared_bytes = 65536};
}
matmul_choice choose(const matmul_extents& e, const matmul_device& device,
                     matmul_variant asked = matmul_variant::automatic, std::size_t bytes = 4,
                     std::size_t limit = unlimited) {
  return gpu::detail::choose_matmul_cuda(e, bytes, {.variant = asked}, device, limit);
}

}  // namespace

TEST_CASE("Large float products go to tensor cores where there are some", "[matmul][plan]") {
  const matmul_extents large{4096, 4096, 4096};
  CHECK(choose(large, hopper()).variant == matmul_variant::tensor);
  CHECK(choose(large, hopper()).wgmma_columns > 0);
  CHECK(choose(large, turing()).variant == matmul_variant::register_tiled);
}

TEST_CASE("Tensor cores need code for them, not only the device", "[matmul][plan]") {
  matmul_device older = hopper();
  older.has_wgmma = false;
  older.code = 80;
  const matmul_extents large{4096, 4096, 4096};
  CHECK(choose(large, older).variant == matmul_variant::tensor);
  CHECK(choose(large, older).wgmma_columns == 0);
  CHECK(choose(large, older, matmul_variant::automatic, 8).variant == matmul_variant::tensor);
  older.code = 75;
  CHECK(choose(large, older).variant == matmul_variant::register_tiled);
  CHECK(choose(large, older, matmul_variant::automatic, 8).variant ==
        matmul_variant::register_tiled);
  CHECK_THROWS_AS(choose(large, older, matmul_variant::tensor), gpu::unsupported);
}

TEST_CASE("Double products go to tensor cores where those are faster", "[matmul][plan]") {
  const auto of_double = [](const matmul_extents& e, const matmul_device& device) {
    return choose(e, device, matmul_variant::automatic, 8);
  };
  CHECK(of_double({4096, 4096, 4096}, hopper()).variant == matmul_variant::tensor);
  CHECK(of_double({4096, 4096, 4096}, hopper()).workspace_bytes == 0);
  CHECK(of_double({4096, 4096, 4096}, hopper()).tile_rows >
        of_double({512, 512, 512}, hopper()).tile_rows);
  CHECK(of_double({4096, 4096, 4096}, turing()).variant == matmul_variant::register_tiled);
  const matmul_device consumer{
      .name = "cc 8.9", .compute = 89, .code = 89, .multiprocessors = 128, .shared_bytes = 101376};
  CHECK(of_double({4096, 4096, 4096}, consumer).variant == matmul_variant::register_tiled);
  // Asked for, it takes a tile that the device has shared memory for.
  CHECK(choose({4096, 4096, 4096}, consumer, matmul_variant::tensor, 8).tile_rows <
        of_double({4096, 4096, 4096}, hopper()).tile_rows);
  CHECK(of_double({128, 128, 65536}, hopper()).variant == matmul_variant::register_tiled);
}

TEST_CASE("Small, shallow and thin products stay on the CUDA cores", "[matmul][plan]") {
  for (const matmul_extents& e : {matmul_extents{64, 64, 64},
                                  {100000, 100000, 16},
                                  {1000000, 8, 4096},
                                  {8, 1000000, 4096},
                                  {300, 300, 65536}}) {
    CHECK(choose(e, hopper()).variant == matmul_variant::register_tiled);
  }
}

TEST_CASE("Tiles fit the shared memory of the device", "[matmul][plan]") {
  const matmul_extents slim{100000, 12, 512};
  CHECK(choose(slim, hopper()).tile_cols < choose(slim, turing()).tile_cols);
}

TEST_CASE("Few tiles of C are multiplied in parts of k or by small tiles", "[matmul][plan]") {
  const auto register_tiled = [](const matmul_extents& e) {
    return choose(e, hopper(), matmul_variant::register_tiled);
  };
  CHECK(register_tiled({128, 128, 65536}).depth_splits > 16);
  CHECK(register_tiled({1536, 1536, 1536}).depth_splits > 1);
  CHECK(register_tiled({1024, 1024, 1024}).depth_splits == 1);
  CHECK(register_tiled({256, 256, 256}).depth_splits == 1);
  CHECK(register_tiled({8192, 8192, 8192}).depth_splits == 1);
  CHECK(register_tiled({512, 512, 512}).tile_rows < register_tiled({4096, 4096, 4096}).tile_rows);
  CHECK(register_tiled({32, 65536, 1024}).tile_rows <= 32);
  CHECK(register_tiled({65536, 32, 1024}).tile_cols <= 32);
}

TEST_CASE("A workspace limit is kept, or named", "[matmul][plan]") {
  const matmul_extents large{4096, 4096, 4096};
  const std::size_t needed = choose(large, hopper()).workspace_bytes;
  CHECK(choose(large, hopper(), matmul_variant::automatic, 4, needed).variant ==
        matmul_variant::tensor);
  CHECK(choose(large, hopper(), matmul_variant::automatic, 4, needed - 1).variant ==
        matmul_variant::register_tiled);
  CHECK_THROWS_AS(choose(large, hopper(), matmul_variant::tensor, 4, needed - 1),
                  gpu::out_of_memory);
  const matmul_extents deep{128, 128, 65536};
  CHECK(choose(deep, hopper(), matmul_variant::register_tiled).depth_splits > 1);
  CHECK(choose(deep, hopper(), matmul_variant::register_tiled, 4, 0).depth_splits == 1);
  CHECK(choose(deep, hopper(), matmul_variant::register_tiled, 4, 0).workspace_bytes == 0);
}

TEST_CASE("What a device or type has not is refused", "[matmul][plan]") {
  const matmul_extents e{64, 64, 64};
  CHECK_THROWS_AS(choose(e, turing(), matmul_variant::tensor), gpu::unsupported);
  CHECK_THROWS_AS(choose(e, turing(), matmul_variant::tensor, 8), gpu::unsupported);
  CHECK_THROWS_AS(choose(e, hopper(), matmul_variant::blas), gpu::unsupported);
}
