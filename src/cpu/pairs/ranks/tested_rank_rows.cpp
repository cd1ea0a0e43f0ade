#include "cpu/pairs/ranks/tested_rank_rows.hpp"

#include <algorithm>
#include <functional>
#include <span>
#include <string>
#include <utility>

#include "stats/shared_columns.hpp"

namespace gpu::cpu {
namespace {

// Draws from a search of the rows for what either cut keeps; what is between the two cuts is
// decided here. Where one cut holds for all pairs, that search is for it.
class tested_rank_search final : public pair_search {
 public:
  tested_rank_search(const tested_rank_rows& rows, const pair_task& task, int threads,
                     std::unique_ptr<pair_search> inner)
      : pair_search(task, threads), rows_(rows), inner_(std::move(inner)) {}

  // Ends with this: what it packed and sampled goes on in the next.
  [[nodiscard]] std::unique_ptr<pair_search> take_inner() { return std::move(inner_); }

  [[nodiscard]] pair_scratch& scratch(int thread) override { return inner_->scratch(thread); }
  [[nodiscard]] pair_estimate estimate() const override { return inner_->estimate(); }
  [[nodiscard]] std::string explain() const override { return inner_->explain(); }
  void reconsider() override { inner_->reconsider(); }

  void statistics(const pair_tile& tile, pair_scratch& scratch, double* out) const override {
    inner_->statistics(tile, scratch, out);
    if (!is_tested()) return;
    for (index_t i = tile.row_begin; i < tile.row_end; ++i) {
      double* const row = out + (i - tile.row_begin) * pair_policy::block_cols;
      for (index_t c = 0; c < tile.cols(); ++c) row[c] = taken(i, tile.col_begin + c, row[c]);
    }
  }

  [[nodiscard]] bool finds_above() const override { return inner_->finds_above(); }
  void above(const pair_tile& tile, const double* bars, bool by_magnitude, pair_scratch& scratch,
             pair_visitor visit) const override {
    if (task().tied == nullptr) return inner_->above(tile, bars, by_magnitude, scratch, visit);
    const auto visit_kept = [&](index_t row, index_t col, double rho) {
      if (keeps(tile.row_begin + row, tile.col_begin + col, rho)) visit(row, col, rho);
    };
    inner_->above(tile, bars, by_magnitude, scratch, visit_kept);
  }

  void matches(const pair_tile& tile, pair_scratch& scratch, hit_buffer& out) const override {
    const std::size_t before = out.hits().size();
    inner_->matches(tile, scratch, out);
    if (task().tied == nullptr || rows_.is_uniform()) return;
    out.filter(before, [this](const pair_hit& hit) {
      return keeps(index_t{hit.row}, index_t{hit.col}, hit.statistic);
    });
  }

  [[nodiscard]] std::span<const node_id> count_order() const override {
    return counts_by_one_cut() ? inner_->count_order() : std::span<const node_id>();
  }
  std::uint64_t count(const pair_tile& tile, pair_scratch& scratch, std::uint32_t* row_degree,
                      std::uint32_t* col_degree, const pair_bins& bins) const override {
    return counts_by_one_cut() ? inner_->count(tile, scratch, row_degree, col_degree, bins)
                               : pair_search::count(tile, scratch, row_degree, col_degree, bins);
  }

 private:
  [[nodiscard]] bool is_tested() const {
    return task().tied != nullptr || task().tied_tests.ranks != nullptr;
  }
  [[nodiscard]] bool counts_by_one_cut() const {
    return task().tied == nullptr || rows_.is_uniform();
  }
  [[nodiscard]] bool keeps(index_t i, index_t j, double rho) const {
    return task().tied->ranks.of(rows_.test_of(i, j)).keeps(rho);
  }
  // What stands for the statistic of a pair.
  [[nodiscard]] double taken(index_t i, index_t j, double rho) const {
    if (task().tied_tests.ranks != nullptr) {
      return task().tied_tests.ranks->p_within(rho, rows_.test_of(i, j));
    }
    return keeps(i, j, rho) ? rho : detail::no_statistic;
  }

  const tested_rank_rows& rows_;
  std::unique_ptr<pair_search> inner_;
};

}  // namespace

tested_rank_rows::tested_rank_rows(std::unique_ptr<pair_rows> rows,
                                   std::vector<std::uint8_t> has_ties)
    : rows_(std::move(rows)),
      has_ties_(std::move(has_ties)),
      is_uniform_(std::adjacent_find(has_ties_.begin(), has_ties_.end(), std::not_equal_to<>()) ==
                  has_ties_.end()) {}

std::unique_ptr<pair_search> tested_rank_rows::search(const pair_task& task, int threads,
                                                      std::unique_ptr<pair_search> earlier) const {
  pair_task inner = task;
  inner.tied = nullptr;
  inner.tied_tests = {};
  if (task.tied != nullptr) {
    const detail::rank_cuts& cuts = task.tied->ranks;
    inner.keep = {std::min(cuts.permutations.at_least, cuts.student_t.at_least),
                  std::max(cuts.permutations.at_most, cuts.student_t.at_most)};
    if (is_uniform_ && !has_ties_.empty()) inner.keep = cuts.of(test_of(0, 0));
    if (task.wanted == pair_task::output::counts && !is_uniform_) {
      inner.wanted = pair_task::output::statistics;
    }
  }
  auto* const last = dynamic_cast<tested_rank_search*>(earlier.get());
  return std::make_unique<tested_rank_search>(
      *this, task, threads,
      rows_->search(inner, threads, last != nullptr ? last->take_inner() : nullptr));
}

}  // namespace gpu::cpu
