// Tanimoto similarities of every CUDA variant against sets; against the CPU: soak_cuda.
#include <gpu/error.hpp>

#include "support/device_offers.hpp"
#include "tanimoto/tanimoto_cases.hpp"

namespace {

using gpu::binary_matmul_variant;
using gpu_test::bit_table;
using gpu_test::tanimoto_oracle;

const gpu::execution on_cuda{.target = gpu::backend::cuda};
const gpu::execution on_cpu{.target = gpu::backend::cpu};

std::vector<gpu::tanimoto_options> offered() {
  std::vector<gpu::tanimoto_options> out;
  for (const auto variant : {binary_matmul_variant::popcount_tiled, binary_matmul_variant::tensor,
                             binary_matmul_variant::hopper}) {
    if (gpu_test::applies(variant)) out.push_back({.variant = variant, .exec = on_cuda});
  }
  out.push_back({.exec = on_cuda});
  return out;
}

}  // namespace

TEST_CASE("Every variant of Tanimoto equals sets", "[tanimoto][cuda]") {
  for (const gpu::tanimoto_options& options : offered()) {
    INFO(gpu::to_string(options.variant));
    gpu_test::check_tanimoto_shapes(options);
    gpu_test::check_tanimoto_parts(options);
  }
}

TEST_CASE("Partners that come in the worst order overflow their lists", "[tanimoto][cuda]") {
  // Row 0 is like the later columns more and more: every panel beats what was before.
  constexpr gpu::index_t rows = 6000;
  std::vector<gpu_test::column_set> sets;
  gpu_test::column_set grown;
  for (gpu::index_t i = 0; i < rows; ++i) {
    grown.push_back(i);
    sets.push_back(grown);
  }
  gpu_test::column_set all(rows);
  std::iota(all.begin(), all.end(), 0);
  std::vector<gpu_test::column_set> queries(3, all);
  const bit_table y(rows, std::move(sets));
  const bit_table x(rows, std::move(queries));
  for (const gpu::tanimoto_options& options : offered()) {
    INFO(gpu::to_string(options.variant));
    const auto table =
        gpu::tanimoto_all_pairs(x.view(), y.view(), options, gpu::top_k_sink{.k = 5});
    for (gpu::index_t i = 0; i < 3; ++i) {
      for (gpu::index_t n = 0; n < 5; ++n) {
        CHECK(table.index(i, n) == static_cast<gpu::node_id>(rows - 1 - n));
        CHECK(table.statistic(i, n) == static_cast<double>(rows - n) / rows);
      }
    }
  }
}

TEST_CASE("More partners than lists hold, and ties everywhere", "[tanimoto][cuda]") {
  const bit_table x(2500, 6, 0.5, 31);
  for (const gpu::tanimoto_options& options : offered()) {
    INFO(gpu::to_string(options.variant));
    for (const gpu::index_t k : {1, 1000, 1024, 1025, 2600}) {
      const gpu::top_k_sink best{.k = k};
      const auto table = gpu::tanimoto_all_pairs(x.view(), options, best);
      const auto expected = gpu::tanimoto_all_pairs(x.view(), {.exec = on_cpu}, best);
      CHECK(table.summary.checksum == expected.summary.checksum);
      CHECK(table.count == expected.count);
    }
  }
}

TEST_CASE("A limit on device memory cuts a Tanimoto job", "[tanimoto][cuda]") {
  const bit_table x(3000, 200, 0.2, 51);
  for (gpu::tanimoto_options options : offered()) {
    options.exec.workspace_bytes = std::size_t{40} << 20;
    const gpu::edge_sink all{};
    CHECK(gpu::tanimoto_all_pairs(x.view(), options, all).summary.checksum ==
          gpu::tanimoto_all_pairs(x.view(), {.exec = on_cpu}, all).summary.checksum);
    options.exec.workspace_bytes = 1000;
    CHECK_THROWS_AS(gpu::tanimoto_all_pairs(x.view(), options, gpu::edge_sink{}),
                    gpu::out_of_memory);
  }
}

TEST_CASE("Deep rows leave the warpgroups", "[tanimoto][cuda]") {
  const bit_table x(40, 70000, 0.3, 61);
  gpu_test::check_tanimoto(tanimoto_oracle(x, x), {.exec = on_cuda});
  if (gpu_test::applies(binary_matmul_variant::hopper)) {
    CHECK_THROWS_AS(gpu::tanimoto_all_pairs(
                        x.view(), {.variant = binary_matmul_variant::hopper, .exec = on_cuda}),
                    gpu::unsupported);
  }
}

TEST_CASE("CUDA refuses variants that Tanimoto lacks", "[tanimoto][cuda]") {
  const bit_table x(40, 70, 0.3, 61);
  for (const auto variant :
       {binary_matmul_variant::popcount, binary_matmul_variant::popcount_shared}) {
    CHECK_THROWS_AS(gpu::tanimoto_all_pairs(x.view(), {.variant = variant, .exec = on_cuda}),
                    gpu::unsupported);
  }
}
