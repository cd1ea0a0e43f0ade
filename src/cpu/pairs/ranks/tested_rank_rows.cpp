#include "cpu/pairs/ranks/tested_rank_rows.hpp"

#include <algorithm>
#include <limits>
#include <set>
#include <span>
#include <string>
#include <utility>

#include "stats/shared_columns.hpp"

namespace gpu::cpu {
namespace {

// Draws from a search of the rows for what any of the cuts keeps; what is between the cuts is
// decided here. Where one cut holds for all pairs, that search is for it.
class tested_rank_search final : public pair_search {
 public:
  tested_rank_search(const tested_rank_rows& rows, const pair_task& task, bool has_one_cut,
                     int threads, std::unique_ptr<pair_search> inner)
      : pair_search(task, threads),
        rows_(rows),
        has_one_cut_(has_one_cut),
        inner_(std::move(inner)) {}

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
    if (has_one_cut_) return;
    out.filter(before, [this](const pair_hit& hit) {
      return keeps(index_t{hit.row}, index_t{hit.col}, hit.statistic);
    });
  }

  [[nodiscard]] std::span<const node_id> count_order() const override {
    return has_one_cut_ ? inner_->count_order() : std::span<const node_id>();
  }
  std::uint64_t count(const pair_tile& tile, pair_scratch& scratch, std::uint32_t* row_degree,
                      std::uint32_t* col_degree, const pair_bins& bins) const override {
    return has_one_cut_ ? inner_->count(tile, scratch, row_degree, col_degree, bins)
                        : pair_search::count(tile, scratch, row_degree, col_degree, bins);
  }

 private:
  [[nodiscard]] bool is_tested() const {
    return task().tied != nullptr || task().tied_tests.ranks != nullptr;
  }
  [[nodiscard]] bool keeps(index_t i, index_t j, double rho) const {
    return task().tied->ranks.of(rows_.class_of(i, j)).keeps(rho);
  }
  // What stands for the statistic of a pair.
  [[nodiscard]] double taken(index_t i, index_t j, double rho) const {
    if (task().tied_tests.ranks != nullptr) {
      return task().tied_tests.ranks->p_within(rho, rows_.class_of(i, j));
    }
    return keeps(i, j, rho) ? rho : detail::no_statistic;
  }

  const tested_rank_rows& rows_;
  bool has_one_cut_;
  std::unique_ptr<pair_search> inner_;
};

// What any of the cuts of these classes keeps.
detail::keep_range widest_of(const stats::rank_cuts& cuts, const std::vector<int>& classes) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  detail::keep_range out{infinity, -infinity};
  for (const int of_class : classes) {
    const detail::keep_range keep = cuts.of(of_class);
    out = {std::min(out.at_least, keep.at_least), std::max(out.at_most, keep.at_most)};
  }
  return out;
}

}  // namespace

tested_rank_rows::tested_rank_rows(std::unique_ptr<pair_rows> rows,
                                   std::vector<std::uint8_t> classes)
    : rows_(std::move(rows)), classes_(std::move(classes)) {
  const std::set<std::uint8_t> different(classes_.begin(), classes_.end());
  different_.assign(different.begin(), different.end());
}

std::unique_ptr<pair_search> tested_rank_rows::search(const pair_task& task, int threads,
                                                      std::unique_ptr<pair_search> earlier) const {
  pair_task inner = task;
  inner.tied = nullptr;
  inner.tied_tests = {};
  bool has_one_cut = true;
  if (task.tied != nullptr) {
    const stats::rank_cuts& cuts = task.tied->ranks;
    inner.keep = widest_of(cuts, different_);
    has_one_cut = std::all_of(different_.begin(), different_.end(),
                              [&](int of_class) { return cuts.of(of_class) == inner.keep; });
    if (task.wanted == pair_task::output::counts && !has_one_cut) {
      inner.wanted = pair_task::output::statistics;
    }
  }
  auto* const last = dynamic_cast<tested_rank_search*>(earlier.get());
  return std::make_unique<tested_rank_search>(
      *this, task, has_one_cut, threads,
      rows_->search(inner, threads, last != nullptr ? last->take_inner() : nullptr));
}

}  // namespace gpu::cpu
