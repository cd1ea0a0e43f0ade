// The choice of variant and the memory it plans with, asked without a GPU.
#include "plan/top_k_variants.hpp"

#include <algorithm>

#include <gpu/error.hpp>

#include "plan/top_k_policy.hpp"
#include "support/catch.hpp"

namespace {

using gpu::backend;
using gpu::index_t;
using gpu::top_k_variant;
using gpu::detail::choose_top_k_variant;
using gpu::detail::top_k_composite_bytes;
using gpu::detail::top_k_shape;

// Of a block, on compute capability 7.5, 8.6 and 9.0.
constexpr std::size_t every_shared_bytes[] = {65536, 101376, 232448};
constexpr std::size_t turing = every_shared_bytes[0];
constexpr std::size_t hopper = every_shared_bytes[2];

top_k_variant on_cuda(const top_k_shape& shape, top_k_variant asked = top_k_variant::automatic) {
  return choose_top_k_variant(shape, backend::cuda, asked);
}

}  // namespace

TEST_CASE("Composites are as wide as keys and positions need", "[top_k][plan]") {
  CHECK(top_k_composite_bytes(1, index_t{1} << 40) == 8);
  CHECK(top_k_composite_bytes(4, 1000) == 8);
  CHECK(top_k_composite_bytes(4, index_t{1} << 32) == 16);
  CHECK(top_k_composite_bytes(8, 1000) == 16);
}

TEST_CASE("What a variant of top_k plans with fits the shared memory of a block", "[top_k][plan]") {
  namespace select = gpu::kernels::select;
  for (const std::size_t shared : every_shared_bytes) {
    for (const std::size_t element : {std::size_t{4}, std::size_t{8}}) {
      const std::size_t composite = top_k_composite_bytes(element, 1000000);
      const top_k_shape shape{.cols = 1000000, .element_bytes = element, .shared_bytes = shared};
      const index_t most = gpu::detail::top_k_threshold_most_k_of(shape);
      for (const index_t k : {index_t{1}, index_t{64}, index_t{1000}, most}) {
        const index_t limit = select::finish_limit(k, composite, shared);
        CHECK(limit >= k);
        CHECK(static_cast<std::size_t>(limit) * composite + 20 * 1024 <= shared);
      }
      for (const index_t k : {1, 128, 1025, 2048}) {
        const index_t limit = select::block_rows_limit(k, composite, shared);
        CHECK(limit >= k);
        CHECK((limit & (limit - 1)) == 0);
        CHECK(static_cast<std::size_t>(limit) * composite + 26 * 1024 <= shared);
      }
      for (const index_t cols : {20000, 100000000}) {
        const auto plan = select::plan_distinct_sample(cols, 64, composite, shared);
        CHECK(static_cast<std::size_t>(plan.kept) * composite + 23 * 1024 <= shared);
        CHECK(plan.kept >= 64);
      }
    }
  }
}

TEST_CASE("Large k of wide elements takes radix_select where shared memory is short",
          "[top_k][plan]") {
  const auto doubles = [](index_t k, std::size_t shared) {
    return top_k_shape{.cols = 10000000, .k = k, .element_bytes = 8, .shared_bytes = shared};
  };
  CHECK(on_cuda(doubles(4096, hopper)) == top_k_variant::threshold);
  CHECK(on_cuda(doubles(4096, turing)) == top_k_variant::radix_select);
  CHECK(on_cuda(doubles(2048, turing)) == top_k_variant::threshold);
  CHECK_THROWS_AS(on_cuda(doubles(4096, turing), top_k_variant::threshold), gpu::unsupported);
  CHECK(on_cuda({.cols = 10000000, .k = 4096, .shared_bytes = turing}) == top_k_variant::threshold);
  // So it does where a block would rank many for each row, or where the sample has too few.
  const auto rows = [](index_t k, std::size_t element) {
    return top_k_shape{
        .rows = 1000, .cols = 100000, .k = k, .element_bytes = element, .shared_bytes = hopper};
  };
  CHECK(on_cuda(rows(512, 4)) == top_k_variant::threshold);
  CHECK(on_cuda(rows(2048, 4)) == top_k_variant::block_rows);
  CHECK(on_cuda(rows(2048, 8)) == top_k_variant::radix_select);
  CHECK(on_cuda(rows(20000, 4)) == top_k_variant::radix_select);
  CHECK(on_cuda({.cols = 100000, .k = 2048, .element_bytes = 8, .shared_bytes = hopper}) ==
        top_k_variant::radix_select);
}

TEST_CASE("Distinct values of any k have a variant", "[top_k][plan]") {
  for (const std::size_t shared : every_shared_bytes) {
    for (const index_t cols : {1000000, 10000000}) {
      const index_t most = cols == 1000000 ? 32 : 128;
      for (const index_t k : {index_t{1}, most, most + 1, cols}) {
        const top_k_shape shape{
            .cols = cols, .k = k, .distinct = true, .element_bytes = 8, .shared_bytes = shared};
        CHECK(on_cuda(shape) == (k <= most ? top_k_variant::threshold : top_k_variant::sort));
      }
    }
  }
}
