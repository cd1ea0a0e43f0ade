#pragma once
// Writes batches of edges behind each other into a list, by all threads.

#include <cstddef>
#include <span>

#include <gpu/array.hpp>
#include <gpu/pair_sinks.hpp>

#include "pairs/engine.hpp"
#include "stats/pair_checksums.hpp"
#include "stats/significance/p_table.hpp"

namespace gpu::delivery {

/// Fills an edge list with all threads, because fetching fresh pages takes longer than writing
/// them. Adds up the checksum of what it copies while that is in a cache, where it does not come
/// with the batch.
class edge_list_writer {
 public:
  edge_list_writer(array<edge>& list, stats::p_function p_of, int threads);

  [[nodiscard]] pair_checksum checksum() const { return known_ + checksums_.total(); }

  /// Makes room for `room` edges; `sure` of them will be written.
  void expect(double sure, double room);
  /// Places for `count` edges behind the list, for a batch that append() then takes without a copy.
  [[nodiscard]] std::span<edge> room(std::size_t count);
  void append(const detail::edge_batch& batch);
  /// The same of packed edges, which are unpacked into the list.
  void append(const detail::packed_edges& edges, const pair_checksum& sum);

 private:
  [[nodiscard]] std::size_t one_each() const { return static_cast<std::size_t>(threads_); }
  // Makes the list longer by `count` edges and has all threads write them, each by
  // write(first, count, to, thread); and takes up to so many pages behind them.
  template <class Write>
  void extend(std::size_t count, std::size_t most_pages, const Write& write);
  // Pages to take with a batch of `count` edges, so that the next one finds its own.
  [[nodiscard]] std::size_t pages_beside(std::size_t count) const;
  void forget_pages_of(std::size_t size);
  void populate(std::size_t size);
  [[nodiscard]] std::byte* page_at(std::size_t at) const;
  [[nodiscard]] std::size_t pages_from(std::size_t begin) const;

  array<edge>& list_;
  stats::p_function p_of_;  // of packed edges
  int threads_;
  edge* offered_ = nullptr;  // the room that was made last
  pair_checksum known_;
  stats::thread_checksums checksums_;
  std::size_t sure_ = 0;   // edges
  std::size_t ready_ = 0;  // bytes whose pages are there
};

}  // namespace gpu::delivery
