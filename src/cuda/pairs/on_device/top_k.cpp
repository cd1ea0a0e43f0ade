// Best partners in the caller's device memory.
#include <algorithm>
#include <type_traits>

#include "cuda/pairs/on_device/sinks.hpp"
#include "cuda/pairs/programs/group_search.hpp"
#include "cuda/pairs/programs/statistic_search.hpp"
#include "cuda/pairs/rows/area_walk.hpp"
#include "cuda/pairs/rows/memory_sizes.hpp"
#include "cuda_runtime/cuda_check.hpp"

namespace gpu::cuda {
namespace {

template <class T>
void copy_lists(const T* from, device_matrix_view<T> to, index_t first, index_t rows,
                cudaStream_t stream) {
  const std::size_t row_bytes = static_cast<std::size_t>(to.cols()) * sizeof(T);
  GPU_SIMILARITY_CUDA_CHECK(cudaMemcpy2DAsync(
      to.row(first), static_cast<std::size_t>(to.row_stride()) * sizeof(T), from, row_bytes,
      row_bytes, static_cast<std::size_t>(rows), cudaMemcpyDeviceToDevice, stream));
}

// The lists of a block of rows are written into the sink where its rows are dense, else copied
// there.
class stream_top_k : public stream_sink {
 protected:
  stream_top_k(const call_shape& shape, const device_top_k_sink& sink, index_t most_rows,
               arena& memory, row_extra extra = row_extra::none)
      : stream_sink(extra),
        shape_(shape),
        sink_(sink),
        is_index_dense_(sink.index.row_stride() == k()),
        is_statistic_dense_(sink.statistic.row_stride() == k()),
        index_(memory.take<std::uint32_t>(is_index_dense_ ? 0 : most_rows * k())),
        statistic_(memory.take<double>(is_statistic_dense_ ? 0 : most_rows * k())) {}

  [[nodiscard]] index_t k() const { return sink_.index.cols(); }
  [[nodiscard]] kernels::neighbor_query query(const detail::keep_range& keep) const {
    return query_of(keep, k(), sink_.order);
  }
  // search(lists) for the `rows` rows of the sink from `first` on.
  template <class Search>
  void search_block(index_t first, index_t rows, cudaStream_t stream, const Search& search) const {
    search(kernels::neighbor_result{
        .index = is_index_dense_ ? sink_.index.row(first) : index_,
        .statistic = is_statistic_dense_ ? sink_.statistic.row(first) : statistic_,
        .count = sink_.count.data() + first});
    if (!is_index_dense_) copy_lists(index_, sink_.index, first, rows, stream);
    if (!is_statistic_dense_) copy_lists(statistic_, sink_.statistic, first, rows, stream);
  }

  const call_shape& shape_;
  const device_top_k_sink& sink_;

 private:
  bool is_index_dense_;
  bool is_statistic_dense_;
  std::uint32_t* index_;
  double* statistic_;
};

index_t units_at_a_time(const group_search& search) {
  const auto fitting = static_cast<index_t>(memory_sizes::maxima_of_device_result /
                                            std::max<std::size_t>(search.unit_bytes(), 1));
  return std::min(std::max<index_t>(fitting, 1), search.units());
}

class stream_group_search final : public stream_top_k {
 public:
  stream_group_search(const call_shape& shape, const device_top_k_sink& sink, arena& memory)
      : stream_top_k(shape, sink, units_at_a_time(group_search(shape)) * group_search::unit,
                     memory),
        search_(shape),
        block_units_(units_at_a_time(search_)) {
    search_.take(block_units_, memory);
  }
  void run(const stream_rows& rows, const detail::keep_range& keep,
           cudaStream_t stream) const override {
    const kernels::pair_operand source = rows.all(shape_.format.tile);
    search_.pack(source, stream);
    for (index_t unit = 0; unit < search_.units(); unit += block_units_) {
      const index_t units = std::min(block_units_, search_.units() - unit);
      const index_t first = unit * group_search::unit;
      search_block(first, std::min(units * group_search::unit, shape_.area.rows.size() - first),
                   stream, [&](const kernels::neighbor_result& lists) {
                     search_.run(source, query(keep), unit, units, lists, stream);
                   });
    }
  }

 private:
  group_search search_;
  index_t block_units_;  // that are searched together
};

class stream_thin_search final : public stream_top_k {
 public:
  stream_thin_search(const call_shape& shape, const device_top_k_sink& sink, arena& memory)
      : stream_top_k(shape, sink, shape.area.rows.size(), memory), search_(shape, k(), memory) {}
  void run(const stream_rows& rows, const detail::keep_range& keep,
           cudaStream_t stream) const override {
    search_block(0, shape_.area.rows.size(), stream, [&](const kernels::neighbor_result& lists) {
      search_.run(rows.all(shape_.format.tile), query(keep), lists, stream);
    });
  }

 private:
  thin_search search_;
};

// Rows whose statistics are there at a time: a tile at least, and all where a table meets itself
// and they take a small part of the device's memory. Each product is then computed once, and not
// for both rows.
template <class Search>
index_t rows_at_a_time(const call_shape& shape) {
  const index_t rows = shape.area.rows.size();
  const std::size_t doubles = static_cast<std::size_t>(rows) * row_search::row_bytes(shape);
  if (shape.area.rows == shape.area.cols &&
      doubles <= shape.device_bytes / memory_sizes::parts_of_whole_statistics &&
      Search::takes_whole_table(shape)) {
    return rows;
  }
  return std::max(rows_of_block(rows, Search::row_bytes(shape), memory_sizes::selected_statistics),
                  std::min<index_t>(rows, kernels::policy::half_tile_rows));
}

template <class Search>
class stream_statistic_search final : public stream_top_k {
 public:
  stream_statistic_search(const call_shape& shape, const device_top_k_sink& sink, arena& memory)
      : stream_top_k(
            shape, sink, rows_at_a_time<Search>(shape), memory,
            std::is_same_v<Search, estimate_search> ? row_extra::estimates : row_extra::none),
        block_rows_(rows_at_a_time<Search>(shape)),
        search_(shape, k(), sink.order, block_rows_, memory) {}
  void run(const stream_rows& rows, const detail::keep_range& keep,
           cudaStream_t stream) const override {
    const kernels::pair_operand source = rows.all(shape_.format.tile);
    const detail::index_range& all = shape_.area.rows;
    for (index_t first = all.begin; first < all.end; first += block_rows_) {
      const detail::index_range block{first, std::min(first + block_rows_, all.end)};
      rows.launch(search_.compute(block), block, kernels::pair_region::whole, stream);
      search_block(first - all.begin, block.size(), stream,
                   [&](const kernels::neighbor_result& lists) {
                     search_.choose(source, detail::pair_cut::of(keep), block, lists, stream);
                   });
    }
  }

 private:
  index_t block_rows_;
  Search search_;
};

}  // namespace

std::unique_ptr<stream_sink> make_sink(const call_shape& shape, const device_top_k_sink& sink,
                                       arena& memory) {
  switch (choose_partner_way(shape, sink.index.cols())) {
    case partner_way::few_rows:
      return std::make_unique<stream_thin_search>(shape, sink, memory);
    case partner_way::groups:
      return std::make_unique<stream_group_search>(shape, sink, memory);
    case partner_way::statistics:
      break;
  }
  if (estimate_search::takes(shape, sink.index.cols())) {
    return std::make_unique<stream_statistic_search<estimate_search>>(shape, sink, memory);
  }
  return std::make_unique<stream_statistic_search<row_search>>(shape, sink, memory);
}

}  // namespace gpu::cuda
