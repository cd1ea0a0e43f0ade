// The edges of a folded engine: between patterns, or spread over their rows, as they are found or
// in the order (row, column).
#include <algorithm>
#include <atomic>
#include <utility>

#include "base/parallel.hpp"
#include "pairs/folding/folded_engine.hpp"
#include "stats/significance/edge_p_values.hpp"

namespace gpu::inline v0::detail {
namespace {

// Collects edges into batches and hands these to deliver(std::span<Edge>).
template <class Edge, class Deliver>
class batch_writer {
 public:
  batch_writer(index_t batch_edges, Deliver deliver)
      : most_(static_cast<std::size_t>(batch_edges)), deliver_(std::move(deliver)) {
    batch_.reserve(std::min(most_, first_reserve));
  }
  void write(const Edge& edge) {
    batch_.push_back(edge);
    if (batch_.size() == most_) flush();
  }
  void flush() {
    if (!batch_.empty()) deliver_(std::span(batch_));
    batch_.clear();
  }

 private:
  static constexpr std::size_t first_reserve = std::size_t{1} << 20;
  std::size_t most_;
  Deliver deliver_;
  std::vector<Edge> batch_;
};

// Fills p of a batch and hands it on.
struct edge_delivery {
  stats::p_function p_of;
  int threads;
  edge_receiver& receiver;
  void operator()(std::span<edge> batch) const {
    stats::fill_p(p_of, batch, threads);
    receiver.take({batch});
  }
};
using edge_batches = batch_writer<edge, edge_delivery>;

// What is asked of the engine of the patterns, whose edges are still to be spread.
edge_request between_patterns(const edge_request& request) {
  edge_request out = request;
  out.p_of = {};
  return out;
}

// Takes the edges between patterns as long as more is wanted.
template <class Take, class Wants>
class pattern_receiver final : public edge_receiver {
 public:
  pattern_receiver(Take take, Wants wants) : take_(std::move(take)), wants_(std::move(wants)) {}
  void take(const edge_batch& batch) override { take_(batch.edges); }
  [[nodiscard]] bool wants_more() const override { return wants_(); }

 private:
  Take take_;
  Wants wants_;
};

}  // namespace

void folded_pair_engine::folded_edges(const edge_request& request,
                                      const folded_edge_receiver& receive) {
  batch_writer<folded_edge, const folded_edge_receiver&> out(request.batch_edges, receive);
  const auto count = static_cast<node_id>(pattern_rows_.end);
  auto next = static_cast<node_id>(pattern_rows_.begin);  // whose pairs within come next
  const auto write_within = [&](node_id end) {
    for (; next < end; ++next) {
      if (pairs_within(next) == 0) continue;
      out.write(
          {.first = next, .second = next, .statistic = 1, .p = 0, .pairs = pairs_within(next)});
    }
  };
  if (!request.keep.keeps(1.0)) next = count;
  if (request.order == edge_order::unspecified) write_within(count);
  edge_consumer between([&](std::span<edge> found) {
    for (const edge& e : found) {
      if (next <= e.row) write_within(e.row + 1);
      const node_id second = pattern_of_col(e.col);
      out.write({.first = e.row,
                 .second = second,
                 .statistic = e.statistic,
                 .p = 0,
                 .pairs = pairs_between(e.row, second)});
    }
  });
  inner_->edges(between_patterns(request), between);
  write_within(count);
  out.flush();
}

void folded_pair_engine::edges_as_found(const edge_request& request, edge_receiver& receiver) {
  edge_batches out(request.batch_edges, {request.p_of, threads_, receiver});
  const auto write = [&](node_id row, node_id col, double statistic) {
    out.write({.row = row, .col = col_of(col), .statistic = statistic, .p = 0});
  };
  const auto write_within = [&](std::span<const node_id> rows) {
    for (std::size_t a = 0; a < rows.size() && receiver.wants_more(); ++a) {
      for (const node_id col : rows.subspan(a + 1)) write(rows[a], col, 1.0);
    }
  };
  const auto write_between = [&](const edge& e) {
    const auto cols = patterns().members_of(pattern_of_col(e.col));
    for (const node_id a : patterns().members_of(e.row)) {
      if (!receiver.wants_more()) return;
      for (const node_id b : cols) write(std::min(a, b), std::max(a, b), e.statistic);
    }
  };
  if (request.keep.keeps(1.0)) {
    for (index_t p = pattern_rows_.begin; p < pattern_rows_.end; ++p) {
      const auto pattern = static_cast<node_id>(p);
      if (has_pairs_within(pattern)) write_within(patterns().members_of(pattern));
    }
  }
  pattern_receiver between(
      [&](std::span<edge> found) {
        for (const edge& e : found) write_between(e);
      },
      [&] { return receiver.wants_more(); });
  inner_->edges(between_patterns(request), between);
  out.flush();
}

// For the order (row, column) a row needs all patterns that its own pattern has an edge with. Edges
// between patterns are collected as they come, 2^25 at most; then the rows are gone through in
// order. Where there are more edges, a counting pass gives the number of edges of every pattern,
// and as many passes follow as are needed: each collects the edges of the patterns of one range of
// rows.
class folded_pair_engine::ordered_edges {
 public:
  ordered_edges(folded_pair_engine& engine, const edge_request& request, edge_receiver& receiver)
      : engine_(engine),
        request_(request),
        receiver_(receiver),
        out_(request.batch_edges, {request.p_of, engine.threads_, receiver}) {}

