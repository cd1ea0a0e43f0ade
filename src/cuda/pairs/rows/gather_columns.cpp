#include "cuda/pairs/rows/gather_columns.hpp"

#include <algorithm>
#include <cstddef>

#include "cuda/pairs/rows/gathered_block.hpp"
#include "cuda/pairs/rows/input.hpp"
#include "cuda_runtime/cuda_check.hpp"
#include "pairs/tables.hpp"

namespace gpu::cuda {
namespace {

// Of a table of another device, or a row where that is longer.
constexpr std::size_t panel_bytes = std::size_t{8} << 20;

}  // namespace

device_buffer<double> gather_columns(const detail::any_table& table,
                                     std::span<const index_t> columns, pair_budget& budget,
                                     cudaStream_t stream) {
  const auto count = static_cast<index_t>(columns.size());
  const auto elements = static_cast<std::size_t>(detail::rows_of(table) * count);
  budget.take(elements * sizeof(double), "the columns of a group");
  device_buffer<double> out(elements, stream);
  const device_buffer<index_t> numbers(columns.size(), stream);
  GPU_SIMILARITY_CUDA_CHECK(cudaMemcpyAsync(numbers.data(), columns.data(), columns.size_bytes(),
                                            cudaMemcpyHostToDevice, stream));
  const device_table_view view = detail::device_view(table);
  if (place_of(table) == table_place::this_device) {
    kernels::launch_gather(view, numbers.data(), count, out.data(), stream);
  } else {
    const std::size_t row_bytes = read_row_bytes(view);
    const auto fitting = static_cast<index_t>(panel_bytes / row_bytes);
    const index_t step = std::clamp<index_t>(fitting, 1, view.rows());
    const std::size_t bytes = static_cast<std::size_t>(step) * row_bytes;
    budget.require(bytes, "rows of another device");
    const device_buffer<std::byte> panel(bytes, stream);
    for (index_t begin = 0; begin < view.rows(); begin += step) {
      const detail::index_range rows{begin, std::min(begin + step, view.rows())};
      kernels::launch_gather(bring_rows(view, rows, panel.data(), stream), numbers.data(), count,
                             out.data() + begin * count, stream);
    }
  }
  GPU_SIMILARITY_CUDA_CHECK(cudaStreamSynchronize(stream));
  return out;
}

}  // namespace gpu::cuda
