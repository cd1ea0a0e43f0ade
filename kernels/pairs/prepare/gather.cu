// Rows of a table of any layout and element type, or some of its columns, element by element; and
// integers that no double holds.

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdlib>
#include <tuple>
#include <type_traits>

#include "base/element_types.hpp"
#include "kernels/common/launch.cuh"
#include "kernels/pairs/prepare/kernels.hpp"

namespace gpu::kernels {
namespace {

constexpr int tile = 32;
constexpr int tile_threads = 8;  // along its rows
constexpr int threads = 256;

// In the order of device_element.
using stored_types =
    std::tuple<std::int8_t, std::int16_t, std::int32_t, std::uint8_t, std::uint16_t, float, double,
               __half, __nv_bfloat16, std::uint32_t, std::int64_t, std::uint64_t>;

// Half precision as float.
template <class Stored>
using plain_type = std::conditional_t<std::is_arithmetic_v<Stored>, Stored, float>;

template <class Stored>
__device__ plain_type<Stored> element(const device_table_view& table, index_t row, index_t col) {
  const index_t at = row * table.row_stride() + col * table.col_stride();
  return static_cast<plain_type<Stored>>(static_cast<const Stored*>(table.data())[at]);
}

// Tiles go through shared memory: they are read along the dimension whose elements lie closer
// together, and written along columns.
template <class Stored, class Out>
__global__ void __launch_bounds__(tile* tile_threads)
    gather_kernel(device_table_view table, bool along_rows, const index_t* columns, index_t count,
                  Out* out) {
  __shared__ Out kept[tile][tile + 1];
  const int lane = static_cast<int>(threadIdx.x);
  const index_t across = ceil_div(count, index_t{tile});
  const index_t tiles = ceil_div(table.rows(), index_t{tile}) * across;
  for (index_t at = blockIdx.x; at < tiles; at += gridDim.x) {
    const index_t first_row = at / across * tile;
    const index_t first_col = at % across * tile;
    for (int line = static_cast<int>(threadIdx.y); line < tile; line += tile_threads) {
      const int i = along_rows ? lane : line;
      const int j = along_rows ? line : lane;
      if (first_row + i >= table.rows() || first_col + j >= count) continue;
      const index_t col = columns == nullptr ? first_col + j : columns[first_col + j];
      kept[i][j] = static_cast<Out>(element<Stored>(table, first_row + i, col));
    }
    __syncthreads();
    for (int i = static_cast<int>(threadIdx.y); i < tile; i += tile_threads) {
      if (first_row + i >= table.rows() || first_col + lane >= count) continue;
      out[(first_row + i) * count + first_col + lane] = kept[i][lane];
    }
    __syncthreads();
  }
}

template <class Integer>
__global__ void __launch_bounds__(threads)
    find_inexact_kernel(device_table_view table, unsigned long long* first) {
  constexpr Integer most = Integer{1} << 53;
  const index_t step = index_t{gridDim.x} * threads;
  for (index_t at = index_t{blockIdx.x} * threads + threadIdx.x; at < table.rows() * table.cols();
       at += step) {
    const Integer value = element<Integer>(table, at / table.cols(), at % table.cols());
    bool is_beyond = value > most;
    if constexpr (std::is_signed_v<Integer>) is_beyond |= value < -most;
    if (is_beyond) atomicMin(first, static_cast<unsigned long long>(at));
  }
}

}  // namespace

template <class Out>
void launch_gather(const device_table_view& table, const index_t* columns, index_t count, Out* out,
                   cudaStream_t stream) {
  if (table.rows() == 0 || count == 0) return;
  const bool along_rows = std::abs(table.row_stride()) < std::abs(table.col_stride());
  const index_t tiles = ceil_div(table.rows(), index_t{tile}) * ceil_div(count, index_t{tile});
  const auto launch = [&]<class Stored>(std::type_identity<Stored>) {
    if constexpr (std::is_same_v<Out, plain_type<Stored>> || std::is_same_v<Out, double>) {
      gather_kernel<Stored, Out>
          <<<grid_blocks(tiles, 1, 1 << 20), dim3(tile, tile_threads), 0, stream>>>(
              table, along_rows, columns, count, out);
      GPU_SIMILARITY_CHECK_LAUNCH();
    }
  };
  const auto type = static_cast<std::size_t>(table.type());
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    ((I == type ? launch(std::type_identity<std::tuple_element_t<I, stored_types>>()) : void()),
     ...);
  }(std::make_index_sequence<std::tuple_size_v<stored_types>>());
}

template <class Integer>
void launch_find_inexact(const device_table_view& table, unsigned long long* first,
                         cudaStream_t stream) {
  find_inexact_kernel<Integer>
      <<<grid_blocks(table.rows() * table.cols(), threads, 1 << 16), threads, 0, stream>>>(table,
                                                                                           first);
  GPU_SIMILARITY_CHECK_LAUNCH();
}

template void launch_find_inexact<std::int64_t>(const device_table_view&, unsigned long long*,
                                                cudaStream_t);
template void launch_find_inexact<std::uint64_t>(const device_table_view&, unsigned long long*,
                                                 cudaStream_t);

#define GPU_SIMILARITY_INSTANTIATE(T)                                                   \
  template void launch_gather<T>(const device_table_view&, const index_t*, index_t, T*, \
                                 cudaStream_t);

GPU_SIMILARITY_FOR_EACH_ELEMENT_TYPE(GPU_SIMILARITY_INSTANTIATE)

}  // namespace gpu::kernels
