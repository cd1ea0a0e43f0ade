#include "pairs/delivery/kept_edges.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>

#include "base/parallel.hpp"
#include "pairs/checks.hpp"
#include "pairs/delivery/edge_list_writer.hpp"
#include "pairs/delivery/unpack_edges.hpp"
#include "stats/pair_checksums.hpp"

namespace gpu::delivery {
namespace {

// Largest batch of edges between an engine and a list.
constexpr index_t edge_list_batch = index_t{1} << 20;

// Fills `list` with at most `most` edges and returns their checksum. Returns nothing and leaves the
// list empty where there are more, or where the engine's estimate, if it is trusted, says so.
std::optional<pair_checksum> fill_list(kept_edges& kept, edge_order order, std::uint64_t most,
                                       bool trusts_expected, array<edge>& list) {
  std::atomic<bool> enough = false;
  edge_list_writer writer(list, kept.p_of(), kept.threads());
  const auto stop = [&] {
    list = {};
    enough = true;
  };
  const auto expect = [&](double least, double room) {
    const auto limit = static_cast<double>(most);
    if (trusts_expected && least > limit) return stop();
    writer.expect(std::min(least, limit), std::min(room, limit));
  };
  const auto room = [&](std::size_t count) {
    if (!enough && count > most - list.size()) stop();
    return enough ? std::span<edge>() : writer.room(count);
  };
  kept.deliver({.keep = {},
                .order = order,
                .batch_edges = edge_list_batch,
                .enough = &enough,
                .expect = expect,
                .room = room,
                .takes_packed = unpacks_fast(kept.threads())},
               [&](const detail::edge_batch& batch) {
                 if (enough) return;
                 if (batch.size() > most - list.size()) return stop();
                 writer.append(batch);
               });
  if (enough) return std::nullopt;
  return writer.checksum();
}

}  // namespace

kept_edges::kept_edges(detail::pair_engine& engine, const detail::measure_traits& what,
                       const detail::keep_range& keep, tail side, int threads,
                       const detail::missing_values* missing)
    : engine_(engine),
      keep_(keep),
      missing_(missing),
      threads_(cpu::thread_count(threads)),
      p_values_(what.info.test, engine.rows().cols, side, threads_) {}

std::uint64_t kept_edges::count() {
  pair_counts counts;
  engine_.counts({.keep = keep_,
                  .histogram_bins = 0,
                  .cuts = missing_ == nullptr ? nullptr : missing_->cuts.get()},
                 counts);
  return counts.kept;
}

void kept_edges::fill_p_by_observations(std::span<edge> edges) const {
  constexpr index_t edges_per_task = 8192;
  const auto count = static_cast<index_t>(edges.size());
  cpu::parallel_for(
      (count + edges_per_task - 1) / edges_per_task, threads_, [&](index_t task, int) {
        const index_t end = std::min(count, (task + 1) * edges_per_task);
        for (index_t i = task * edges_per_task; i < end; ++i) {
          edge& own = edges[static_cast<std::size_t>(i)];
          own.p = missing_->tests->p(
              own.statistic,
              missing_->present.shared(index_t{own.row}, missing_->first_col + index_t{own.col}));
        }
      });
}

pair_checksum list_edges(kept_edges& kept, const edge_sink& sink, array<edge>& list) {
  const auto most = static_cast<std::uint64_t>(sink.max_edges);
  const bool is_limited = sink.max_edges < std::numeric_limits<index_t>::max();
  std::optional<pair_checksum> checksum = fill_list(kept, sink.order, most, is_limited, list);
  if (!checksum) {
    const std::uint64_t count = kept.count();
    if (count <= most) checksum = fill_list(kept, sink.order, most, false, list);
    if (!checksum) {
      validate::throw_over_capacity("edge_sink", "pairs", static_cast<index_t>(count),
                                    sink.max_edges);
    }
  }
  list.shrink_to_fit();
  return *checksum;
}

pair_checksum stream_edges(kept_edges& kept, const stream_sink& sink) {
  pair_checksum sum;
  kept.deliver({.keep = {}, .order = sink.order, .batch_edges = sink.batch_edges},
               [&](const detail::edge_batch& batch) {
                 sum += batch.checksum != nullptr ? *batch.checksum
                                                  : stats::checksum_of(batch.edges, kept.threads());
                 sink.consume(batch.edges);
               });
  return sum;
}

}  // namespace gpu::delivery
