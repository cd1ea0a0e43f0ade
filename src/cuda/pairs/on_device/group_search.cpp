// Best partners in the caller's device memory, by the maxima of groups of partners.
#include <algorithm>

#include "cuda/pairs/on_device/sinks.hpp"
#include "cuda/pairs/rows/memory_sizes.hpp"
#include "cuda_runtime/cuda_check.hpp"

namespace gpu::cuda {
namespace {

template <class T>
void copy_rows(const T* from, device_matrix_view<T> to, index_t first, index_t rows,
               cudaStream_t stream) {
  const std::size_t row_bytes = static_cast<std::size_t>(to.cols()) * sizeof(T);
  GPU_SIMILARITY_CUDA_CHECK(cudaMemcpy2DAsync(
      to.row(first), static_cast<std::size_t>(to.row_stride()) * sizeof(T), from, row_bytes,
      row_bytes, static_cast<std::size_t>(rows), cudaMemcpyDeviceToDevice, stream));
}

}  // namespace

sink_lists::sink_lists(const device_top_k_sink& sink, index_t most_rows, arena& memory)
    : sink_(sink),
      dense_index_(sink.index.row_stride() == sink.index.cols()),
      dense_statistic_(sink.statistic.row_stride() == sink.index.cols()) {
  const index_t entries = most_rows * sink.index.cols();
  index_ = memory.take<std::uint32_t>(dense_index_ ? 0 : entries);
  statistic_ = memory.take<double>(dense_statistic_ ? 0 : entries);
}

kernels::neighbor_result sink_lists::of(index_t first) const {
  return {.index = dense_index_ ? sink_.index.row(first) : index_,
          .statistic = dense_statistic_ ? sink_.statistic.row(first) : statistic_,
          .count = sink_.count.data() + first};
}

void sink_lists::store(index_t first, index_t rows, cudaStream_t stream) const {
  if (!dense_index_) copy_rows(index_, sink_.index, first, rows, stream);
  if (!dense_statistic_) copy_rows(statistic_, sink_.statistic, first, rows, stream);
}

stream_group_search::stream_group_search(const call_shape& shape, const device_top_k_sink& sink,
                                         arena& memory)
    : shape_(shape),
      sink_(sink),
      search_(shape),
      block_units_(std::min(
          std::max<index_t>(static_cast<index_t>(memory_sizes::maxima_of_device_result /
                                                 std::max<std::size_t>(search_.unit_bytes(), 1)),
                            1),
          search_.units())),
      lists_(sink, block_units_ * group_search::unit, memory) {
  search_.take(block_units_, memory);
}

void stream_group_search::run(const stream_rows& rows, const detail::keep_range& keep,
                              cudaStream_t stream) const {
  const kernels::pair_operand source = rows.all(shape_.format.tile);
  const kernels::neighbor_query query = query_of(keep, sink_.index.cols(), sink_.order);
  const index_t count = shape_.area.rows.size();
  search_.pack(source, stream);
  for (index_t unit = 0; unit < search_.units(); unit += block_units_) {
    const index_t units = std::min(block_units_, search_.units() - unit);
    const index_t first = unit * group_search::unit;
    search_.run(source, query, unit, units, lists_.of(first), stream);
    lists_.store(first, std::min(units * group_search::unit, count - first), stream);
  }
}

stream_thin_search::stream_thin_search(const call_shape& shape, const device_top_k_sink& sink,
                                       arena& memory)
    : shape_(shape),
      sink_(sink),
      search_(shape, sink.index.cols(), memory),
      lists_(sink, shape.area.rows.size(), memory) {}

void stream_thin_search::run(const stream_rows& rows, const detail::keep_range& keep,
                             cudaStream_t stream) const {
  search_.run(rows.all(shape_.format.tile), query_of(keep, sink_.index.cols(), sink_.order),
              lists_.of(0), stream);
  lists_.store(0, shape_.area.rows.size(), stream);
}

}  // namespace gpu::cuda
