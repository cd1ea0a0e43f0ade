// The edges of a folded engine as they are found.
#include <algorithm>
#include <span>
#include <vector>

#include "pairs/folding/folded_engine.hpp"
#include "pairs/folding/pattern_receiver.hpp"
#include "stats/significance/significance.hpp"

namespace gpu::inline v0::detail {
namespace {

// Collects edges into batches, fills their p and hands them on.
class edge_batches {
 public:
  edge_batches(const edge_request& request, int threads, edge_receiver& receiver)
      : most_(static_cast<std::size_t>(request.batch_edges)),
        p_of_(request.p_of),
        threads_(threads),
        receiver_(receiver) {
    batch_.reserve(std::min(most_, first_reserve));
  }
  void write(const edge& e) {
    batch_.push_back(e);
    if (batch_.size() == most_) flush();
  }
  void flush() {
    if (batch_.empty()) return;
    stats::fill_p(p_of_, batch_, threads_);
    receiver_.take({batch_});
    batch_.clear();
  }

 private:
  static constexpr std::size_t first_reserve = std::size_t{1} << 20;
  std::size_t most_;
  stats::p_function p_of_;
  int threads_;
  edge_receiver& receiver_;
  std::vector<edge> batch_;
};

}  // namespace

void folded_pair_engine::edges_as_found(const edge_request& request, edge_receiver& receiver) {
  edge_batches out(request, threads_, receiver);
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
