// The best neighbours of the CPU pair engine.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

#include "cpu/pairs/engine.hpp"

namespace gpu::cpu {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan_value = std::numeric_limits<double>::quiet_NaN();

// The k best neighbours of one row seen so far, worst on top of the heap.
class best_neighbors {
 public:
  struct entry {
    double rank;  // what neighbours are ordered by
    double statistic;
    node_id col;  // of the result
  };

  // Whether a belongs before b in the result.
  static bool before(const entry& a, const entry& b) {
    return a.rank > b.rank || (a.rank == b.rank && a.col < b.col);
  }

  void offer(const entry& candidate, index_t k) {
    if (std::ssize(heap_) < k) {
      heap_.push_back(candidate);
      std::push_heap(heap_.begin(), heap_.end(), before);
    } else if (before(candidate, heap_.front())) {
      std::pop_heap(heap_.begin(), heap_.end(), before);
      heap_.back() = candidate;
      std::push_heap(heap_.begin(), heap_.end(), before);
    }
  }

  // The rank that a further partner must exceed.
  [[nodiscard]] double worst(index_t k) const {
    return std::ssize(heap_) < k ? -infinity : heap_.front().rank;
  }

  // Continues with the list that take() returned.
  void resume(std::vector<entry> sorted) {
    heap_ = std::move(sorted);
    std::reverse(heap_.begin(), heap_.end());  // the worst first is a heap
  }

  // Best first; leaves the heap empty.
  std::vector<entry> take() {
    std::sort_heap(heap_.begin(), heap_.end(), before);
    return std::move(heap_);
  }

  // The same as row `at` of a table.
  void write(index_t at, neighbor_table& to) {
    const std::vector<entry> entries = take();
    for (std::size_t e = 0; e < entries.size(); ++e) {
      to.index(at, static_cast<index_t>(e)) = entries[e].col;
      to.statistic(at, static_cast<index_t>(e)) = entries[e].statistic;
    }
    to.count[static_cast<std::size_t>(at)] = static_cast<node_id>(entries.size());
  }

 private:
  std::vector<entry> heap_;
};

bool is_by_magnitude(const detail::top_k_request& request) {
  return request.order == neighbor_order::by_absolute_value;
}

double rank_of(double statistic, const detail::top_k_request& request) {
  return is_by_magnitude(request) ? std::abs(statistic) : statistic;
}

// Offers to the list of one row the partners with statistics row[0 .. cols), except the one at
// place `self`.
template <class Column>
void offer_row(const double* row, index_t cols, index_t self, const detail::top_k_request& request,
               const Column& column, best_neighbors& list) {
  double bar = list.worst(request.k);
  for (index_t c = 0; c < cols; ++c) {
    const double rank = rank_of(row[c], request);
    if (!(rank > bar) || c == self || !request.keep.keeps(row[c])) continue;
    list.offer({rank, row[c], column(c)}, request.k);
    bar = list.worst(request.k);
  }
}

// Columns whose statistics set the first bars.
index_t first_cols(index_t k) {
  return round_up(std::max(pair_policy::block_cols, 4 * k), pair_policy::block_cols);
}

// How many threads can share the columns of a few rows.
index_t column_parts(const pair_tile& area, int threads) {
  constexpr index_t least_cols = 4 * pair_policy::task_cols;  // bars have to rise first
  return std::clamp<index_t>(area.cols() / least_cols, 1, 4 * threads);
}

}  // namespace

// The k best neighbours of the rows of a strip, from their pairs with all rows.
class cpu_engine::neighbor_search {
 public:
  neighbor_search(const cpu_engine& engine, const pair_search& pairs,
                  const detail::top_k_request& request, const pair_tile& strip,
                  pair_scratch& scratch)
      : pairs_(pairs),
        engine_(engine),
        request_(request),
        strip_(strip),
        scratch_(scratch),
        best_(static_cast<std::size_t>(strip.rows())) {}

  // Columns ascend, so an equal rank further on never displaces what is there.
  void run() {
    index_t col = strip_.col_begin;
    index_t cols = pairs_.finds_above() ? first_cols(request_.k) : strip_.cols();
    for (; col < strip_.col_end; col += cols) {
      if (col > strip_.col_begin) cols = std::min(most_cols, col - strip_.col_begin);
      pair_tile tile = strip_;
      tile.col_begin = col;
      tile.col_end = std::min(col + cols, strip_.col_end);
      if (col == strip_.col_begin) {
        offer_all(tile);
      } else {
        offer_above(tile);
      }
    }
  }

