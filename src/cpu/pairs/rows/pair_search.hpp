#pragma once
// The search of one task among packed rows: what the sinks of the CPU pair engine draw statistics
// from. Tiles are of places of the packed rows.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <gpu/index.hpp>

#include "base/function_ref.hpp"
#include "base/keep_range.hpp"
#include "cpu/pairs/choice/cpu_pair_way.hpp"
#include "cpu/pairs/choice/policy.hpp"
#include "cpu/pairs/loops/kernels.hpp"
#include "cpu/platform/aligned_buffer.hpp"
#include "pairs/engine.hpp"
#include "pairs/observations.hpp"

namespace gpu::cpu {

/// A block of the pair matrix, in places of packed rows, ends exclusive.
struct pair_tile {
  index_t row_begin;
  index_t row_end;
  index_t col_begin;
  index_t col_end;
  [[nodiscard]] index_t rows() const { return row_end - row_begin; }
  [[nodiscard]] index_t cols() const { return col_end - col_begin; }
};

/// Kept pairs, in memory that grows by doubling and is never cleared.
class hit_buffer {
 public:
  [[nodiscard]] std::span<const pair_hit> hits() const { return {data_.data(), size_}; }
  void clear() { size_ = 0; }
  /// Room for `more` hits behind those that are there; of them `add` says how many were written.
  [[nodiscard]] pair_hit* room_for(index_t more);
  void add(index_t count) { size_ += static_cast<std::size_t>(count); }
  /// Leaves of the hits from `first` on those that `keeps`.
  template <class Keeps>
  void filter(std::size_t first, const Keeps& keeps) {
    pair_hit* const end = data_.data() + size_;
    pair_hit* const kept =
        std::remove_if(data_.data() + first, end, [&](const pair_hit& hit) { return !keeps(hit); });
    size_ -= static_cast<std::size_t>(end - kept);
  }
  void push(const pair_hit& hit) {
    *room_for(1) = hit;
    ++size_;
  }

 private:
  aligned_buffer<pair_hit> data_;
  std::size_t size_ = 0;
};

/// Pairs that a thread searched, and how many of them it had to decide.
struct search_tally {
  std::uint64_t searched = 0;
  std::uint64_t candidates = 0;
  void add(const pair_tile& tile, std::uint64_t decided) {
    searched += static_cast<std::uint64_t>(tile.rows() * tile.cols());
    candidates += decided;
  }
};

/// What block_kernel keeps between two blocks, the copy of rows [begin, end) in it.
struct block_scratch {
  aligned_buffer<double> memory;
  index_t begin = 0;
  index_t end = 0;
};

/// Memory of one thread of a search.
struct pair_scratch {
  aligned_buffer<double> statistics;  // pair_policy::block_rows x block_cols
  aligned_buffer<std::byte> kernel;   // of the size that the search asks for
  block_scratch blocks;               // made where it is first needed
  aligned_buffer<double> strips;      // likewise: of pair_kernels::add_partial_sums
  search_tally tally;
  explicit pair_scratch(std::size_t kernel_bytes);
  /// `strips`, of at least so many doubles.
  [[nodiscard]] double* strips_of(std::size_t doubles) {
    if (strips.size() < doubles) strips = aligned_buffer<double>(doubles);
    return strips.data();
  }
};

/// Doubles that a thread takes to multiply strips of block_rows x unit_strip pairs piece by piece.
inline constexpr index_t strip_sums =
    pair_policy::block_rows * pair_policy::unit_strip * detail::partial_sums;

/// Where kept pairs are counted by their statistic, unless `count` is 0.
struct pair_bins {
  index_t count = 0;
  std::uint64_t* histogram = nullptr;
};

/// Receives a pair of a tile, row and column counted from its first.
using pair_visitor = function_ref<void(index_t row, index_t col, double statistic)>;

/// What a sink asks of the rows. What it points to outlives the use of the search.
struct pair_task {
  enum class output { statistics, above, matches, counts };
  output wanted = output::statistics;
  detail::keep_range keep = {};  // of matches and counts
  index_t bins = 0;              // of counts
  // Of rows with missing values: what is kept of pairs of each number of shared columns; p of them,
  // which then stands for the statistic. Null: neither.
  const detail::observation_cuts* cuts = nullptr;
  const detail::observation_tests* tests = nullptr;
  // Where p depends on the ties of a pair, likewise.
  const detail::tied_cut* tied = nullptr;
  detail::tied_bins tied_tests = {};
};

/// Made by pair_rows::search for one task, and complete then: it owns the cut, the way in which
/// pairs are found, what is packed for that way, and the memory of the threads. The const functions
/// may run at the same time, each thread with its own scratch.
class pair_search {
 public:
  pair_search(const pair_search&) = delete;
  pair_search& operator=(const pair_search&) = delete;
  virtual ~pair_search() = default;

  [[nodiscard]] const pair_task& task() const { return task_; }
  /// The memory of thread `thread`, made when that thread first asks.
  [[nodiscard]] virtual pair_scratch& scratch(int thread);

  /// What a sample of the pairs says about the cut; empty without a sample.
  [[nodiscard]] virtual pair_estimate estimate() const { return {}; }
  /// How pairs are found, and why, in words.
  [[nodiscard]] virtual std::string explain() const {
    return "every pair is decided: this variant has no other way";
  }
  /// Takes the next way where the tiles so far turned out otherwise than expected; what they found
  /// stays. Never while another thread is at a tile.
  virtual void reconsider() {}

