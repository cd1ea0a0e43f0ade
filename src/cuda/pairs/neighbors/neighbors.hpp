#pragma once
// What the two searches for neighbours by groups of partners share.

#include "cuda/pairs/engine.hpp"
#include "kernels/pairs/neighbors/kernels.hpp"

namespace gpu::cuda {

/// Whether the neighbours of an area are searched for without packing its columns.
bool has_few_rows(const detail::pair_area& area);

/// The lists of one block of rows, which count from the area's first.
struct list_table {
  list_table(index_t most_rows, index_t k, cudaStream_t stream)
      : index(static_cast<std::size_t>(most_rows * k), stream),
        statistic(static_cast<std::size_t>(most_rows * k), stream),
        count(static_cast<std::size_t>(most_rows), stream) {}

  static std::size_t bytes(index_t most_rows, index_t k) {
    return static_cast<std::size_t>(most_rows) *
           (static_cast<std::size_t>(k) * (sizeof(node_id) + sizeof(double)) + sizeof(node_id));
  }
  [[nodiscard]] kernels::neighbor_result result() const {
    return {.index = index.data(), .statistic = statistic.data(), .count = count.data()};
  }
  /// Copies the table to the host, on `stream`, once it is ready, and waits.
  void deliver(index_t k, cudaStream_t stream, neighbor_table& out) const;

  device_buffer<std::uint32_t> index;
  device_buffer<double> statistic;
  device_buffer<std::uint32_t> count;
  event ready;
  row_range rows;
};

}  // namespace gpu::cuda
