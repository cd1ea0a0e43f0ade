// Edges of the CPU pair engine: hits of a panel of rows are collected per thread, then put into the
// order (row, column) by counting, converted and delivered in batches.
#include <algorithm>
#include <atomic>
#include <span>
#include <vector>

#include "cpu/pair_engine.hpp"

namespace gpu::cpu {

class pair_engine::edge_writer {
 public:
  edge_writer(pair_engine& engine, const detail::edge_request& request,
              const detail::edge_receiver& receive)
      : engine_(engine),
        request_(request),
        receive_(receive),
        hits_(static_cast<std::size_t>(engine.threads_)) {}

  // Finds the edges of `tiles`. False, with nothing kept, where they are more than a panel may
  // hold and the panel can be made smaller.
  bool collect(const std::vector<pair_tile>& tiles, bool divisible);
  // Puts the found edges in order behind those that wait, and delivers full batches.
  void flush();
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
  std::vector<edge> waiting_;
};

bool pair_engine::edge_writer::collect(const std::vector<pair_tile>& tiles, bool divisible) {
  for (auto& hits : hits_) hits.clear();
  parts_.assign(tiles.size(), {});
  std::atomic<std::size_t> found{0};
  team_ = engine_.team_for(tiles);
  parallel_for(static_cast<index_t>(tiles.size()), team_, [&](index_t t, int thread) {
    if (divisible && found.load(std::memory_order_relaxed) > engine_.panel_edges_) return;
    const auto index = static_cast<std::size_t>(t);
    auto& hits = hits_[static_cast<std::size_t>(thread)];
    const std::size_t begin = hits.size();
    engine_.rows_->matches(tiles[index], request_.keep, engine_.scratch(thread), hits);
    parts_[index] = {tiles[index], thread, begin, hits.size() - begin};
    found.fetch_add(hits.size() - begin, std::memory_order_relaxed);
  });
  found_ = found.load();
  return !divisible || found_ <= engine_.panel_edges_;
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

void pair_engine::edges(const detail::edge_request& request, const detail::edge_receiver& receive) {
  rows_->prepare(&request.keep);
  edge_writer writer(*this, request, receive);
  detail::pair_progress meter(on_progress_, "pairs", upper_pairs(0, size(), size()));
  const index_t most = panel_rows();
  index_t step = most;
  for (index_t begin = 0; begin < size();) {
    const index_t end = std::min(begin + step, size());
    const std::vector<pair_tile> tiles = upper_tiles(begin, end);
    if (!writer.collect(tiles, end - begin > 1)) {
      step = std::max<index_t>(1, (end - begin) / 2);
      continue;
    }
    if (writer.found() < panel_edges_ / 4) step = std::min(most, step * 2);
    writer.flush();
    meter.advance(upper_pairs(begin, end, size()));
    begin = end;
  }
  writer.finish();
  meter.finish();
}

}  // namespace gpu::cpu
