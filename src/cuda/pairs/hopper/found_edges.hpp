#pragma once
// Edges that a screen found, in no order, kept in device memory until they are put in order.

#include <cstddef>
#include <cstdint>

#include "cuda/pairs/programs/candidate_queue.hpp"
#include "kernels/pairs/edges/kernels.hpp"
#include "pairs/area.hpp"

namespace gpu::cuda {

class found_edges {
 public:
  /// Device memory that an edge takes, the sort included, while the store grows.
  static constexpr std::size_t bytes_per_edge = 2 * 2 * sizeof(std::uint64_t);

  /// For edges of an area; it counts as full from `most` of them on.
  found_edges(const detail::pair_area& area, std::uint64_t most, cudaStream_t stream);

  [[nodiscard]] std::uint64_t count() const { return count_; }
  [[nodiscard]] bool is_full() const { return count_ >= most_; }
  [[nodiscard]] const kernels::edge_key_layout& layout() const { return layout_; }
  void clear() { count_ = 0; }

  /// Adds edges, on the stream; also to a full store.
  void add(const kernels::screened_edge* found, std::uint64_t count);
  /// Puts all edges in order, on the stream.
  void sort();
  /// What is stored, valid until the next add() or sort().
  [[nodiscard]] kernels::decided_edges edges() const {
    return {buffer_.places().keys, buffer_.places().values, layout_};
  }

 private:
  kernels::edge_key_layout layout_;
  std::uint64_t most_;
  cudaStream_t stream_;
  candidate_buffer buffer_;
  std::uint64_t count_ = 0;
};

}  // namespace gpu::cuda
