// Edges of the CPU pair engine: hits of a panel of rows are collected per thread, then put into the
// order (row, column) by counting, converted and delivered in batches. Where rows come in windows,
// the hits of a range of rows wait until it has met all columns.
#include <algorithm>
#include <atomic>
#include <limits>
#include <span>
#include <vector>

#include "cpu/pairs/engine.hpp"
#include "cpu/pairs/loops/kernels.hpp"

namespace gpu::cpu {
namespace {

constexpr std::size_t no_limit = std::numeric_limits<std::size_t>::max();

}  // namespace

class pair_engine::edge_writer {
 public:
  edge_writer(pair_engine& engine, const detail::edge_request& request,
              const detail::edge_receiver& receive)
      : engine_(engine),
        request_(request),
        receive_(receive),
        hits_(static_cast<std::size_t>(engine.threads_)) {}

  // Finds the edges of `tiles`. False, with nothing kept, where they are more than `most`.
  bool collect(const std::vector<pair_tile>& tiles, std::size_t most);
  // Puts the found edges in order behind those that wait, and delivers full batches.
  void flush();
  // In place of flush(): lets the found edges wait for those of further columns. Rows are counted
  // from the first of the window, and stay the same from window to window.
  void hold();
  [[nodiscard]] std::size_t held() const { return held_.size(); }
  // Forgets the held edges of rows from `row` on.
  void drop_from(index_t row);
  // Puts the held edges in order behind those that wait, and delivers full batches.
  void flush_held();
  // Delivers what waits.
  void finish() { deliver(0); }
  [[nodiscard]] std::size_t found() const { return found_; }

 private:
  // What one tile found: a range of one thread's hits.
  struct part {
    pair_tile tile;
    int thread;
    std::size_t begin;
    std::size_t count;
  };

  void deliver(std::size_t least);

  pair_engine& engine_;
  const detail::edge_request& request_;
  const detail::edge_receiver& receive_;
  std::vector<std::vector<pair_hit>> hits_;  // per thread
  std::vector<part> parts_;                  // per tile
  std::size_t found_ = 0;
  int team_ = 1;
  std::vector<pair_hit> held_;  // row of the window, column as original() numbers it
  std::vector<edge> waiting_;
};

bool pair_engine::edge_writer::collect(const std::vector<pair_tile>& tiles, std::size_t most) {
  for (auto& hits : hits_) hits.clear();
  parts_.assign(tiles.size(), {});
  std::atomic<std::size_t> found{0};
  team_ = engine_.team_for(tiles);
  parallel_for(static_cast<index_t>(tiles.size()), team_, [&](index_t t, int thread) {
    if (found.load(std::memory_order_relaxed) > most) return;
    const auto index = static_cast<std::size_t>(t);
    auto& hits = hits_[static_cast<std::size_t>(thread)];
    const std::size_t begin = hits.size();
    engine_.rows_->matches(tiles[index], request_.keep, engine_.scratch(thread), hits);
    parts_[index] = {tiles[index], thread, begin, hits.size() - begin};
    found.fetch_add(hits.size() - begin, std::memory_order_relaxed);
  });
  found_ = found.load();
  return found_ <= most;
}

void pair_engine::edge_writer::flush() {
  if (found_ == 0) return;
  // Tiles come with their columns ascending, so the edges of a row are those of its tiles in turn.
  index_t row_begin = parts_.front().tile.row_begin;
  index_t row_end = parts_.front().tile.row_end;
  for (const part& p : parts_) {
    row_begin = std::min(row_begin, p.tile.row_begin);
    row_end = std::max(row_end, p.tile.row_end);
  }
  std::vector<std::vector<std::size_t>> offsets(parts_.size());
  const auto hits_of = [&](const part& p) {
    return std::span(hits_[static_cast<std::size_t>(p.thread)]).subspan(p.begin, p.count);
  };
  parallel_for(static_cast<index_t>(parts_.size()), team_, [&](index_t t, int) {
    const part& p = parts_[static_cast<std::size_t>(t)];
    if (p.count == 0) return;
    auto& counts = offsets[static_cast<std::size_t>(t)];
    counts.assign(static_cast<std::size_t>(p.tile.rows()), 0);
    for (const pair_hit& hit : hits_of(p)) {
      ++counts[static_cast<std::size_t>(static_cast<index_t>(hit.row) - p.tile.row_begin)];
    }
  });
  std::vector<std::size_t> next_of_row(static_cast<std::size_t>(row_end - row_begin) + 1);
  for (std::size_t t = 0; t < parts_.size(); ++t) {
    const auto first = static_cast<std::size_t>(parts_[t].tile.row_begin - row_begin);
    for (std::size_t i = 0; i < offsets[t].size(); ++i) next_of_row[first + i + 1] += offsets[t][i];
  }
  next_of_row[0] = waiting_.size();
  for (std::size_t i = 1; i < next_of_row.size(); ++i) next_of_row[i] += next_of_row[i - 1];
  for (std::size_t t = 0; t < parts_.size(); ++t) {
    const auto first = static_cast<std::size_t>(parts_[t].tile.row_begin - row_begin);
    for (std::size_t i = 0; i < offsets[t].size(); ++i) {
      const std::size_t count = offsets[t][i];
      offsets[t][i] = next_of_row[first + i];
      next_of_row[first + i] += count;
    }
  }

  waiting_.resize(waiting_.size() + found_);
  parallel_for(static_cast<index_t>(parts_.size()), team_, [&](index_t t, int) {
    const part& p = parts_[static_cast<std::size_t>(t)];
    auto& next = offsets[static_cast<std::size_t>(t)];
    for (const pair_hit& hit : hits_of(p)) {
      const auto row = static_cast<std::size_t>(static_cast<index_t>(hit.row) - p.tile.row_begin);
      waiting_[next[row]++] = {.row = engine_.original_[hit.row],
                               .col = engine_.original_[hit.col],
                               .statistic = hit.statistic,
                               .p = 0.0};
    }
  });
  found_ = 0;
  deliver(static_cast<std::size_t>(request_.batch_edges));
}

void pair_engine::edge_writer::deliver(std::size_t least) {
  const auto batch = static_cast<std::size_t>(request_.batch_edges);
  std::size_t begin = 0;
  while (waiting_.size() - begin >= std::max<std::size_t>(least, 1)) {
    const std::size_t count = std::min(batch, waiting_.size() - begin);
    receive_(std::span(waiting_).subspan(begin, count));
    begin += count;
  }
  waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(begin));
}

