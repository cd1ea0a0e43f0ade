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
    node_id col;  // as original() numbers it
  };

  // Whether a belongs before b in the result.
  static bool before(const entry& a, const entry& b) {
    return a.rank > b.rank || (a.rank == b.rank && a.col < b.col);
  }

  void offer(const entry& candidate, std::size_t k) {
    if (heap_.size() < k) {
      heap_.push_back(candidate);
      std::push_heap(heap_.begin(), heap_.end(), before);
    } else if (before(candidate, heap_.front())) {
      std::pop_heap(heap_.begin(), heap_.end(), before);
      heap_.back() = candidate;
      std::push_heap(heap_.begin(), heap_.end(), before);
    }
  }

  // The rank that a newcomer must exceed.
  [[nodiscard]] double worst(std::size_t k) const {
    return heap_.size() < k ? -infinity : heap_.front().rank;
  }

  // Takes up again what take() gave.
  void resume(std::vector<entry> sorted) {
    heap_ = std::move(sorted);
    std::reverse(heap_.begin(), heap_.end());  // the worst first is a heap
  }

  // Best first; leaves the heap empty.
  std::vector<entry> take() {
    std::sort_heap(heap_.begin(), heap_.end(), before);
    return std::move(heap_);
  }

 private:
  std::vector<entry> heap_;
};

}  // namespace

// The k best neighbours of the rows of a strip, from their pairs with all rows.
class pair_engine::neighbor_search {
 public:
  neighbor_search(const pair_engine& engine, const detail::top_k_request& request,
                  const pair_tile& strip, pair_scratch& scratch)
      : rows_(*engine.rows_),
        original_(engine.original_),
        keep_(request.keep),
        k_(static_cast<std::size_t>(request.k)),
        by_magnitude_(request.order == neighbor_order::by_absolute_value),
        strip_(strip),
        scratch_(scratch),
        best_(static_cast<std::size_t>(strip.rows())) {}

