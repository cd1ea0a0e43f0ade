#include "cpu/pairs/collected_hits.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>

namespace gpu::cpu {
namespace {

// Hits of a tile that a thread should have at a time: 1 MiB, or where memory is short as many as
// leave all threads' an eighth of those that may wait.
constexpr std::size_t hits_of_a_tile = 1 << 16;
std::size_t tile_hits(std::size_t panel_edges, int threads) {
  if (panel_edges >= pair_policy::panel_edges) return hits_of_a_tile;
  return std::min(hits_of_a_tile, panel_edges / (8 * static_cast<std::size_t>(threads)));
}

}  // namespace

cpu_engine::collected_hits::collected_hits(cpu_engine& engine, const detail::edge_request& request,
                                           detail::edge_receiver& receiver)
    : engine_(engine),
      request_(request),
      receiver_(receiver),
      of_thread_(static_cast<std::size_t>(engine.threads_)),
      hits_(static_cast<std::size_t>(
          std::min(std::uint64_t{engine.panel_edges_}, engine.pairs_of(engine.area_rows())))) {}

index_t cpu_engine::collected_hits::tile_cols(const pair_search& search) const {
  const pair_estimate estimate = search.estimate();
  const bool is_known = share_ >= 0 || estimate.sampled > 0;
  const double share = is_known ? std::max(share_, estimate.kept) : 1;
  const std::size_t hits = tile_hits(engine_.panel_edges_, engine_.threads_);
  const double fitting = static_cast<double>(hits) /
                         (static_cast<double>(pair_policy::task_rows) * std::max(share, 1e-9));
  if (fitting >= static_cast<double>(pair_policy::task_cols)) return pair_policy::task_cols;
  const index_t step =
      hits < hits_of_a_tile ? pair_policy::window_step : pair_policy::short_row_task_cols;
  return std::max(static_cast<index_t>(fitting) / step * step, step);
}

index_t cpu_engine::collected_hits::rows_that_fit(const pair_search& search, index_t cols) const {
  const double share = std::max(share_, search.estimate().kept);
  // Some room for rows that keep more than others.
  const double fitting =
      0.6 * static_cast<double>(hits_.size()) / std::max(share * static_cast<double>(cols), 1e-9);
  if (fitting >= static_cast<double>(engine_.size())) return std::max<index_t>(engine_.size(), 1);
  const auto rows = std::max<index_t>(1, static_cast<index_t>(fitting));
  // Whole blocks of rows, which the kernels take at a time.
  constexpr index_t block = pair_policy::block_rows;
  return rows > block ? rows / block * block : rows;
}

bool cpu_engine::collected_hits::collect(pair_search& search, index_t row_begin, index_t row_end,
                                         bool must_fit) {
  const std::vector<pair_tile> tiles = engine_.upper_tiles(row_begin, row_end, tile_cols(search));
  const auto most_of_row = static_cast<std::size_t>((row_end - row_begin) * engine_.window_cols());
  if (must_fit && hits_.size() < found_ + most_of_row) {
    aligned_buffer<pair_hit> larger(found_ + most_of_row);
    std::copy_n(hits_.data(), found_, larger.data());
    hits_ = std::move(larger);
  }
  const std::size_t first_part = parts_.size();
  parts_.resize(first_part + tiles.size());
  std::atomic<std::size_t> end{found_};
  std::atomic<std::uint64_t> pairs{0};
  engine_.for_each_tile(tiles, [&](const pair_tile& tile, int thread) {
    if (end.load(std::memory_order_relaxed) > hits_.size()) return;
    hit_buffer& found = of_thread_[static_cast<std::size_t>(thread)];
    found.clear();
    search.matches(tile, search.scratch(thread), found);
    pairs.fetch_add(static_cast<std::uint64_t>(tile.rows() * tile.cols()),
                    std::memory_order_relaxed);
    const std::size_t count = found.hits().size();
    const std::size_t begin = end.fetch_add(count, std::memory_order_relaxed);
    if (begin + count > hits_.size()) return;
    std::transform(found.hits().begin(), found.hits().end(), hits_.data() + begin,
                   [&](pair_hit hit) {
                     hit.col = static_cast<node_id>(engine_.result_col(index_t{hit.col}));
                     return hit;
                   });
    parts_[first_part + static_cast<std::size_t>(&tile - tiles.data())] = {
        tile.row_begin, tile.rows(), begin, count};
  });
  if (pairs > 0) share_ = static_cast<double>(end.load() - found_) / static_cast<double>(pairs);
  if (end > hits_.size()) {
    parts_.resize(first_part);
    return false;
  }
  found_ = end;
  return true;
}

void cpu_engine::collected_hits::tell_expected(const pair_estimate& estimate) {
  constexpr double least_sampled_edges = 400;
  const double seen = estimate.kept * static_cast<double>(estimate.sampled);
  if (seen < least_sampled_edges) return;
  // Two standard deviations on either side.
  const double deviation = 2 * estimate.kept / std::sqrt(seen);
  const double pairs = static_cast<double>(engine_.pairs_of(engine_.area_rows()));
  receiver_.begin({.least = (estimate.kept - deviation) * pairs,
                   .most = std::min(1.0, estimate.kept + deviation) * pairs});
}

void cpu_engine::collected_hits::drop_from(index_t row) {
  std::vector<part*> by_place;
  for (part& p : parts_) by_place.push_back(&p);
  std::sort(by_place.begin(), by_place.end(),
            [](const part* a, const part* b) { return a->begin < b->begin; });
  std::size_t end = 0;
  for (part* p : by_place) {
    pair_hit* const first = hits_.data() + p->begin;
    pair_hit* const to = hits_.data() + end;
    const auto stays = [row](const pair_hit& hit) { return index_t{hit.row} < row; };
    const auto count = static_cast<std::size_t>(std::copy_if(first, first + p->count, to, stays) -
                                                to);  // never behind what is read
    p->begin = end;
    p->count = count;
    end += count;
  }
  found_ = end;
}

std::vector<std::size_t> cpu_engine::collected_hits::places(std::size_t first_place) const {
  index_t row_begin = parts_.front().row_begin;
  index_t row_end = row_begin;
  std::size_t rows = 0;
  for (const part& p : parts_) {
    row_begin = std::min(row_begin, p.row_begin);
    row_end = std::max(row_end, p.row_begin + p.rows);
    rows += static_cast<std::size_t>(p.rows);
  }
  std::vector<std::size_t> out(rows);
  detail::parallel_for(
      static_cast<index_t>(parts_.size()), engine_.threads_, [&](index_t index, int) {
        const part& p = parts_[static_cast<std::size_t>(index)];
        std::size_t* const counts = out.data() + first_row_[static_cast<std::size_t>(index)];
        for (const pair_hit& hit : hits_of(p)) ++counts[index_t{hit.row} - p.row_begin];
      });
  // By row, its parts in turn.
  std::vector<std::size_t> next(static_cast<std::size_t>(row_end - row_begin) + 1);
  const auto for_each_count = [&](const auto& body) {
    for (std::size_t k = 0; k < parts_.size(); ++k) {
      const auto first = static_cast<std::size_t>(parts_[k].row_begin - row_begin);
      for (std::size_t i = 0; i < static_cast<std::size_t>(parts_[k].rows); ++i) {
        body(first + i, out[first_row_[k] + i]);
      }
    }
  };
  for_each_count([&](std::size_t row, std::size_t count) { next[row + 1] += count; });
  next[0] = first_place;
  for (std::size_t i = 1; i < next.size(); ++i) next[i] += next[i - 1];
  for_each_count([&](std::size_t row, std::size_t& count) {
    const std::size_t place = next[row];
    next[row] += count;
    count = place;
  });
  return out;
}

void cpu_engine::collected_hits::write_found(edge* out, std::size_t first,
                                             stats::thread_checksums* sums) {
  first_row_.clear();
  std::size_t rows = 0;
  for (const part& p : parts_) {
    first_row_.push_back(rows);
    rows += static_cast<std::size_t>(p.rows);
  }
  std::vector<std::size_t> place = places(first);
  detail::parallel_for(
      static_cast<index_t>(parts_.size()), engine_.threads_, [&](index_t index, int thread) {
        const part& p = parts_[static_cast<std::size_t>(index)];
        std::size_t* const next = place.data() + first_row_[static_cast<std::size_t>(index)];
        const bool wants_p = request_.p_of.table != nullptr;
        pair_checksum sum;
        for (const pair_hit& hit : hits_of(p)) {
          const edge written = {.row = engine_.original_[hit.row],
                                .col = hit.col,
                                .statistic = hit.statistic,
                                .p = wants_p ? request_.p_of(hit.statistic) : 0};
          out[next[index_t{hit.row} - p.row_begin]++] = written;
          if (sums != nullptr) sum += checksum_of(written.row, written.col, written.statistic);
        }
        if (sums != nullptr) sums->add(thread, sum);
      });
}

void cpu_engine::collected_hits::flush() {
  if (found_ > 0) {
    const std::span<edge> room = waiting_count_ == 0 ? receiver_.room(found_) : std::span<edge>();
    if (room.size() == found_) {
      stats::thread_checksums sums(engine_.threads_);
      write_found(room.data(), 0, &sums);
      const pair_checksum sum = sums.total();
      receiver_.take({room, &sum});
    } else {
      make_room_to_wait(waiting_count_ + found_);
      write_found(waiting_.data(), waiting_count_, nullptr);
      waiting_count_ += found_;
    }
  }
  found_ = 0;
  parts_.clear();
  deliver(static_cast<std::size_t>(request_.batch_edges));
}

void cpu_engine::collected_hits::make_room_to_wait(std::size_t edges) {
  if (edges <= waiting_.size()) return;
  aligned_buffer<edge> larger(std::max(edges, std::min(2 * waiting_.size(), hits_.size())));
  std::copy_n(waiting_.data(), waiting_count_, larger.data());
  waiting_ = std::move(larger);
}

void cpu_engine::collected_hits::deliver(std::size_t least) {
  const auto batch = static_cast<std::size_t>(request_.batch_edges);
  std::size_t begin = 0;
  while (waiting_count_ - begin >= std::max<std::size_t>(least, 1)) {
    const std::size_t count = std::min(batch, waiting_count_ - begin);
    receiver_.take({std::span(waiting_.data() + begin, count)});
    begin += count;
  }
  if (begin == 0) return;
  std::copy(waiting_.data() + begin, waiting_.data() + waiting_count_, waiting_.data());
  waiting_count_ -= begin;
}

}  // namespace gpu::cpu
