// Host data on CUDA under execution::workspace_bytes: every operation keeps the limit, down to what
// one row takes, gives the answer that it gives without one, and refuses less.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include <gpu/similarity.hpp>

#include "support/catch.hpp"
#include "support/device_memory.hpp"
#include "support/device_offers.hpp"
#include "support/generators.hpp"

namespace {

using gpu::index_t;

/// The bytes of a result.
using answer = std::vector<std::byte>;

template <class T>
void append(answer& to, const T* values, index_t count) {
  const auto* bytes = reinterpret_cast<const std::byte*>(values);
  to.insert(to.end(), bytes, bytes + static_cast<std::size_t>(count) * sizeof(T));
}
template <class T>
void append(answer& to, const gpu::matrix<T>& values) {
  append(to, values.data(), values.rows() * values.cols());
}

/// The most bytes of the device's pool that were in use at a time since the last call.
std::size_t peak_of_pool() {
  cudaMemPool_t pool = nullptr;
  GPU_TEST_CUDA(cudaDeviceGetMemPool(&pool, 0));
  std::uint64_t peak = 0;
  GPU_TEST_CUDA(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &peak));
  std::uint64_t zero = 0;
  GPU_TEST_CUDA(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &zero));
  return peak;
}

/// `run(exec)` for limits from what one row takes to all of it. `same` compares with the answer
/// without a limit.
template <class Run, class Same>
void check_limits(const Run& run, const Same& same) {
  gpu::execution exec{.target = gpu::backend::cuda, .devices = {0}};
  const auto whole = run(exec);
  GPU_TEST_CUDA(cudaDeviceSynchronize());
  exec.workspace_bytes = 1;
  std::size_t least = 0;
  try {
    static_cast<void>(run(exec));
  } catch (const gpu::out_of_memory& error) {
    least = error.requested_bytes();
    CHECK(std::string(error.what()).find("workspace_bytes: got 1,") != std::string::npos);
  }
  REQUIRE(least > 1);
  exec.workspace_bytes = least - 1;
  CHECK_THROWS_AS(run(exec), gpu::out_of_memory);
  GPU_TEST_CUDA(cudaDeviceSynchronize());
  static_cast<void>(peak_of_pool());
  // The pool rounds each of a call's few allocations up.
  constexpr std::size_t rounding = 6 * 512;
  for (const std::size_t limit : {least, least + 1, least * 2 - 1, least * 2, least * 3, least * 7,
                                  least * 40, least * 700}) {
    CAPTURE(least, limit);
    exec.workspace_bytes = limit;
    CHECK(same(run(exec), whole));
    GPU_TEST_CUDA(cudaDeviceSynchronize());
    CHECK(peak_of_pool() <= limit + rounding);
  }
}

template <class Run>
void check_limits(const Run& run) {
  check_limits(run, [](const answer& got, const answer& expected) { return got == expected; });
}

}  // namespace

TEST_CASE("rank_rows keeps its limit", "[limits][cuda]") {
  const auto data = gpu_test::tied_matrix<std::int32_t>(301, 150, 3);
  for (const auto variant : {gpu::rank_variant::automatic, gpu::rank_variant::block_sort,
                             gpu::rank_variant::segmented_sort}) {
    CAPTURE(gpu::to_string(variant));
    check_limits([&](const gpu::execution& exec) {
      answer out;
      append(out, gpu::rank_rows(data, {.variant = variant, .exec = exec}));
      return out;
    });
  }
  const auto narrow = gpu_test::tied_matrix<std::int16_t>(3001, 30, 3);
  check_limits([&](const gpu::execution& exec) {
    answer out;
    append(out, gpu::rank_rows(narrow, {.exec = exec}));
    return out;
  });
}

TEST_CASE("top_k keeps its limit", "[limits][cuda]") {
  const auto data = gpu_test::tied_matrix<float>(203, 900, 4, 0.5, 3000);
  for (const auto variant : {gpu::top_k_variant::threshold, gpu::top_k_variant::radix_select,
                             gpu::top_k_variant::two_pass_insert, gpu::top_k_variant::block_rows,
                             gpu::top_k_variant::warp_rows}) {
    CAPTURE(gpu::to_string(variant));
    check_limits([&](const gpu::execution& exec) {
      const auto best = gpu::top_k(data, 17, {.variant = variant, .exec = exec});
      answer out;
      append(out, best.values);
      append(out, best.indices);
      return out;
    });
  }
}