  // Columns ascend, so an equal rank further on never displaces what is there.
  void run() {
    index_t col = strip_.col_begin;
    index_t cols = rows_.finds_above() ? first_cols() : strip_.cols();
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

  // Goes on with what an earlier window wrote for a row.
  void read(index_t row, index_t original, const neighbor_table& from) {
    std::vector<best_neighbors::entry> entries(from.count[static_cast<std::size_t>(original)]);
    for (std::size_t e = 0; e < entries.size(); ++e) {
      const double r = from.statistic(original, static_cast<index_t>(e));
      entries[e] = {rank(r), r, from.index(original, static_cast<index_t>(e))};
    }
    of(row).resume(std::move(entries));
  }

  // Best first; leaves nothing behind.
  void write(index_t row, index_t original, neighbor_table& to) {
    const auto entries = of(row).take();
    for (std::size_t e = 0; e < entries.size(); ++e) {
      to.index(original, static_cast<index_t>(e)) = entries[e].col;
      to.statistic(original, static_cast<index_t>(e)) = entries[e].statistic;
    }
    to.count[static_cast<std::size_t>(original)] = static_cast<node_id>(entries.size());
  }

 private:
  // Bars are raised after as many columns as before, so that a pass finds about k more a row.
  static constexpr index_t most_cols = pair_policy::task_cols;

  // Columns whose statistics set the first bars.
  [[nodiscard]] index_t first_cols() const {
    constexpr index_t least = pair_policy::block_cols;
    return (std::max(least, 4 * static_cast<index_t>(k_)) + least - 1) / least * least;
  }

  // What no kept statistic ranks below; a little less, as bars themselves are not passed.
  [[nodiscard]] double least_rank() const {
    const bool keeps_negative = keep_.at_most > -infinity;
    if (!by_magnitude_ && keeps_negative) return -infinity;
    return (keeps_negative ? std::min(keep_.at_least, -keep_.at_most) : keep_.at_least) - 1e-9;
  }

  best_neighbors& of(index_t row) {
    return best_[static_cast<std::size_t>(row - strip_.row_begin)];
  }
  [[nodiscard]] double rank(double r) const { return by_magnitude_ ? std::abs(r) : r; }

  void offer_all(const pair_tile& tile) {
    for_each_block(rows_, tile, scratch_, [&](const pair_tile& block, const double* statistics) {
      for (index_t i = block.row_begin; i < block.row_end; ++i) {
        const double* row = statistics + (i - block.row_begin) * pair_policy::block_cols;
        best_neighbors& neighbors = of(i);
        double bar = neighbors.worst(k_);
        for (index_t c = 0; c < block.cols(); ++c) {
          if (!(rank(row[c]) > bar)) continue;
          const index_t j = block.col_begin + c;
          if (i == j || !keep_.keeps(row[c])) continue;
          neighbors.offer({rank(row[c]), row[c], original_[static_cast<std::size_t>(j)]}, k_);
          bar = neighbors.worst(k_);
        }
      }
    });
  }

  void offer_above(const pair_tile& tile) {
    double bars[pair_policy::task_rows];
    for (index_t i = 0; i < tile.rows(); ++i) {
      bars[i] = std::max(of(tile.row_begin + i).worst(k_), least_rank());
    }
    struct context {
      neighbor_search& search;
      const pair_tile& tile;
    } shared{*this, tile};
    const auto offer = [](void* opaque, index_t row, index_t col, double r) {
      const context& c = *static_cast<context*>(opaque);
      if (!c.search.keep_.keeps(r)) return;
      const node_id j = c.search.original_[static_cast<std::size_t>(c.tile.col_begin + col)];
      c.search.of(c.tile.row_begin + row).offer({c.search.rank(r), r, j}, c.search.k_);
    };
    rows_.above(tile, bars, by_magnitude_, scratch_, {.take = offer, .context = &shared});
  }

  const pair_rows& rows_;
  const std::vector<node_id>& original_;
  const detail::keep_range& keep_;
  std::size_t k_;
  bool by_magnitude_;
  pair_tile strip_;
  pair_scratch& scratch_;
  std::vector<best_neighbors> best_;
};

// Every row meets every other one, so each pair is computed twice: rows are then independent, and
// no thread waits for another. After the first columns only pairs that may enter a list are looked
// at. Between windows the lists wait in the result.
void pair_engine::top_k(const detail::top_k_request& request, neighbor_table& out) {
  std::fill_n(out.index.data(), out.index.rows() * out.index.cols(), neighbor_table::no_neighbor);
  std::fill_n(out.statistic.data(), out.statistic.rows() * out.statistic.cols(), nan_value);
  std::fill(out.count.begin(), out.count.end(), node_id{0});
  if (size() == 0) return;
  detail::pair_progress meter(on_progress_, "pairs", upper_pairs(0, size(), size()));
  if (!source_) {
    const pair_tile all{.row_begin = 0, .row_end = size(), .col_begin = 0, .col_end = size()};
    top_k_of_window(request, all, false, meter, out);
  }
  for (index_t i = 0; source_ && i < size(); i += half_window_) {
    const row_range rows{i, std::min(i + half_window_, size())};
    for (index_t j = 0; j < size(); j += half_window_) {
      const row_range cols{j, std::min(j + half_window_, size())};
      pair_tile area{
          .row_begin = 0, .row_end = rows.size(), .col_begin = 0, .col_end = cols.size()};
      // The earlier range comes first: it is half a window, and the columns behind it begin with a
      // whole group.
      load(j < i ? cols : rows, i == j ? row_range{} : (j < i ? rows : cols));
      if (j < i) {
        area.row_begin += cols.size();
        area.row_end += cols.size();
      } else if (j > i) {
        area.col_begin += rows.size();
        area.col_end += rows.size();
      }
      top_k_of_window(request, area, j > 0, meter, out);
    }
  }
  meter.finish();
}

void pair_engine::top_k_of_window(const detail::top_k_request& request, const pair_tile& area,
                                  bool resumes, detail::pair_progress& meter, neighbor_table& out) {
  rows_->prepare({.wanted = pair_task::output::above});
  const auto search = [&](const pair_tile& strip, int thread) {
    neighbor_search found(*this, request, strip, scratch(thread));
    for (index_t i = strip.row_begin; resumes && i < strip.row_end; ++i) {
      found.read(i, original(i), out);
    }
    found.run();
    for (index_t i = strip.row_begin; i < strip.row_end; ++i) found.write(i, original(i), out);
  };
  const index_t step = panel_rows();
  const index_t rows_at_once = step >= 4 * threads_ * pair_policy::task_rows && area.rows() >= step
                                   ? pair_policy::task_rows
                                   : pair_policy::block_rows;
  for (index_t begin = area.row_begin; begin < area.row_end; begin += step) {
    const index_t end = std::min(begin + step, area.row_end);
    std::vector<pair_tile> strips;
    for (index_t i = begin; i < end; i += rows_at_once) {
      strips.push_back({.row_begin = i,
                        .row_end = std::min(i + rows_at_once, end),
                        .col_begin = area.col_begin,
                        .col_end = area.col_end});
    }
    for_each_tile(strips, search);
    // Across two ranges a pair is met in two windows.
    meter.advance(second_.is_empty() ? pairs_in(begin, end)
                                     : static_cast<std::uint64_t>((end - begin) * area.cols()) / 2);
  }
}

}  // namespace gpu::cpu
