// Ranks of device memory: the device overload, and the Spearman prologue against the CPU's.
#include <cuda_runtime_api.h>

#include "cpu/rank/centred_ranks.hpp"
#include "kernels/rank/kernels.hpp"
#include "rank/rank_cases.hpp"
#include "support/device_memory.hpp"

namespace {

using gpu_test::device_array;

template <class T>
device_array<T> upload(const gpu::matrix<T>& data) {
  return {data.data(), static_cast<std::size_t>(data.rows() * data.cols())};
}

// Integers, padding and square sums as the CPU computes them, for `pitch` columns of output.
template <class Integer, class T>
void check_centred_ranks(const gpu::matrix<T>& data, gpu::index_t pitch) {
  CAPTURE(data.rows(), data.cols(), pitch, sizeof(Integer));
  const auto rows = data.rows();
  const auto device_data = upload(data);
  const device_array<Integer> device_ranks(static_cast<std::size_t>(rows * pitch));
  const device_array<std::int64_t> device_sums(static_cast<std::size_t>(rows));
  gpu::kernels::launch_centred_ranks<T, Integer>({device_data.data(), rows, data.cols()},
                                                 {device_ranks.data(), rows, pitch},
                                                 device_sums.data(), nullptr);
  gpu::matrix<Integer> ranks(rows, pitch);
  gpu::matrix<Integer> expected(rows, pitch);
  std::vector<std::int64_t> sums(static_cast<std::size_t>(rows));
  std::vector<std::int64_t> expected_sums(sums.size());
  device_ranks.copy_to(ranks.data());
  device_sums.copy_to(sums.data());
  gpu::cpu::centred_ranks<T, Integer>(data.view(), expected.view(), expected_sums.data(), 0);
  CHECK(std::equal(ranks.data(), ranks.data() + rows * pitch, expected.data()));
  CHECK((sums == expected_sums));
}

}  // namespace

