#include "pairs/delivery/kept_edges.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <iterator>
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

// Writes at most `most` edges into a list. Where there are more, or where the engine's estimate
// says so and is trusted, the list stays empty.
class list_receiver final : public detail::edge_receiver {
 public:
  list_receiver(const kept_edges& kept, std::uint64_t most, bool trusts_estimate, array<edge>& list)
      : list_(list),
        most_(most),
        trusts_estimate_(trusts_estimate),
        takes_packed_(unpacks_fast(kept.threads())),
        writer_(list, kept.test().p_of(), kept.threads()) {}

  void begin(const detail::edge_estimate& estimate) override {
    const auto limit = static_cast<double>(most_);
    if (trusts_estimate_ && estimate.least > limit) return stop();
    writer_.expect(std::min(estimate.least, limit), std::min(estimate.most, limit));
  }
  std::span<edge> room(std::size_t count) override {
    return has_place(count) ? writer_.room(count) : std::span<edge>();
  }
  void take(const detail::edge_batch& batch) override {
    if (has_place(batch.edges.size())) writer_.append(batch);
  }
  [[nodiscard]] bool takes_packed() const override { return takes_packed_; }
  void take_packed(const detail::packed_edges& edges, const pair_checksum& sum) override {
    if (has_place(edges.count)) writer_.append(edges, sum);
  }
  [[nodiscard]] bool wants_more() const override {
    return !is_over_.load(std::memory_order_relaxed);
  }

  /// Nothing where there were too many.
  [[nodiscard]] std::optional<pair_checksum> checksum() const {
    if (is_over_) return std::nullopt;
    return writer_.checksum();
  }

 private:
  bool has_place(std::size_t count) {
    if (!is_over_ && count > most_ - list_.size()) stop();
    return !is_over_;
  }
  void stop() {
    list_ = {};
    is_over_ = true;
  }

  array<edge>& list_;
  std::uint64_t most_;
  bool trusts_estimate_;
  bool takes_packed_;
  edge_list_writer writer_;
  std::atomic<bool> is_over_ = false;
};

std::optional<pair_checksum> fill_list(kept_edges& kept, edge_order order, std::uint64_t most,
                                       bool trusts_estimate, array<edge>& list) {
  list_receiver receiver(kept, most, trusts_estimate, list);
  kept.deliver(order, edge_list_batch, receiver);
  return receiver.checksum();
}

// Adds up the checksum of what it hands to a consumer.
class stream_receiver final : public detail::edge_receiver {
 public:
  stream_receiver(const stream_sink& sink, int threads) : sink_(sink), threads_(threads) {}
  void take(const detail::edge_batch& batch) override {
    sum_ += batch.checksum != nullptr ? *batch.checksum : stats::checksum_of(batch.edges, threads_);
    sink_.consume(batch.edges);
  }
  [[nodiscard]] const pair_checksum& checksum() const { return sum_; }

 private:
  const stream_sink& sink_;
  int threads_;
  pair_checksum sum_;
};

// Fills p by the rows of each edge, on the way to another receiver.
class tested_receiver final : public detail::edge_receiver {
 public:
  tested_receiver(const detail::pair_test& test, int threads, detail::edge_receiver& to)
      : test_(test), threads_(threads), to_(to) {}

  void begin(const detail::edge_estimate& estimate) override { to_.begin(estimate); }
  std::span<edge> room(std::size_t count) override { return to_.room(count); }
  void take(const detail::edge_batch& batch) override {
    fill(batch.edges);
    to_.take(batch);
  }
  [[nodiscard]] bool wants_more() const override { return to_.wants_more(); }

 private:
  void fill(std::span<edge> edges) const {
    constexpr index_t edges_to_fill = 8192;
    detail::parallel_for_each(std::ssize(edges), edges_to_fill, threads_, [&](index_t i, int) {
      edge& own = edges[static_cast<std::size_t>(i)];
      own.p = test_.p(own.statistic, index_t{own.row}, index_t{own.col});
    });
  }

  const detail::pair_test& test_;
  int threads_;
  detail::edge_receiver& to_;
};

}  // namespace

kept_edges::kept_edges(detail::pair_engine& engine, const detail::pair_test& test, int threads)
    : engine_(engine), test_(test), threads_(detail::thread_count(threads)) {}

std::uint64_t kept_edges::count() {
  pair_counts counts;
  engine_.counts(
      {.keep = test_.keep(), .histogram_bins = 0, .cuts = test_.cuts(), .tied = test_.tied_cut()},
      counts);
  return counts.kept;
}

void kept_edges::deliver(edge_order order, index_t batch_edges, detail::edge_receiver& receiver) {
  const stats::p_function p_of = test_.p_of();
  tested_receiver with_p(test_, threads_, receiver);
  engine_.edges({.keep = test_.keep(),
                 .order = order,
                 .batch_edges = batch_edges,
                 .p_of = p_of,
                 .cuts = test_.cuts(),
                 .tied = test_.tied_cut()},
                p_of.table != nullptr ? receiver : with_p);
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
  stream_receiver receiver(sink, kept.threads());
  kept.deliver(sink.order, sink.batch_edges, receiver);
  return receiver.checksum();
}

}  // namespace gpu::delivery