  // Continues with the lists that an earlier window wrote.
  void read(const neighbor_table& from) {
    for (index_t row = strip_.row_begin; row < strip_.row_end; ++row) {
      const index_t to = engine_.result_row(row);
      std::vector<best_neighbors::entry> entries(from.count[static_cast<std::size_t>(to)]);
      for (std::size_t e = 0; e < entries.size(); ++e) {
        const double r = from.statistic(to, static_cast<index_t>(e));
        entries[e] = {rank_of(r, request_), r, from.index(to, static_cast<index_t>(e))};
      }
      of(row).resume(std::move(entries));
    }
  }

  // Takes what `other` found for the same rows among columns behind.
  void take(neighbor_search& other) {
    for (index_t row = strip_.row_begin; row < strip_.row_end; ++row) {
      for (const best_neighbors::entry& entry : other.of(row).take()) {
        of(row).offer(entry, request_.k);
      }
    }
  }

  // Best first; leaves nothing behind.
  void write(neighbor_table& to) {
    for (index_t row = strip_.row_begin; row < strip_.row_end; ++row) {
      of(row).write(engine_.result_row(row), to);
    }
  }

 private:
  // Bars are raised after as many columns as before, so that a pass finds about k more a row.
  static constexpr index_t most_cols = pair_policy::task_cols;

  [[nodiscard]] const detail::keep_range& keep() const { return request_.keep; }
  [[nodiscard]] bool keeps_negative() const { return keep().at_most > -infinity; }

  // No kept statistic has a smaller magnitude, or of those that are kept on the positive side alone
  // a smaller value; a little less, because a bar itself does not pass.
  [[nodiscard]] double least_kept() const {
    return (keeps_negative() ? std::min(keep().at_least, -keep().at_most) : keep().at_least) - 1e-9;
  }

  // Whether columns are looked through by magnitude. By value too, as long as the list of a row
  // would take any value, or negative ones: few magnitudes pass the cut where nearly all values
  // would.
  [[nodiscard]] bool looks_at_magnitudes(const pair_tile& tile) const {
    if (is_by_magnitude(request_) || !keeps_negative() || !(least_kept() > 0)) {
      return is_by_magnitude(request_);
    }
    for (index_t i = tile.row_begin; i < tile.row_end; ++i) {
      if (!(of(i).worst(request_.k) > 0)) return true;
    }
    return false;
  }

  best_neighbors& of(index_t row) {
    return best_[static_cast<std::size_t>(row - strip_.row_begin)];
  }
  [[nodiscard]] const best_neighbors& of(index_t row) const {
    return best_[static_cast<std::size_t>(row - strip_.row_begin)];
  }

  void offer_all(const pair_tile& tile) {
    for_each_block(pairs_, tile, scratch_, [&](const pair_tile& block, const double* statistics) {
      for (index_t i = block.row_begin; i < block.row_end; ++i) {
        offer_row(
            statistics + (i - block.row_begin) * pair_policy::block_cols, block.cols(),
            i - block.col_begin, request_, [&](index_t c) { return col_of(block.col_begin + c); },
            of(i));
      }
    });
  }

  void offer_above(const pair_tile& tile) {
    double bars[pair_policy::task_rows];
    const bool magnitudes = looks_at_magnitudes(tile);
    // A bar of values where both signs are kept is the worst of the list alone.
    const double least = magnitudes || !keeps_negative() ? least_kept() : -infinity;
    for (index_t i = 0; i < tile.rows(); ++i) {
      bars[i] = std::max(of(tile.row_begin + i).worst(request_.k), least);
    }
    const auto offer = [&](index_t row, index_t col, double r) {
      const bool is_pair = tile.row_begin + row != tile.col_begin + col;
      if (!is_pair || !keep().keeps(r)) return;
      of(tile.row_begin + row)
          .offer({rank_of(r, request_), r, col_of(tile.col_begin + col)}, request_.k);
    };
    pairs_.above(tile, bars, magnitudes, scratch_, offer);
  }

  [[nodiscard]] node_id col_of(index_t place) const {
    return static_cast<node_id>(engine_.result_col(place));
  }

  const pair_search& pairs_;
  const cpu_engine& engine_;
  const detail::top_k_request& request_;
  pair_tile strip_;
  pair_scratch& scratch_;
  std::vector<best_neighbors> best_;
};

