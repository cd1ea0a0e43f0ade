#include "cpu/rank/centred_ranks.hpp"

#include <algorithm>

#include "base/element_types.hpp"
#include "cpu/rank/blocks.hpp"
#include "plan/rank_variants.hpp"

namespace gpu::cpu {
namespace {

// |u| < cols, so that the sum of so many squares fits 32 bits: vectors of twice the lanes.
constexpr index_t most_in_32_bits = 1024;

template <class Sum, class Integer>
std::int64_t square_sum(const Integer* u, index_t cols) {
  Sum sum = 0;
  for (index_t col = 0; col < cols; ++col)
    sum += static_cast<Sum>(u[col]) * static_cast<Sum>(u[col]);
  return sum;
}

}  // namespace

template <class T, class Integer>
void centred_ranks(matrix_view<const T> data, matrix_view<Integer> ranks, std::int64_t* square_sums,
                   int threads) {
  const index_t cols = data.cols();
  const index_t padded = ranks.cols();
  const rank_variant variant =
      detail::choose_rank_variant(rank_variant::automatic, backend::cpu, cols, sizeof(T));
  const auto store = [ranks](index_t row) {
    return
        [out = ranks.row(row)](index_t col, auto count) { out[col] = static_cast<Integer>(count); };
  };
  const auto finish = [&](index_t first, index_t last) {
    for (index_t row = first; row < last; ++row) {
      std::fill(ranks.row(row) + cols, ranks.row(row) + padded, Integer{0});
      // With the zeros of the padding: a multiple of the vector length leaves no tail.
      square_sums[row] = cols <= most_in_32_bits ? square_sum<std::int32_t>(ranks.row(row), padded)
                                                 : square_sum<std::int64_t>(ranks.row(row), padded);
    }
  };
  rank_blocks(data, tie_method::average, rank_order::ascending, variant, threads,
              padded * static_cast<index_t>(sizeof(Integer)), store, finish);
}

std::size_t centred_ranks_bytes(index_t cols) {
  using widest = double;
  return row_ranker<widest>::scratch_bytes(
      cols,
      detail::choose_rank_variant(rank_variant::automatic, backend::cpu, cols, sizeof(widest)));
}

#define GPU_SIMILARITY_INSTANTIATE(T)                                                           \
  template void centred_ranks<T, std::int8_t>(matrix_view<const T>, matrix_view<std::int8_t>,   \
                                              std::int64_t*, int);                              \
  template void centred_ranks<T, std::int16_t>(matrix_view<const T>, matrix_view<std::int16_t>, \
                                               std::int64_t*, int);                             \
  template void centred_ranks<T, std::int32_t>(matrix_view<const T>, matrix_view<std::int32_t>, \
                                               std::int64_t*, int);

GPU_SIMILARITY_FOR_EACH_ELEMENT_TYPE(GPU_SIMILARITY_INSTANTIATE)
#undef GPU_SIMILARITY_INSTANTIATE

}  // namespace gpu::cpu
