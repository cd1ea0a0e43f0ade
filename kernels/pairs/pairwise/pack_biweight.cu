// Packs rows with missing values for the biweight midcorrelation: a block has a row, and finds the
// place of each value by counting those before it. That takes less than the pairs of the row do.

#include <math_constants.h>

#include "base/element_types.hpp"
#include "base/ordered_key.hpp"
#include "kernels/common/launch.cuh"
#include "kernels/common/warp.cuh"
#include "kernels/pairs/pairwise/kernels.hpp"

namespace gpu::kernels {
namespace {

constexpr int threads = 128;
constexpr int warps = threads / 32;
constexpr double largest_double = 1.7976931348623157e308;

template <class T>
__global__ void __launch_bounds__(threads)
    pack_biweight(device_matrix_view<const T> data, index_t min_observations, std::uint64_t* out,
                  std::int64_t* square_sums) {
  extern __shared__ std::uint64_t keys[];
  const index_t row = blockIdx.x;
  const T* const from = data.row(row);
  const int cols = static_cast<int>(data.cols());
  const pairwise_biweight_layout layout{cols};
  std::uint64_t* const bits = out + row * layout.pitch();
  auto* const words = reinterpret_cast<std::uint32_t*>(bits);
  auto* const values = reinterpret_cast<double*>(bits + layout.values());
  auto* const sorted = reinterpret_cast<double*>(bits + layout.sorted());
  auto* const order = reinterpret_cast<std::uint16_t*>(bits + layout.order());
  const int word_count = 2 * static_cast<int>(mask_words(cols));

  bool is_finite = true;
  for (int w = static_cast<int>(threadIdx.x / 32); w < word_count; w += warps) {
    const int k = 32 * w + static_cast<int>(threadIdx.x % 32);
    const double value = k < cols ? static_cast<double>(from[k]) : CUDART_NAN;
    const bool is_there = value == value;
    if (k < cols) {
      values[k] = value;
      keys[k] = detail::ordered_key(value);
    }
    is_finite = is_finite && (!is_there || fabs(value) <= largest_double);
    const unsigned there = __ballot_sync(all_lanes, is_there);
    if (threadIdx.x % 32 == 0) words[w] = there;
  }
  is_finite = __syncthreads_and(is_finite) != 0;  // keys and words are there
  bool varies = false;
  bool are_enough = false;
  for (int k = static_cast<int>(threadIdx.x); k < cols; k += threads) {
    const std::uint64_t own = keys[k];
    int less = 0;
    int equal_before = 0;
    for (int other = 0; other < cols; ++other) {
      less += keys[other] < own;
      equal_before += keys[other] == own && other < k;
    }
    // Those that are missing stand behind all others.
    const bool is_there = own != detail::nan_key<double>;
    const int place = less + equal_before;
    sorted[place] = is_there ? static_cast<double>(from[k]) : CUDART_NAN;
    order[place] = is_there ? static_cast<std::uint16_t>(k) : no_column;
    varies = varies || (is_there && less > 0);
    are_enough = are_enough || (is_there && place + 1 >= min_observations);
  }
  for (int p = cols + static_cast<int>(threadIdx.x); p < static_cast<int>(column_places(cols));
       p += threads) {
    order[p] = no_column;
  }
  varies = __syncthreads_or(varies) != 0;
  are_enough = __syncthreads_or(are_enough) != 0;
  const bool has = is_finite && varies && are_enough;
  if (threadIdx.x == 0) square_sums[row] = has ? 1 : 0;
  if (has) return;
  for (int w = static_cast<int>(threadIdx.x); w < word_count; w += threads) words[w] = 0;
}

}  // namespace

template <class T>
void launch_pack_pairwise_biweight(device_matrix_view<const T> data, index_t min_observations,
                                   std::uint64_t* out, std::int64_t* square_sums,
                                   cudaStream_t stream) {
  if (data.rows() == 0) return;
  // An even number: the compiler loads two keys at a time, also behind the last of an odd number.
  const std::size_t bytes =
      static_cast<std::size_t>(round_up(data.cols(), index_t{2})) * sizeof(std::uint64_t);
  pack_biweight<T><<<static_cast<unsigned>(data.rows()), threads, bytes, stream>>>(
      data, min_observations, out, square_sums);
  GPU_SIMILARITY_CHECK_LAUNCH();
}

#define GPU_SIMILARITY_INSTANTIATE(T)                                                  \
  template void launch_pack_pairwise_biweight<T>(device_matrix_view<const T>, index_t, \
                                                 std::uint64_t*, std::int64_t*, cudaStream_t);

GPU_SIMILARITY_FOR_EACH_ELEMENT_TYPE(GPU_SIMILARITY_INSTANTIATE)

}  // namespace gpu::kernels