  void run() {
    wanted_.assign(engine_.weights_.size(), false);
    std::fill(wanted_.begin() + engine_.pattern_rows_.begin,
              wanted_.begin() + engine_.pattern_rows_.end, true);
    if (collect(engine_.most_waiting_)) {
      write_rows(rows().begin, rows().end);
    } else {
      run_in_ranges();
    }
    out_.flush();
  }

 private:
  struct pattern_edge {
    node_id first;
    node_id second;
    double statistic;
  };
  struct partner {
    node_id pattern;
    double statistic;
  };

  [[nodiscard]] const index_range& rows() const { return engine_.area_.rows; }
  [[nodiscard]] node_id pattern_of(index_t row) const {
    return engine_.patterns().pattern_of[static_cast<std::size_t>(row)];
  }
  // Collects the edges of the wanted patterns; false where there are more than `most`.
  bool collect(std::size_t most);
  void run_in_ranges();
  // Fills partners_ from the collected edges.
  void pair_up();
  void write_rows(index_t first, index_t last);
  // The edges of `row`, in order.
  void spread(index_t row, std::vector<edge>& out) const;

  folded_pair_engine& engine_;
  const edge_request& request_;
  edge_receiver& receiver_;
  edge_batches out_;
  std::vector<bool> wanted_;  // [patterns]
  std::vector<pattern_edge> found_;
  std::vector<std::size_t> begin_;  // [patterns + 1], into partners_
  std::vector<partner> partners_;
};

bool folded_pair_engine::ordered_edges::collect(std::size_t most) {
  found_.clear();
  std::atomic<bool> too_many = false;
  edge_request unordered = between_patterns(request_);
  unordered.order = edge_order::unspecified;
  pattern_receiver between(
      [&](std::span<edge> batch) {
        for (const edge& e : batch) {
          const node_id second = engine_.pattern_of_col(e.col);
          if (too_many || (!wanted_[e.row] && !wanted_[second])) continue;
          if (found_.size() < most) {
            found_.push_back({e.row, second, e.statistic});
          } else {
            too_many = true;
          }
        }
      },
      [&] { return !too_many; });
  engine_.inner_->edges(unordered, between);
  if (too_many) found_ = {};
  return !too_many;
}

void folded_pair_engine::ordered_edges::run_in_ranges() {
  pair_counts found;
  engine_.inner_->counts({.keep = request_.keep, .histogram_bins = 0}, found);
  for (index_t first = rows().begin; first < rows().end && receiver_.wants_more();) {
    wanted_.assign(wanted_.size(), false);
    std::size_t edges = 0;
    index_t last = first;
    for (; last < rows().end; ++last) {
      const node_id p = pattern_of(last);
      if (p == row_patterns::no_pattern || wanted_[p]) continue;
      if (edges > 0 && edges + found.degree[p] > engine_.most_waiting_) break;
      wanted_[p] = true;
      edges += found.degree[p];
    }
    collect(edges);
    write_rows(first, last);
    first = last;
  }
}

void folded_pair_engine::ordered_edges::pair_up() {
  begin_.assign(wanted_.size() + 1, 0);
  for (const pattern_edge& e : found_) {
    if (wanted_[e.first]) ++begin_[e.first + std::size_t{1}];
    if (wanted_[e.second]) ++begin_[e.second + std::size_t{1}];
  }
  for (std::size_t p = 1; p < begin_.size(); ++p) begin_[p] += begin_[p - 1];
  partners_.resize(begin_.back());
  std::vector<std::size_t> next(begin_.begin(), begin_.end() - 1);
  for (const pattern_edge& e : found_) {
    if (wanted_[e.first]) partners_[next[e.first]++] = {e.second, e.statistic};
    if (wanted_[e.second]) partners_[next[e.second]++] = {e.first, e.statistic};
  }
}

void folded_pair_engine::ordered_edges::spread(index_t row, std::vector<edge>& out) const {
  out.clear();
  const auto self = static_cast<node_id>(row);
  const node_id own = pattern_of(row);
  if (own == row_patterns::no_pattern) return;
  const auto take_later = [&](node_id pattern, double statistic) {
    const auto members = engine_.patterns().members_of(pattern);
    auto at = std::upper_bound(members.begin(), members.end(), self);
    for (; at != members.end(); ++at) {
      out.push_back({.row = self, .col = engine_.col_of(*at), .statistic = statistic, .p = 0});
    }
  };
  if (request_.keep.keeps(1.0) && engine_.has_pairs_within(own)) take_later(own, 1.0);
  for (std::size_t at = begin_[own]; at < begin_[own + std::size_t{1}]; ++at) {
    take_later(partners_[at].pattern, partners_[at].statistic);
  }
  std::sort(out.begin(), out.end(), [](const edge& a, const edge& b) { return a.col < b.col; });
}

void folded_pair_engine::ordered_edges::write_rows(index_t first, index_t last) {
  constexpr std::size_t most_edges_at_once = std::size_t{1} << 20;
  constexpr index_t most_rows_at_once = 4096;
  pair_up();
  std::vector<std::vector<edge>> edges(static_cast<std::size_t>(most_rows_at_once));
  while (first < last && receiver_.wants_more()) {
    // Rows with about that many edges, by an upper bound.
    std::size_t bound = 0;
    index_t end = first;
    for (; end < last && end - first < most_rows_at_once && bound < most_edges_at_once; ++end) {
      const node_id p = pattern_of(end);
      if (p == row_patterns::no_pattern) continue;
      bound += engine_.weights_[p];
      for (std::size_t at = begin_[p]; at < begin_[p + std::size_t{1}]; ++at) {
        bound += engine_.weights_[partners_[at].pattern];
      }
    }
    cpu::parallel_for(end - first, engine_.threads_, [&](index_t i, int) {
      spread(first + i, edges[static_cast<std::size_t>(i)]);
    });
    for (index_t i = 0; i < end - first; ++i) {
      for (const edge& e : edges[static_cast<std::size_t>(i)]) out_.write(e);
    }
    first = end;
  }
}

void folded_pair_engine::edges(const edge_request& request, edge_receiver& receiver) {
  if (request.order == edge_order::unspecified) return edges_as_found(request, receiver);
  ordered_edges(*this, request, receiver).run();
}

}  // namespace gpu::inline v0::detail
