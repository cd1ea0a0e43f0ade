#pragma once
// What tiles find of some rows: puts it into the order (row, column) and delivers it as edges in
// batches, within a fixed number that wait.
//
// Threads write the hits of a tile into memory of their own, by row with ascending columns, and
// move them as one *part* to the common memory of hits. The tiles of a row also come with ascending
// columns, so the counts of each row and part, added up in that order, give the places of the
// edges: nothing is sorted.

#include <cstddef>
#include <span>
#include <vector>

#include "cpu/pairs/engine.hpp"
#include "cpu/platform/aligned_buffer.hpp"
#include "stats/pair_checksums.hpp"

namespace gpu::cpu {

class cpu_engine::collected_hits {
 public:
  collected_hits(cpu_engine& engine, const detail::edge_request& request,
                 detail::edge_receiver& receiver);

  // Finds by `search` the edges of rows [row_begin, row_end) of the window, behind those that were
  // found before; the window's earlier columns come first. Returns false and adds nothing where
  // they would be more than may wait; `must_fit` allows more.
  bool collect(pair_search& search, index_t row_begin, index_t row_end, bool must_fit);
  // Rows whose edges with so many columns probably fit, as the last collect() or the search's
  // own estimate says.
  [[nodiscard]] index_t rows_that_fit(const pair_search& search, index_t cols) const;
  // Edges that wait to be put in order.
  [[nodiscard]] std::size_t found() const { return found_; }
  // Forgets the found edges of rows from `row` on.
  void drop_from(index_t row);
  // Writes the found edges in order into the memory of the receiver, or, where it offers none,
  // behind those that wait for a full batch; delivers them.
  void flush();
  // Delivers what waits.
  void finish() { deliver(1); }
  [[nodiscard]] const detail::keep_range& keep() const { return request_.keep; }
  // What the rows are searched for.
  [[nodiscard]] pair_task task() const {
    return {.wanted = pair_task::output::matches,
            .keep = request_.keep,
            .cuts = request_.cuts,
            .tied = request_.tied};
  }
  // Whether no more edges are wanted.
  [[nodiscard]] bool has_enough() const { return !receiver_.wants_more(); }
  // Tells the receiver how many edges the sample of all rows promises, where it can.
  void tell_expected(const pair_estimate& estimate);

 private:
  // What one tile found: hits [begin, begin + count).
  struct part {
    index_t row_begin;
    index_t rows;
    std::size_t begin;
    std::size_t count;
  };

  [[nodiscard]] std::span<const pair_hit> hits_of(const part& p) const {
    return {hits_.data() + p.begin, p.count};
  }
  // Columns of a tile whose hits fit the cache of a core, and are no more than may wait.
  [[nodiscard]] index_t tile_cols(const pair_search& search) const;
  // For every row of every part, one behind the other, the place of its first edge among those
  // that are written, which begin at `first`.
  [[nodiscard]] std::vector<std::size_t> places(std::size_t first) const;
  // Writes the found edges in order, from `out` + `first` on, and adds their checksums to `sums`,
  // unless that is null.
  void write_found(edge* out, std::size_t first, stats::thread_checksums* sums);
  void make_room_to_wait(std::size_t edges);
  void deliver(std::size_t least);

  cpu_engine& engine_;
  const detail::edge_request& request_;
  detail::edge_receiver& receiver_;
  std::vector<hit_buffer> of_thread_;
  aligned_buffer<pair_hit> hits_;  // place of the window, column of the result
  std::size_t found_ = 0;
  std::vector<part> parts_;
  std::vector<std::size_t> first_row_;  // of each part, rows of the parts before it
  // Kept pairs of those that the last collect() looked at; -1: nothing yet.
  double share_ = -1;
  aligned_buffer<edge> waiting_;
  std::size_t waiting_count_ = 0;
};

}  // namespace gpu::cpu
