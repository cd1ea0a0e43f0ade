// The edges of a folded engine as they are found: between patterns, or spread over their rows.
#include <algorithm>
#include <utility>

#include "pairs/folding/folded_engine.hpp"
#include "pairs/folding/pattern_receiver.hpp"
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

}  // namespace gpu::inline v0::detail