  /// The statistic of every pair of `tile` (at most block_rows x block_cols), also of those with
  /// row >= col, to out[(row - row_begin) * block_cols + (col - col_begin)].
  virtual void statistics(const pair_tile& tile, pair_scratch& scratch, double* out) const = 0;

  /// The same of those with row < col; what it writes for the others is not said.
  virtual void upper_statistics(const pair_tile& tile, pair_scratch& scratch, double* out) const {
    statistics(tile, scratch, out);
  }

  /// Whether `above` is quicker than all statistics.
  [[nodiscard]] virtual bool finds_above() const { return false; }
  /// Visits at least the pairs of `tile`, also those with row >= col, whose statistic, or its
  /// magnitude, is above the bar of their row; columns ascend within each row. Of tasks for that.
  virtual void above(const pair_tile& /*tile*/, const double* /*bars*/, bool /*by_magnitude*/,
                     pair_scratch& /*scratch*/, pair_visitor /*visit*/) const {}

  /// Appends the pairs of `tile` with row < col that the task keeps; columns ascend within each
  /// row.
  virtual void matches(const pair_tile& tile, pair_scratch& scratch, hit_buffer& out) const;

  /// The row that stands at each place of the order in which `count` takes rows; empty where they
  /// stay as they are.
  [[nodiscard]] virtual std::span<const node_id> count_order() const { return {}; }
  /// Adds the kept pairs of `tile` with row < col to the degrees of its rows [padded], of its
  /// columns [padded], and to the bins; returns their number. Of tasks for counts.
  virtual std::uint64_t count(const pair_tile& tile, pair_scratch& scratch,
                              std::uint32_t* row_degree, std::uint32_t* col_degree,
                              const pair_bins& bins) const;

 protected:
  pair_search(const pair_task& task, int threads)
      : task_(task), scratch_(static_cast<std::size_t>(threads)) {}
  /// Scratch bytes that one thread needs beside the statistics.
  [[nodiscard]] virtual std::size_t kernel_bytes() const { return 0; }
  /// What the threads of all tiles so far noted; and forgets it.
  [[nodiscard]] search_tally tally() const;
  void clear_tallies();
  /// Goes on with the threads' memory of an earlier search of the same rows.
  void take_scratch(pair_search& earlier);

 private:
  pair_task task_;
  std::vector<std::unique_ptr<pair_scratch>> scratch_;  // [threads]
};

/// Calls body(part) for parts of `tile`, so many rows or columns at a time.
template <class Body>
void for_each_strip_of_rows(const pair_tile& tile, index_t rows, const Body& body) {
  pair_tile part = tile;
  for (; part.row_begin < tile.row_end; part.row_begin = part.row_end) {
    part.row_end = std::min(part.row_begin + rows, tile.row_end);
    body(std::as_const(part));
  }
}
template <class Body>
void for_each_strip_of_cols(const pair_tile& tile, index_t cols, const Body& body) {
  pair_tile part = tile;
  for (; part.col_begin < tile.col_end; part.col_begin = part.col_end) {
    part.col_end = std::min(part.col_begin + cols, tile.col_end);
    body(std::as_const(part));
  }
}
[[nodiscard]] inline std::vector<pair_tile> strips_of_rows(const pair_tile& tile, index_t rows) {
  std::vector<pair_tile> out;
  for_each_strip_of_rows(tile, rows, [&](const pair_tile& part) { out.push_back(part); });
  return out;
}

/// Calls body(block) for the blocks of `tile`; columns ascend within rows.
template <class Body>
void for_each_block(const pair_tile& tile, const Body& body) {
  for_each_strip_of_rows(tile, pair_policy::block_rows, [&](const pair_tile& strip) {
    for_each_strip_of_cols(strip, pair_policy::block_cols, body);
  });
}

/// Calls body(block, statistics of the block) for them.
template <class Body>
void for_each_block(const pair_search& search, const pair_tile& tile, pair_scratch& scratch,
                    const Body& body) {
  for_each_block(tile, [&](const pair_tile& block) {
    search.statistics(block, scratch, scratch.statistics.data());
    body(block, static_cast<const double*>(scratch.statistics.data()));
  });
}

/// The same with the statistics above the diagonal alone.
template <class Body>
void for_each_block_above(const pair_search& search, const pair_tile& tile, pair_scratch& scratch,
                          const Body& body) {
  for_each_block(tile, [&](const pair_tile& block) {
    search.upper_statistics(block, scratch, scratch.statistics.data());
    body(block, static_cast<const double*>(scratch.statistics.data()));
  });
}

/// Calls body(block) for the blocks of `tile` that reach above the diagonal, without the whole
/// groups of columns below it; columns ascend within rows.
template <class Body>
void for_each_upper_block(const pair_tile& tile, const Body& body) {
  constexpr index_t step = pair_policy::window_step;
  for_each_strip_of_rows(tile, pair_policy::block_rows, [&](pair_tile upper) {
    upper.col_begin = std::max(tile.col_begin, (upper.row_begin + 1) / step * step);
    for_each_strip_of_cols(upper, pair_policy::block_cols, body);
  });
}

/// First column of `tile` that is above the diagonal in `row`.
inline index_t first_upper_column(const pair_tile& tile, index_t row) {
  return std::max(tile.col_begin, row + 1);
}

}  // namespace gpu::cpu
