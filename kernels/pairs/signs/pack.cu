// Packs rows of signs.

#include <algorithm>

#include "base/element_types.hpp"
#include "kernels/common/launch.cuh"
#include "kernels/common/warp.cuh"
#include "kernels/pairs/signs/kernels.hpp"

namespace gpu::kernels {
namespace {

constexpr int most_warps = 4;
constexpr std::size_t most_shared = std::size_t{40} << 10;
constexpr int gather_threads = 256;

// A warp a row, whose values it keeps in shared memory.
template <class T>
__global__ void pack_signs(device_matrix_view<const T> data, std::byte* out,
                           std::int64_t* square_sums) {
  extern __shared__ __align__(16) unsigned char memory[];
  const int warp = static_cast<int>(threadIdx.x / 32);
  const int lane = static_cast<int>(threadIdx.x % 32);
  const index_t row = index_t{blockIdx.x} * (blockDim.x / 32) + warp;
  if (row >= data.rows()) return;
  const auto cols = static_cast<int>(data.cols());
  T* const values = reinterpret_cast<T*>(memory) + index_t{warp} * cols;
  bool has_nan = false;
  for (int k = lane; k < cols; k += 32) {
    const T value = data.row(row)[k];
    values[k] = value;
    has_nan |= value != value;
  }
  has_nan = __any_sync(all_lanes, has_nan);
  __syncwarp();

  const sign_row_layout layout{cols};
  std::byte* const to = out + row * layout.pitch() * 8;
  auto* sign = reinterpret_cast<std::int8_t*>(to);
  row_ties ties;
  for (int i = 0; i < cols; ++i) {
    const T own = values[i];
    int equal = 0;
    for (int j = lane; j < cols; j += 32) {
      const T other = values[j];
      equal += other == own ? 1 : 0;
      if (j <= i) continue;
      const int difference = (other > own ? 1 : 0) - (other < own ? 1 : 0);
      sign[j - i - 1] = static_cast<std::int8_t>(has_nan ? 0 : difference);
    }
    sign += cols - 1 - i;
    // Of a group of t columns each one adds (t - 1) / 2 pairs and (t - 1) (t - 2) triples.
    const std::int64_t group = warp_sum(equal);
    ties.pairs += group - 1;
    ties.triples += (group - 1) * (group - 2);
  }
  ties.pairs /= 2;
  for (index_t k = layout.pairs() + lane; k < layout.sign_bytes(); k += 32) {
    reinterpret_cast<std::int8_t*>(to)[k] = 0;
  }
  if (lane != 0) return;
  *reinterpret_cast<row_ties*>(to + layout.sign_bytes()) = has_nan ? row_ties{} : ties;
  square_sums[row] = has_nan ? -1 : (ties.pairs < layout.pairs() ? 1 : 0);
}

__global__ void gather_ties(const std::byte* rows, index_t count, sign_row_layout layout,
                            row_ties* out) {
  const index_t row = index_t{blockIdx.x} * gather_threads + threadIdx.x;
  if (row >= count) return;
  const std::byte* const from = rows + row * layout.pitch() * 8 + layout.sign_bytes();
  out[row] = *reinterpret_cast<const row_ties*>(from);
}

}  // namespace

template <class T>
void launch_pack_signs(device_matrix_view<const T> data, std::byte* out, std::int64_t* square_sums,
                       cudaStream_t stream) {
  if (data.rows() == 0) return;
  const std::size_t of_row = static_cast<std::size_t>(data.cols()) * sizeof(T);
  const auto warps =
      static_cast<int>(std::clamp<std::size_t>(most_shared / of_row, 1, std::size_t{most_warps}));
  pack_signs<T><<<grid_blocks(data.rows(), warps), static_cast<unsigned>(32 * warps),
                  static_cast<std::size_t>(warps) * of_row, stream>>>(data, out, square_sums);
  GPU_SIMILARITY_CHECK_LAUNCH();
}

void launch_gather_ties(const std::byte* rows, index_t count, index_t cols, row_ties* out,
                        cudaStream_t stream) {
  if (count == 0) return;
  gather_ties<<<grid_blocks(count, gather_threads), gather_threads, 0, stream>>>(
      rows, count, sign_row_layout{cols}, out);
  GPU_SIMILARITY_CHECK_LAUNCH();
}

#define GPU_SIMILARITY_INSTANTIATE(T)                                                        \
  template void launch_pack_signs<T>(device_matrix_view<const T>, std::byte*, std::int64_t*, \
                                     cudaStream_t);
GPU_SIMILARITY_FOR_EACH_ELEMENT_TYPE(GPU_SIMILARITY_INSTANTIATE)

}  // namespace gpu::kernels
