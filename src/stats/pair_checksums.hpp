#pragma once
// The checksums of many pairs, by all threads.

#include <span>
#include <vector>

#include <gpu/pair_sinks.hpp>

#include "base/index_range.hpp"

namespace gpu::stats {

/// Of some edges, by one thread.
pair_checksum checksum_of(std::span<const edge> edges);

/// Sums of threads that add side by side.
class thread_checksums {
 public:
  explicit thread_checksums(int threads) : parts_(static_cast<std::size_t>(threads)) {}

  /// Adds what `thread` found; no other thread adds with the same number meanwhile.
  void add(int thread, const pair_checksum& more) {
    parts_[static_cast<std::size_t>(thread)].sum += more;
  }
  [[nodiscard]] pair_checksum total() const;

 private:
  struct alignas(64) part {
    pair_checksum sum;
  };
  std::vector<part> parts_;
};

/// Of a batch of edges, by `threads` threads where that pays.
pair_checksum checksum_of(std::span<const edge> edges, int threads);
/// Of the entries of some rows of a table whose first row is row `row_begin` of the job.
pair_checksum checksum_of(const neighbor_table& table, detail::index_range rows, index_t row_begin,
                          int threads);

}  // namespace gpu::stats
