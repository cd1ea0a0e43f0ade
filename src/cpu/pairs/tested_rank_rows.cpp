#include "cpu/pairs/tested_rank_rows.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include "stats/shared_columns.hpp"

namespace gpu::cpu {

tested_rank_rows::tested_rank_rows(std::unique_ptr<pair_rows> rows,
                                   std::vector<std::uint8_t> has_ties)
    : rows_(std::move(rows)),
      has_ties_(std::move(has_ties)),
      is_uniform_(std::adjacent_find(has_ties_.begin(), has_ties_.end(), std::not_equal_to<>()) ==
                  has_ties_.end()) {}

// The rows are asked for what the wider of the two cuts keeps; what is between them is then decided
// here. Where one cut holds for all pairs, they are asked for that.
void tested_rank_rows::prepare(const pair_task& task) {
  task_ = task;
  pair_task inner = task;
  inner.tied = nullptr;
  inner.tied_tests = {};
  if (task.tied != nullptr) {
    const detail::rank_cuts& cuts = task.tied->ranks;
    widest_ = {std::min(cuts.permutations.at_least, cuts.student_t.at_least),
               std::max(cuts.permutations.at_most, cuts.student_t.at_most)};
    if (is_uniform_ && !has_ties_.empty()) widest_ = cuts.of(test_of(0, 0));
    inner.keep = widest_;
    if (task.wanted == pair_task::output::counts && !is_uniform_) {
      inner.wanted = pair_task::output::statistics;
    }
  }
  rows_->prepare(inner);
}

double tested_rank_rows::taken(index_t i, index_t j, double rho) const {
  if (task_.tied_tests.ranks != nullptr) {
    return task_.tied_tests.ranks->p_within(rho, test_of(i, j));
  }
  return keeps(i, j, rho) ? rho : detail::no_statistic;
}

void tested_rank_rows::statistics(const pair_tile& tile, pair_scratch& scratch, double* out) const {
  rows_->statistics(tile, scratch, out);
  if (task_.tied == nullptr && task_.tied_tests.ranks == nullptr) return;
  for (index_t i = tile.row_begin; i < tile.row_end; ++i) {
    double* const row = out + (i - tile.row_begin) * pair_policy::block_cols;
    for (index_t c = 0; c < tile.cols(); ++c) row[c] = taken(i, tile.col_begin + c, row[c]);
  }
}

void tested_rank_rows::above(const pair_tile& tile, const double* bars, bool by_magnitude,
                             pair_scratch& scratch, const pair_visitor& visit) const {
  if (task_.tied == nullptr) return rows_->above(tile, bars, by_magnitude, scratch, visit);
  struct context {
    const tested_rank_rows& rows;
    const pair_tile& tile;
    const pair_visitor& visit;
  } shared{*this, tile, visit};
  const auto take = [](void* opaque, index_t row, index_t col, double rho) {
    const context& c = *static_cast<context*>(opaque);
    if (!c.rows.keeps(c.tile.row_begin + row, c.tile.col_begin + col, rho)) return;
    c.visit.take(c.visit.context, row, col, rho);
  };
  rows_->above(tile, bars, by_magnitude, scratch, {.take = take, .context = &shared});
}

void tested_rank_rows::matches(const pair_tile& tile, const detail::keep_range& keep,
                               pair_scratch& scratch, hit_buffer& out) const {
  if (task_.tied == nullptr) return rows_->matches(tile, keep, scratch, out);
  const std::size_t before = out.hits().size();
  rows_->matches(tile, widest_, scratch, out);
  if (is_uniform_) return;
  out.filter(before, [this](const pair_hit& hit) {
    return keeps(index_t{hit.row}, index_t{hit.col}, hit.statistic);
  });
}

std::span<const node_id> tested_rank_rows::count_order() const {
  return task_.tied == nullptr || counts_by_one_cut() ? rows_->count_order()
                                                      : std::span<const node_id>();
}

std::uint64_t tested_rank_rows::count(const pair_tile& tile, const detail::keep_range& keep,
                                      pair_scratch& scratch, std::uint32_t* row_degree,
                                      std::uint32_t* col_degree, const pair_bins& bins) const {
  if (task_.tied == nullptr) return rows_->count(tile, keep, scratch, row_degree, col_degree, bins);
  if (counts_by_one_cut()) {
    return rows_->count(tile, widest_, scratch, row_degree, col_degree, bins);
  }
  return pair_rows::count(tile, keep, scratch, row_degree, col_degree, bins);
}

}  // namespace gpu::cpu
