#include "cpu/centred_ranks.hpp"

#include <algorithm>

#include "cpu/rank_blocks.hpp"
#include "plan/rank_variants.hpp"

namespace gpu::cpu {

template <class T, class Integer>
void centred_ranks(matrix_view<const T> data, matrix_view<Integer> ranks, std::int64_t* square_sums,
                   int threads) {
  const index_t cols = data.cols();
  const rank_variant variant =
      detail::choose_rank_variant(rank_variant::automatic, backend::cpu, cols, sizeof(T));
  const auto store = [&](index_t row, index_t col, auto count) {
    ranks.row(row)[col] = static_cast<Integer>(count);
  };
  const auto finish = [&](index_t first, index_t last) {
    for (index_t row = first; row < last; ++row) {
      const Integer* u = ranks.row(row);
      std::int64_t sum = 0;
      for (index_t col = 0; col < cols; ++col) sum += std::int64_t{u[col]} * u[col];
      square_sums[row] = sum;
      std::fill(ranks.row(row) + cols, ranks.row(row) + ranks.cols(), Integer{0});
    }
  };
  rank_blocks(data, tie_method::average, rank_order::ascending, variant, threads, store, finish);
}

#define GPU_SIMILARITY_INSTANTIATE(T)                                                           \
  template void centred_ranks<T, std::int8_t>(matrix_view<const T>, matrix_view<std::int8_t>,   \
                                              std::int64_t*, int);                              \
  template void centred_ranks<T, std::int16_t>(matrix_view<const T>, matrix_view<std::int16_t>, \
                                               std::int64_t*, int);                             \
  template void centred_ranks<T, std::int32_t>(matrix_view<const T>, matrix_view<std::int32_t>, \
                                               std::int64_t*, int);

GPU_SIMILARITY_INSTANTIATE(std::int8_t)
GPU_SIMILARITY_INSTANTIATE(std::int16_t)
GPU_SIMILARITY_INSTANTIATE(std::int32_t)
GPU_SIMILARITY_INSTANTIATE(std::uint8_t)
GPU_SIMILARITY_INSTANTIATE(std::uint16_t)
GPU_SIMILARITY_INSTANTIATE(float)
GPU_SIMILARITY_INSTANTIATE(double)

}  // namespace gpu::cpu