TEST_CASE("top_k_distinct keeps its limit", "[limits][cuda]") {
  const auto data = gpu_test::tied_matrix<std::int16_t>(203, 900, 4, 0.5, 3000);
  for (const auto variant : {gpu::top_k_variant::threshold, gpu::top_k_variant::sort}) {
    CAPTURE(gpu::to_string(variant));
    check_limits([&](const gpu::execution& exec) {
      const auto best = gpu::top_k_distinct(data, 17, {.variant = variant, .exec = exec});
      answer out;
      append(out, best.values);
      append(out, best.indices);
      append(out, best.counts);
      append(out, best.found.data(), static_cast<index_t>(best.found.size()));
      return out;
    });
  }
}

TEST_CASE("mean_filter keeps its limit", "[limits][cuda]") {
  const auto data = gpu_test::random_matrix<float>(57, 9000, 5);
  struct filter {
    index_t window;
    gpu::mean_filter_variant variant;
  };
  for (const filter& with : {filter{5, gpu::mean_filter_variant::direct},
                             {101, gpu::mean_filter_variant::block_sums},
                             {5000, gpu::mean_filter_variant::multi_level},
                             {17'000, gpu::mean_filter_variant::automatic}}) {
    CAPTURE(with.window);
    check_limits([&](const gpu::execution& exec) {
      answer out;
      append(out, gpu::mean_filter(data,
                                   {.window = with.window, .variant = with.variant, .exec = exec}));
      return out;
    });
  }
}

TEST_CASE("convolve keeps its limit", "[limits][cuda]") {
  const auto data = gpu_test::random_matrix<double>(91, 1000, 6);
  const std::vector<double> weights(200, 0.25);
  for (const auto variant :
       {gpu::mean_filter_variant::direct, gpu::mean_filter_variant::shared_memory}) {
    CAPTURE(gpu::to_string(variant));
    check_limits([&](const gpu::execution& exec) {
      answer out;
      append(out, gpu::convolve(data, weights, {.variant = variant, .exec = exec}));
      return out;
    });
  }
}

TEST_CASE("matmul keeps its limit", "[limits][cuda]") {
  // Panels of other heights are multiplied by other tiles: the sums round differently.
  const auto close = [](const gpu::matrix<float>& got, const gpu::matrix<float>& expected) {
    for (index_t i = 0; i < got.rows(); ++i) {
      for (index_t j = 0; j < got.cols(); ++j) {
        if (!(std::abs(got(i, j) - expected(i, j)) < 1e-3f)) return false;
      }
    }
    return true;
  };
  const auto a = gpu_test::random_matrix<float>(301, 77, 7);
  const auto b = gpu_test::random_matrix<float>(77, 90, 8);
  for (const auto variant : {gpu::matmul_variant::automatic, gpu::matmul_variant::naive,
                             gpu::matmul_variant::shared_tiled, gpu::matmul_variant::pitched,
                             gpu::matmul_variant::register_tiled, gpu::matmul_variant::tensor}) {
    if (!gpu_test::applies(variant)) continue;
    CAPTURE(gpu::to_string(variant));
    check_limits(
        [&](const gpu::execution& exec) {
          return gpu::matmul(a, b, {.variant = variant, .exec = exec});
        },
        close);
    check_limits(
        [&](const gpu::execution& exec) {
          gpu::matrix<float> c(301, 90);
          std::fill_n(c.data(), 301 * 90, 1.5f);
          gpu::matmul(a.view(), b.view(), c.view(),
                      {.alpha = 2, .beta = -1, .variant = variant, .exec = exec});
          return c;
        },
        close);
  }
}

TEST_CASE("pack_bits and binary_matmul keep their limit", "[limits][cuda]") {
  const auto x = gpu_test::random_matrix<float>(501, 300, 9);
  const auto y = gpu_test::random_matrix<float>(70, 300, 10);
  check_limits([&](const gpu::execution& exec) {
    const gpu::bit_matrix bits = gpu::pack_bits(x, 0.0f, exec);
    answer out;
    for (index_t i = 0; i < bits.rows(); ++i) {
      append(out, bits.view().row(i), gpu::bit_words(bits.cols()));
    }
    return out;
  });
  const gpu::bit_matrix a = gpu::pack_bits(x);
  const gpu::bit_matrix b = gpu::pack_bits(y);
  for (const auto variant :
       {gpu::binary_matmul_variant::automatic, gpu::binary_matmul_variant::popcount,
        gpu::binary_matmul_variant::popcount_shared, gpu::binary_matmul_variant::popcount_tiled}) {
    CAPTURE(gpu::to_string(variant));
    check_limits([&](const gpu::execution& exec) {
      answer out;
      append(out, gpu::binary_matmul(a.view(), b.view(), {.variant = variant, .exec = exec}));
      return out;
    });
  }
}
