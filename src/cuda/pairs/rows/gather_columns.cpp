#include "cuda/pairs/rows/gather_columns.hpp"

#include <algorithm>
#include <cstddef>
#include <variant>

#include "cuda/pairs/rows/input.hpp"
#include "cuda_runtime/cuda_check.hpp"
#include "kernels/pairs/differences/kernels.hpp"
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
  const bool is_here = place_of(table) == table_place::this_device;
  std::visit(
      [&]<class T>(const device_matrix_view<const T>& view) {
        if (is_here) {
          kernels::launch_gather_columns<T>(view, numbers.data(), count, out.data(), stream);
          return;
        }
        const std::size_t row_bytes = static_cast<std::size_t>(view.cols()) * sizeof(T);
        const auto fitting = static_cast<index_t>(panel_bytes / row_bytes);
        const index_t step = std::clamp<index_t>(fitting, 1, view.rows());
        budget.require(static_cast<std::size_t>(step) * row_bytes, "rows of another device");
        const device_buffer<T> panel(static_cast<std::size_t>(step * view.cols()), stream);
        for (index_t begin = 0; begin < view.rows(); begin += step) {
          const index_t rows = std::min(step, view.rows() - begin);
          GPU_SIMILARITY_CUDA_CHECK(
              cudaMemcpy2DAsync(panel.data(), row_bytes, view.row(begin),
                                static_cast<std::size_t>(view.row_stride()) * sizeof(T), row_bytes,
                                static_cast<std::size_t>(rows), cudaMemcpyDefault, stream));
          kernels::launch_gather_columns<T>({panel.data(), rows, view.cols()}, numbers.data(),
                                            count, out.data() + begin * count, stream);
        }
      },
      detail::device_view(table));
  GPU_SIMILARITY_CUDA_CHECK(cudaStreamSynchronize(stream));
  return out;
}

}  // namespace gpu::cuda