// Whether every pair of a table is computed once, to a matrix of all statistics. That halves the
// pairs, which pays where a search would find few to drop: none before the first bars are set.
bool cpu_engine::takes_matrix(const detail::top_k_request& request, index_t result_rows) {
  const index_t rows = info_.rows;
  // A part may have all rows that have a statistic, and a result of fewer rows than the table.
  const bool is_table =
      result_rows == rows && !source_ && second_.is_empty() && area_rows_ == area_cols_;
  if (!is_table || rows > most_matrix_rows_ || request.cuts != nullptr || request.tied != nullptr) {
    return false;
  }
  return rows <= 2 * first_cols(request.k) || !search({}).finds_above();
}

void cpu_engine::top_k_of_matrix(const detail::top_k_request& request, neighbor_table& out) {
  const index_t rows = info_.rows;
  aligned_buffer<double> values(static_cast<std::size_t>(rows * rows));
  const matrix_view<double> all(values.data(), rows, rows);
  dense(all);
  detail::parallel_for(rows, team(), [&](index_t i, int) {
    best_neighbors list;
    offer_row(
        all.row(i), rows, i, request, [](index_t c) { return static_cast<node_id>(c); }, list);
    list.write(i, out);
  });
}

// Every row meets every column, so each pair of a table is computed twice: rows are then
// independent, and no thread waits for another. After the first columns only pairs that may enter a
// list are looked at. Between windows the lists wait in the result.
void cpu_engine::top_k(const detail::top_k_request& request, neighbor_table& out) {
  std::fill_n(out.index.data(), out.index.rows() * out.index.cols(), neighbor_table::no_neighbor);
  std::fill_n(out.statistic.data(), out.statistic.rows() * out.statistic.cols(), nan_value);
  std::fill(out.count.begin(), out.count.end(), node_id{0});
  if (area_rows_.is_empty()) return;
  if (takes_matrix(request, out.index.rows())) return top_k_of_matrix(request, out);
  detail::pair_progress meter(on_progress_, "pairs", meetings());
  const detail::poll_scope polled(&meter);
  for_each_meeting([&](const pair_tile& area) { top_k_of_window(request, area, meter, out); });
  meter.finish();
}

void cpu_engine::top_k_of_window(const detail::top_k_request& request, const pair_tile& area,
                                 detail::pair_progress& meter, neighbor_table& out) {
  pair_search& pairs =
      search({.wanted = pair_task::output::above, .cuts = request.cuts, .tied = request.tied});
  const auto search_strip = [&](const pair_tile& strip, int thread) {
    neighbor_search found(*this, pairs, request, strip, pairs.scratch(thread));
    found.read(out);
    found.run();
    found.write(out);
  };
  const index_t step = panel_rows();
  const index_t rows_at_once = step >= 4 * threads_ * pair_policy::task_rows && area.rows() >= step
                                   ? pair_policy::task_rows
                                   : pair_policy::block_rows;
  for_each_strip_of_rows(area, step, [&](const pair_tile& panel) {
    const std::vector<pair_tile> strips = strips_of_rows(panel, rows_at_once);
    const auto count = static_cast<index_t>(strips.size());
    if (count < threads_ && column_parts(panel, threads_) > count) {
      top_k_of_columns(pairs, request, panel, out);
    } else {
      for_each_tile(strips, search_strip);
    }
    meter.advance(meetings_of(panel));
  });
}

void cpu_engine::top_k_of_columns(pair_search& pairs, const detail::top_k_request& request,
                                  const pair_tile& area, neighbor_table& out) {
  const index_t parts = column_parts(area, threads_);
  const index_t cols = round_up((area.cols() + parts - 1) / parts, pair_policy::window_step);
  for (const pair_tile& rows : strips_of_rows(area, pair_policy::task_rows)) {
    const std::vector<pair_tile> strips = tiles_of(rows, cols);
    std::vector<std::unique_ptr<neighbor_search>> found(strips.size());
    for_each_tile(strips, [&](const pair_tile& strip, int thread) {
      auto& own = found[static_cast<std::size_t>(&strip - strips.data())];
      own = std::make_unique<neighbor_search>(*this, pairs, request, strip, pairs.scratch(thread));
      if (&strip == strips.data()) own->read(out);
      own->run();
    });
    for (std::size_t part = 1; part < found.size(); ++part) found.front()->take(*found[part]);
    found.front()->write(out);
  }
}

}  // namespace gpu::cpu
