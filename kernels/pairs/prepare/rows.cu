// Preparation around the ranks: NaN rows, norms and limbs.

#include <type_traits>

#include "base/element_types.hpp"
#include "kernels/common/launch.cuh"
#include "kernels/pairs/prepare/kernels.hpp"
#include "kernels/pairs/prepare/row_norms.cuh"
#include "plan/pair_policy.hpp"

namespace gpu::kernels {
namespace {

constexpr int threads = 256;

// `workers` threads a row: a warp, or a block of long rows. A warp that finds one says so.
template <class T, int workers>
__global__ void flag_nan_rows(device_matrix_view<const T> data, std::int64_t* square_sums) {
  const index_t row = (index_t{blockIdx.x} * threads + threadIdx.x) / workers;
  if (row >= data.rows()) return;
  const T* const values = data.row(row);
  bool found = false;
#pragma unroll 4
  for (index_t k = threadIdx.x % workers; k < data.cols(); k += workers) {
    const T value = values[k];
    found |= value != value;
  }
  if (__any_sync(0xffffffffu, found) && threadIdx.x % 32 == 0) square_sums[row] = -1;
}

__global__ void row_norms(const __grid_constant__ norm_request of, unsigned long long* invalid) {
  const index_t row = index_t{blockIdx.x} * threads + threadIdx.x;
  fill_zeros(of, row, index_t{gridDim.x} * threads);
  const bool bad = row < of.rows && fill_norm(of, row);
  if (invalid == nullptr) return;
  const int in_block = __syncthreads_count(bad);
  if (threadIdx.x == 0 && in_block > 0) {
    atomicAdd(invalid, static_cast<unsigned long long>(in_block));
  }
}

template <class Integer>
__global__ void split_limbs(device_matrix_view<const Integer> ranks, index_t cols, int limbs,
                            index_t columns, std::int8_t* out) {
  const index_t step = index_t{gridDim.x} * threads;
  for (index_t at = index_t{blockIdx.x} * threads + threadIdx.x; at < ranks.rows() * columns;
       at += step) {
    const index_t row = at / columns;
    const index_t k = at % columns;
    std::int8_t* limb = out + row * limbs * columns + k;
    int rest = k < cols ? ranks.row(row)[k] : 0;
    for (int l = 0; l < limbs; ++l, limb += columns) {
      // The low 7 bits as a number in [-64, 63], the last limb what is left.
      const int low = l == limbs - 1 ? rest : ((rest + 64) & 127) - 64;
      *limb = static_cast<std::int8_t>(low);
      rest = (rest - low) >> policy::limb_bits;
    }
  }
}

}  // namespace

template <class T>
void launch_flag_nan_rows(device_matrix_view<const T> data, std::int64_t* square_sums,
                          cudaStream_t stream) {
  if constexpr (std::is_floating_point_v<T>) {
    if (data.rows() == 0) return;
    constexpr index_t long_row = 2048;
    if (data.cols() >= long_row) {
      flag_nan_rows<T, threads>
          <<<grid_blocks(data.rows(), 1), threads, 0, stream>>>(data, square_sums);
    } else {
      flag_nan_rows<T, 32>
          <<<grid_blocks(data.rows(), threads / 32), threads, 0, stream>>>(data, square_sums);
    }
    GPU_SIMILARITY_CHECK_LAUNCH();
  }
}

void launch_row_norms(const norm_request& norms, unsigned long long* invalid, cudaStream_t stream) {
  if (norms.rows == 0 && norms.zeros.count == 0) return;
  row_norms<<<grid_blocks(norms.rows, threads), threads, 0, stream>>>(norms, invalid);
  GPU_SIMILARITY_CHECK_LAUNCH();
}

template <class Integer>
void launch_split_limbs(device_matrix_view<const Integer> ranks, index_t cols, int limbs,
                        index_t columns, std::int8_t* out, cudaStream_t stream) {
  if (ranks.rows() == 0) return;
  split_limbs<Integer>
      <<<grid_blocks(ranks.rows() * columns, threads, 1 << 20), threads, 0, stream>>>(
          ranks, cols, limbs, columns, out);
  GPU_SIMILARITY_CHECK_LAUNCH();
}

template void launch_split_limbs<std::int16_t>(device_matrix_view<const std::int16_t>, index_t, int,
                                               index_t, std::int8_t*, cudaStream_t);
template void launch_split_limbs<std::int32_t>(device_matrix_view<const std::int32_t>, index_t, int,
                                               index_t, std::int8_t*, cudaStream_t);

#define GPU_SIMILARITY_INSTANTIATE(T) \
  template void launch_flag_nan_rows<T>(device_matrix_view<const T>, std::int64_t*, cudaStream_t);

GPU_SIMILARITY_FOR_EACH_ELEMENT_TYPE(GPU_SIMILARITY_INSTANTIATE)

}  // namespace gpu::kernels
