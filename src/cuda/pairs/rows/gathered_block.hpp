#pragma once
// Rows of tables in device memory that do not lie as they are prepared.

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstddef>

#include <gpu/detail/any_view.hpp>

#include "cuda_runtime/cuda_check.hpp"
#include "cuda_runtime/index_range.hpp"
#include "kernels/pairs/prepare/kernels.hpp"
#include "pairs/tables.hpp"

namespace gpu::cuda {

/// Bytes of an element, and of a row, as it is read.
inline std::size_t read_element_bytes(const device_table_view& table) {
  std::size_t size = 0;
  detail::with_read_type(table.type(), [&](auto value) { size = sizeof value; });
  return size;
}
inline std::size_t read_row_bytes(const device_table_view& table) {
  return static_cast<std::size_t>(table.cols()) * read_element_bytes(table);
}

/// Bytes of scratch memory a row that with_block() needs.
inline std::size_t gathered_row_bytes(const device_table_view& table) {
  return detail::lies_as_read(table) ? 0 : read_row_bytes(table);
}

/// Copies rows of a table of another device, which lie element by element, to `to` on this one.
inline device_table_view bring_rows(const device_table_view& table, detail::index_range rows,
                                    std::byte* to, cudaStream_t stream) {
  const index_t size = detail::size_of(table.type());
  const auto row_bytes = static_cast<std::size_t>(table.cols() * size);
  const device_table_view some = detail::rows_of(table, rows.begin, rows.size());
  GPU_SIMILARITY_CUDA_CHECK(cudaMemcpy2DAsync(
      to, row_bytes, some.data(),
      std::max(row_bytes, static_cast<std::size_t>(table.row_stride() * size)), row_bytes,
      static_cast<std::size_t>(rows.size()), cudaMemcpyDefault, stream));
  return {to, table.type(), rows.size(), table.cols(), table.cols(), 1};
}

/// Calls use(block) with rows of a table of the current device: as they lie, or gathered at `to`.
template <class Use>
void with_block(const device_table_view& table, detail::index_range rows, std::byte* to,
                cudaStream_t stream, const Use& use) {
  const device_table_view some = detail::rows_of(table, rows.begin, rows.size());
  detail::with_read_type(table.type(), [&]<class T>(T) {
    if (detail::lies_as_read(table)) {
      use(device_matrix_view<const T>(static_cast<const T*>(some.data()), some.rows(), some.cols(),
                                      std::max(some.row_stride(), some.cols())));
      return;
    }
    auto* const gathered = reinterpret_cast<T*>(to);
    kernels::launch_gather<T>(some, nullptr, some.cols(), gathered, stream);
    use(device_matrix_view<const T>(gathered, some.rows(), some.cols()));
  });
}

}  // namespace gpu::cuda