void pair_engine::edge_writer::hold() {
  held_.reserve(engine_.panel_edges_);
  for (const auto& hits : hits_) {
    for (const pair_hit& hit : hits) {
      held_.push_back({hit.row, engine_.original_[hit.col], hit.statistic});
    }
  }
  found_ = 0;
}

void pair_engine::edge_writer::drop_from(index_t row) {
  std::erase_if(held_, [row](const pair_hit& hit) { return index_t{hit.row} >= row; });
}

void pair_engine::edge_writer::flush_held() {
  std::sort(held_.begin(), held_.end(), [](const pair_hit& a, const pair_hit& b) {
    return a.row != b.row ? a.row < b.row : a.col < b.col;
  });
  const auto batch = static_cast<std::size_t>(request_.batch_edges);
  for (const pair_hit& hit : held_) {
    waiting_.push_back(
        {.row = engine_.original_[hit.row], .col = hit.col, .statistic = hit.statistic, .p = 0.0});
    if (waiting_.size() >= batch) deliver(batch);
  }
  held_.clear();
}

void pair_engine::edges_of_window(edge_writer& writer, const detail::keep_range& keep,
                                  detail::pair_progress& meter) {
  rows_->prepare(&keep);
  const index_t most = panel_rows();
  index_t step = most;
  for (index_t begin = 0; begin < first_.size();) {
    const index_t end = std::min(begin + step, first_.size());
    if (!writer.collect(upper_tiles(begin, end), end - begin > 1 ? panel_edges_ : no_limit)) {
      step = std::max<index_t>(1, (end - begin) / 2);
      continue;
    }
    if (writer.found() < panel_edges_ / 4) step = std::min(most, step * 2);
    writer.flush();
    meter.advance(pairs_in(begin, end));
    begin = end;
  }
}

// A range of rows meets all columns before the next one. Where it has more edges than may wait, it
// is made smaller on the way: what its first rows have is kept.
void pair_engine::ordered_edges(edge_writer& writer, const detail::keep_range& keep,
                                detail::pair_progress& meter) {
  index_t step = half_window_;
  for (index_t begin = 0; begin < size();) {
    index_t rows = std::min(step, size() - begin);
    std::uint64_t reported = 0;
    const auto search_window = [&] {
      rows_->prepare(&keep);
      for (index_t from = 0; from < rows;) {
        const index_t to = std::min(from + panel_rows(), rows);
        const std::size_t left = panel_edges_ - std::min(panel_edges_, writer.held());
        if (!writer.collect(upper_tiles(from, to), rows > 1 ? left : no_limit)) {
          rows = std::max<index_t>(1, rows / 2);
          writer.drop_from(rows);
          continue;
        }
        writer.hold();
        const std::uint64_t in_range = upper_pairs(begin, begin + rows, size());
        const std::uint64_t news =
            std::min(pairs_in(from, to), in_range - std::min(in_range, reported));
        reported += news;
        meter.advance(news);
        from = to;
      }
    };
    const index_t whole = std::min(begin + 2 * half_window_, size());
    load({begin, whole}, {});
    search_window();
    for (index_t col = whole; col < size();) {
      // Whole groups of columns before the others.
      const index_t first = round_up(rows, pair_policy::window_step);
      const index_t end = std::min(col + 2 * half_window_ - first, size());
      load({begin, begin + first}, {col, end});
      search_window();
      col = end;
    }
    const bool is_few = writer.held() < panel_edges_ / 4;
    writer.flush_held();
    const std::uint64_t in_range = upper_pairs(begin, begin + rows, size());
    meter.advance(in_range - std::min(in_range, reported));
    begin += rows;
    step = is_few ? std::min(half_window_, 2 * rows) : rows;
  }
}

void pair_engine::edges(const detail::edge_request& request, const detail::edge_receiver& receive) {
  edge_writer writer(*this, request, receive);
  detail::pair_progress meter(on_progress_, "pairs", upper_pairs(0, size(), size()));
  if (source_ && request.order != edge_order::unspecified) {
    ordered_edges(writer, request.keep, meter);
  } else {
    for_each_window([&] { edges_of_window(writer, request.keep, meter); });
  }
  writer.finish();
  meter.finish();
}

}  // namespace gpu::cpu
