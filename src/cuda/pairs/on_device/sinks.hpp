#pragma once
// The sinks of device results. Each takes its scratch memory from the call's arena when it is made,
// and runs once the rows are prepared.

#include <cuda_runtime_api.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <type_traits>

#include <gpu/device_sinks.hpp>

#include "base/keep_range.hpp"
#include "cuda/pairs/on_device/stream_rows.hpp"
#include "cuda/pairs/programs/candidate_queue.hpp"
#include "cuda/pairs/programs/class_counter.hpp"
#include "cuda/pairs/programs/edge_matrix.hpp"
#include "cuda/pairs/programs/group_search.hpp"
#include "cuda/pairs/programs/screen_search.hpp"
#include "cuda/pairs/programs/statistic_search.hpp"
#include "cuda/pairs/programs/unit_counter.hpp"
#include "stats/significance/p_table.hpp"

namespace gpu::cuda {

/// Every statistic.
template <class Value>
class stream_dense {
 public:
  stream_dense(const call_shape& shape, const basic_device_dense_sink<Value>& sink, arena& memory);
  /// Where statistics go that are ready once the rows are.
  [[nodiscard]] device_matrix_view<Value> result() const { return sink_.out; }
  void run(const stream_rows& rows, const detail::keep_range& keep, cudaStream_t stream) const;
  /// What tiles need beside unit rows.
  static constexpr row_extra extra =
      std::is_same_v<Value, float> ? row_extra::dense_floats : row_extra::dense;

 private:
  const call_shape& shape_;
  const basic_device_dense_sink<Value>& sink_;
};

/// Degrees, histogram and totals.
class stream_counts {
 public:
  stream_counts(const call_shape& shape, const device_count_sink& sink, arena& memory);
  [[nodiscard]] kernels::zeroed_words zeros() const;
  void run(const stream_rows& rows, const detail::keep_range& keep, cudaStream_t stream) const;
  static constexpr row_extra extra = row_extra::split_floats;

 private:
  void count_by_classes(const stream_rows& rows, const detail::keep_range& keep,
                        const count_totals& to, cudaStream_t stream) const;
  void count_by_products(const stream_rows& rows, const detail::keep_range& keep,
                         const count_totals& to, cudaStream_t stream) const;
  template <class Sink>
  void run_by_tiles(const stream_rows& rows, const tile_step<Sink>& step,
                    cudaStream_t stream) const;

  const call_shape& shape_;
  const device_count_sink& sink_;
  bool counts_;         // kept pairs and degrees
  bool bins_by_class_;  // whether counts class by class bin as well
  std::optional<class_counter> classes_;
  std::optional<unit_counter> units_;
  // Zeros before anything is counted, one after the other.
  kernels::count_state* state_;
  unsigned long long* bins_;
  std::uint32_t* degree_;
};

/// A list of edges of a given capacity, of few pairs.
class stream_edge_matrix {
 public:
  stream_edge_matrix(const call_shape& shape, const device_edge_sink& sink, arena& memory);
  [[nodiscard]] kernels::zeroed_words zeros() const { return matrix_.zeros(); }
  void run(const stream_rows& rows, const detail::keep_range& keep, cudaStream_t stream) const;
  static constexpr row_extra extra = row_extra::none;

 private:
  const call_shape& shape_;
  const device_edge_sink& sink_;
  edge_matrix matrix_;
  std::shared_ptr<const stats::p_table> table_;
  stats::p_table* room_;  // where the table does not stay on the device
};

/// The same of many.
class stream_edges {
 public:
  stream_edges(const call_shape& shape, const device_edge_sink& sink, arena& memory);
  [[nodiscard]] kernels::zeroed_words zeros() const {
    return {reinterpret_cast<std::uint64_t*>(state_), zero_words_};
  }
  void run(const stream_rows& rows, const detail::keep_range& keep, cudaStream_t stream) const;
  static constexpr row_extra extra = row_extra::screens;
  /// Whether a screen is expected to find the edges; else nothing is made ready for one.
  static bool is_screened(const call_shape& shape, const device_edge_sink& sink);

 private:
  // Finds all edges where their candidates fit, which only the device knows; false where no screen
  // takes this cut.
  bool screen(const stream_rows& rows, const detail::keep_range& keep, cudaStream_t stream) const;
  // Fills the queue, with the edges that come first where not all fit; with nothing where a screen
  // has found them.
  void find(const stream_rows& rows, const detail::keep_range& keep, bool is_screened,
            cudaStream_t stream) const;

  const call_shape& shape_;
  const device_edge_sink& sink_;
  std::uint64_t pairs_;
  std::uint64_t capacity_;  // of a queue
  std::shared_ptr<const stats::p_table> table_;
  stats::p_table* room_;
  // Zeros before the first pair is found, up to the end of per_row_.
  kernels::edge_state* state_;
  kernels::screen_state* screen_state_;
  unsigned long long* per_row_;
  index_t zero_words_;
  candidate_places queues_[2];
  std::optional<screen_search> screen_;
  kernels::screen_candidates candidates_{};
  kernels::screened_edges screened_{};
  unsigned long long* sums_;
  sort_scratch scratch_;  // also of the sums
};

/// The lists of a block of rows on their way into a sink: they are written there where its rows
/// are dense, else copied.
class sink_lists {
 public:
  sink_lists(const device_top_k_sink& sink, index_t most_rows, arena& memory);
  /// Where the lists of the block that begins with row `first` of the sink are written.
  [[nodiscard]] kernels::neighbor_result of(index_t first) const;
  /// Brings those of `rows` rows there.
  void store(index_t first, index_t rows, cudaStream_t stream) const;

 private:
  const device_top_k_sink& sink_;
  bool dense_index_;
  bool dense_statistic_;
  std::uint32_t* index_;
  double* statistic_;
};

/// Best partners by the maxima of groups of rows, on tensor cores.
class stream_group_search {
 public:
  stream_group_search(const call_shape& shape, const device_top_k_sink& sink, arena& memory);
  void run(const stream_rows& rows, const detail::keep_range& keep, cudaStream_t stream) const;
  static constexpr row_extra extra = row_extra::none;

 private:
  const call_shape& shape_;
  const device_top_k_sink& sink_;
  group_search search_;
  index_t block_units_;  // that are searched together
  sink_lists lists_;
};

/// The same of few rows against many columns.
class stream_thin_search {
 public:
  stream_thin_search(const call_shape& shape, const device_top_k_sink& sink, arena& memory);
  void run(const stream_rows& rows, const detail::keep_range& keep, cudaStream_t stream) const;
  static constexpr row_extra extra = row_extra::none;

 private:
  const call_shape& shape_;
  const device_top_k_sink& sink_;
  thin_search search_;
  sink_lists lists_;
};

/// The same from whole rows of statistics, or of estimates.
template <class Search>
class stream_statistic_search {
 public:
  stream_statistic_search(const call_shape& shape, const device_top_k_sink& sink, arena& memory);
  void run(const stream_rows& rows, const detail::keep_range& keep, cudaStream_t stream) const;
  static constexpr row_extra extra =
      std::is_same_v<Search, estimate_search> ? row_extra::estimates : row_extra::none;

 private:
  const call_shape& shape_;
  index_t block_rows_;  // whose statistics are there at a time
  Search search_;
  sink_lists lists_;
};

}  // namespace gpu::cuda