TEMPLATE_TEST_CASE("Centred ranks equal the CPU's", "[rank][cuda]", std::int8_t, std::int16_t,
                   std::int32_t, std::uint8_t, std::uint16_t, float, double) {
  for (const gpu::index_t cols : {1,  2,  7,  8,  9,  15, 16, 24, 25, 30, 31,  32,  33, 47,
                                  48, 60, 64, 65, 79, 80, 81, 95, 96, 97, 100, 127, 128}) {
    const auto tied = gpu_test::tied_matrix<TestType>(515, cols, 41);
    const auto spread = gpu_test::random_matrix<TestType>(300, cols, 42);
    const gpu::index_t padded = (cols + 31) / 32 * 32;
    check_centred_ranks<std::int8_t>(tied, padded);
    check_centred_ranks<std::int8_t>(tied, cols + 3);
    check_centred_ranks<std::int8_t>(spread, padded);
    check_centred_ranks<std::int16_t>(tied, padded);
    check_centred_ranks<std::int32_t>(spread, cols);
  }
  for (const gpu::index_t cols : {129, 1000, 3000, 8193, 20'000}) {
    const auto tied = gpu_test::tied_matrix<TestType>(3, cols, 43);
    const auto spread = gpu_test::random_matrix<TestType>(3, cols, 44);
    check_centred_ranks<std::int16_t>(tied, cols + 7);
    check_centred_ranks<std::int32_t>(spread, cols);
  }
}

// Enough rows to keep a device busy that puts their ranks in order in shared memory: in one block's
// and in those of several.
TEST_CASE("Centred ranks of many long rows equal the CPU's", "[rank][cuda]") {
  for (const gpu::index_t cols : {8193, 70'000}) {
    check_centred_ranks<std::int32_t>(gpu_test::random_matrix<float>(150, cols, 52), cols + 29);
    check_centred_ranks<std::int32_t>(gpu_test::tied_matrix<int>(150, cols, 53), cols);
  }
}

TEST_CASE("Centred ranks of values around a large one are counted all the same", "[rank][cuda]") {
  auto data = gpu_test::tied_matrix<int>(600, 30, 45, 0.5, 1000);
  for (gpu::index_t i = 0; i < 600; ++i) {
    for (gpu::index_t j = 0; j < 30; ++j)
      data(i, j) += 1'000'000 - 16'000 * static_cast<int>(i % 3);
  }
  check_centred_ranks<std::int8_t>(data, 32);
  for (const int edge : {16'382, 16'383, -16'382, -16'383, 1 << 30, -(1 << 30) - 1}) {
    data(100, 7) = data(100, 0) + edge;
    check_centred_ranks<std::int8_t>(data, 32);
  }
}

TEST_CASE("The device overload ranks strided views in place of the stream's order",
          "[rank][cuda]") {
  const auto data = gpu_test::tied_matrix<float>(300, 60, 46);
  const auto device_data = upload(data);
  const gpu_test::test_stream stream;
  for (const gpu::index_t cols : {30, 50}) {
    const device_array<double> device_ranks(300 * 64);
    for (const auto variant :
         gpu_test::rank_variants_for(gpu::backend::cuda, cols, sizeof(float))) {
      const gpu::device_matrix_view<const float> in(device_data.data() + 4, 300, cols, 60);
      const gpu::device_matrix_view<double> out(device_ranks.data(), 300, cols, 64);
      gpu::rank_rows(in, out, {.variant = variant, .exec = {.stream = stream.get()}});
      stream.synchronize();
      gpu::matrix<double> all(300, 64);
      device_ranks.copy_to(all.data());
      const auto expected = gpu_test::reference_ranks(
          gpu::matrix_view<const float>(data.data() + 4, 300, cols, 60), gpu::tie_method::average);
      bool same = true;
      for (gpu::index_t i = 0; i < 300; ++i) {
        for (gpu::index_t j = 0; j < cols; ++j) same = same && all(i, j) == expected(i, j);
      }
      CHECK(same);
    }
  }
}

TEST_CASE("The caller's workspace is used and checked", "[rank][cuda][plan]") {
  constexpr gpu::index_t rows = 40;
  for (const gpu::index_t cols : {100, 9000, 200'000}) {
    const auto data = gpu_test::tied_matrix<float>(rows, cols, 49);
    const auto device_data = upload(data);
    const device_array<double> device_ranks(static_cast<std::size_t>(rows * cols));
    // 0: the library's own limit; the other one takes some rows at a time.
    const std::size_t some_rows = static_cast<std::size_t>(cols) * 16 * 10;
    for (const std::size_t limit : {std::size_t{0}, some_rows + (std::size_t{1} << 16)}) {
      for (const auto ties : {gpu::tie_method::average, gpu::tie_method::dense}) {
        gpu::rank_options options{.ties = ties,
                                  .variant = gpu::rank_variant::segmented_sort,
                                  .exec = {.workspace_bytes = limit}};
        CAPTURE(cols, limit, static_cast<int>(ties));
        const gpu::rank_plan plan = gpu::plan_rank_rows<float>(rows, cols, options);
        CHECK(plan.variant == gpu::rank_variant::segmented_sort);
        REQUIRE(plan.workspace_bytes > 0);
        if (limit != 0) CHECK(plan.workspace_bytes <= limit);
        const device_array<std::byte> workspace(plan.workspace_bytes + 256);
        const auto rank = [&](std::byte* memory, std::size_t bytes) {
          options.workspace = {memory, static_cast<gpu::index_t>(bytes)};
          gpu::rank_rows(gpu::device_matrix_view<const float>(device_data.data(), rows, cols),
                         gpu::device_matrix_view<double>(device_ranks.data(), rows, cols), options);
        };
        rank(workspace.data(), plan.workspace_bytes);
        gpu::matrix<double> ranks(rows, cols);
        device_ranks.copy_to(ranks.data());
        CHECK(gpu_test::same_ranks(
            ranks,
            gpu::rank_rows(data.view(), {.ties = ties, .exec = {.target = gpu::backend::cpu}})));
        CHECK_THROWS_AS(rank(workspace.data(), plan.workspace_bytes - 1), gpu::invalid_argument);
        CHECK_THROWS_AS(rank(workspace.data() + 8, plan.workspace_bytes), gpu::invalid_argument);
      }
    }
  }
  // The other variants take none.
  CHECK(gpu::plan_rank_rows<float>(rows, 30).workspace_bytes == 0);
  CHECK(gpu::plan_rank_rows<float>(rows, 8000).workspace_bytes == 0);
}

TEST_CASE("The device overload refuses ranks of another shape, and the CPU", "[rank][cuda]") {
  const device_array<float> data(100);
  const device_array<double> ranks(100);
  const gpu::device_matrix_view<const float> in(data.data(), 10, 10);
  CHECK_THROWS_AS(gpu::rank_rows(in, gpu::device_matrix_view<double>(ranks.data(), 10, 9)),
                  gpu::invalid_argument);
  CHECK_THROWS_AS(gpu::rank_rows(in, gpu::device_matrix_view<double>(ranks.data(), 10, 10),
                                 {.exec = {.target = gpu::backend::cpu}}),
                  gpu::invalid_argument);
}

TEST_CASE("Ten million columns", "[rank][cuda][large]") {
  constexpr gpu::index_t cols = 10'000'000;
  const auto data = gpu_test::random_matrix<std::int16_t>(1, cols, 48);
  const auto on_gpu = gpu::rank_rows(data.view(), {.exec = {.target = gpu::backend::cuda}});
  const auto on_cpu = gpu::rank_rows(data.view(), {.exec = {.target = gpu::backend::cpu}});
  CHECK(gpu_test::same_ranks(on_gpu, on_cpu));
}
