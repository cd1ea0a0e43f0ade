#pragma once
// Edges of few pairs: all statistics in a matrix, from which one launch selects those that are
// kept, in order. For host and device results.

#include <cuda_runtime_api.h>

#include "cuda/pairs/programs/call_shape.hpp"
#include "cuda/pairs/programs/candidate_queue.hpp"
#include "cuda_runtime/arena.hpp"
#include "kernels/pairs/edges/kernels.hpp"
#include "kernels/pairs/prepare/kernels.hpp"

namespace gpu::cuda {

/// The matrix of an area, and what a selection from it works in.
class edge_matrix {
 public:
  /// Whether the pairs are so few, and their statistics so cheap, that to find only some of them
  /// takes longer.
  static bool takes(const call_shape& shape);

  /// Takes its memory; none for statistics if these are ready.
  edge_matrix(const detail::pair_area& area, bool is_ready, arena& memory);
  /// Where ready ones are.
  void read(const double* statistics) { selected_from_ = statistics; }

  /// For dense_step.
  [[nodiscard]] double* statistics() const { return statistics_; }
  /// What has to be zero before a selection.
  [[nodiscard]] kernels::zeroed_words zeros() const;
  /// Writes the first `edges.size()` edges, with p where `p_of` has a table, and how many there
  /// are.
  void select(const detail::keep_range& keep, const stats::p_function& p_of,
              device_vector_view<edge> edges, unsigned long long* found, cudaStream_t stream) const;
  /// The same, of edges that fit `queue`.
  void select(const detail::keep_range& keep, const candidate_places& queue,
              const kernels::edge_key_layout& layout, unsigned long long* found,
              cudaStream_t stream) const;

 private:
  void select(const detail::keep_range& keep, const stats::p_function& p_of,
              kernels::selected_edges to, cudaStream_t stream) const;

  const detail::pair_area& area_;
  double* statistics_;
  const double* selected_from_;
  std::uint64_t* kept_by_block_;
};

/// The table in the memory of the current device, where the first call leaves it for later ones;
/// null once there are many. Safe to call from several threads, and while a stream is captured.
const stats::p_table* resident_table(const stats::p_table& table);
/// The same, or a copy in `room`, which is sent there on the stream.
const stats::p_table* table_on_device(const stats::p_table& table, stats::p_table* room,
                                      cudaStream_t stream);

}  // namespace gpu::cuda
