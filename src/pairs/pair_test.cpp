#include "pairs/pair_test.hpp"

#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>

#include "pairs/observations.hpp"
#include "pairs/pair_ties.hpp"
#include "stats/significance/significance.hpp"
#include "stats/significance/spearman_test.hpp"

namespace gpu::inline v0::detail {
namespace {

effective_cut sided_cut(double critical, const adjusted_level& level, const pair_filter& filter,
                        bool of_one_side) {
  effective_cut cut = cut_from(critical, level.max_p, filter);
  if (of_one_side) cut = of_one_sign(cut, filter.side);
  cut.discoveries = level.discoveries;
  return cut;
}

// What is kept whatever the statistic, as far as p is concerned.
keep_range cut_beside_p(const adjusted_level& level, const pair_filter& filter, bool of_one_side) {
  const double any = stats::critical_value(significance::none, 1.0, 0, filter.side);
  return sided_cut(any, level, filter, of_one_side).keep;
}

// Pairs that have a statistic: those whose p is not no_p.
std::uint64_t count_tested(const pair_test& test, pair_engine& engine) {
  constexpr double above_no_p = -1.5;  // as a key, which is -p
  const bin_counts counts =
      engine.bin_statistics(test.binned({.key = bin_key::negated_value,
                                         .low = above_no_p,
                                         .high = std::numeric_limits<double>::infinity(),
                                         .scale = 0,
                                         .bins = 1}));
  return counts.bins.front() + counts.at_or_above;
}

// p follows from the statistic, or there is none.
class statistic_test final : public pair_test {
 public:
  statistic_test(significance test, observation_count observations)
      : test_(test), observations_(observations) {}

  [[nodiscard]] observation_count observations() const override { return observations_; }
  effective_cut take(const adjusted_level& level, const pair_filter& filter,
                     bool of_one_side) override {
    if (!table_) table_ = stats::p_table_for(test_, observations_);
    const double weakest = stats::critical_value(test_, level.max_p, *table_, filter.side);
    effective_cut cut = sided_cut(weakest, level, filter, of_one_side);
    // The search knows Student's t alone. What it finds above the least p is right; below there is
    // nothing.
    if (std::isinf(weakest)) cut.discoveries = 0;
    keep_ = cut.keep;
    side_ = filter.side;
    return cut;
  }
  [[nodiscard]] keep_range keep() const override { return keep_; }
  [[nodiscard]] stats::p_function p_of() const override { return {table_.get(), side_}; }
  [[nodiscard]] double p(double statistic, index_t, index_t) const override {
    return p_of()(statistic);
  }

 private:
  significance test_;
  observation_count observations_;
  std::shared_ptr<const stats::p_table> table_;
  keep_range keep_{0.0, 0.0};
  tail side_ = tail::two_sided;
};

// p follows from the statistic and the number of columns that a pair shares.
class shared_columns_test final : public pair_test {
 public:
  shared_columns_test(significance test, present_values present, index_t first_col)
      : test_(test), present_(std::move(present)), first_col_(first_col) {}

  void begin(const pair_filter& filter, pair_engine& engine) override {
    tests_ = std::make_unique<observation_tests>(test_, present_.fewest_shared(),
                                                 present_.most_shared(), filter.side);
    if (filter.adjust != adjustment::none) tested_ = count_tested(*this, engine);
  }
  [[nodiscard]] bin_request binned(const bin_request& request) const override {
    bin_request out = request;
    out.tests = tests_.get();
    return out;
  }
  effective_cut take(const adjusted_level& level, const pair_filter& filter,
                     bool of_one_side) override {
    const auto cut_of = [this, level, filter, of_one_side](index_t shared) {
      const double weakest =
          stats::critical_value(test_, level.max_p, tests_->table_of(shared), filter.side);
      return sided_cut(weakest, level, filter, of_one_side);
    };
    cuts_ = std::make_unique<observation_cuts>(
        tests_->least(), tests_->most(), [cut_of](index_t shared) { return cut_of(shared).keep; });
    return cut_of(tests_->most());
  }
  [[nodiscard]] const observation_cuts* cuts() const override { return cuts_.get(); }
  [[nodiscard]] double p(double statistic, index_t row, index_t col) const override {
    return tests_->p(statistic, present_.shared(row, first_col_ + col));
  }

 private:
  significance test_;
  present_values present_;
  index_t first_col_;  // the row that the first column of the area is
  std::unique_ptr<observation_tests> tests_;
  std::unique_ptr<observation_cuts> cuts_;
};

// p of Kendall's tau of rows with missing values: also by the ties of both rows in these columns.
class shared_kendall_test final : public pair_test {
 public:
  shared_kendall_test(present_values present, std::vector<shared_row_ties> ties, index_t first_col)
      : kendall_(std::move(ties), present.fewest_shared(), present.most_shared()),
        present_(std::move(present)),
        first_col_(first_col) {}

  void begin(const pair_filter& filter, pair_engine& engine) override {
    if (filter.adjust == adjustment::none) return;
    within_.emplace(kendall_.tests(), filter.max_p, filter.side);
    tested_ = count_tested(*this, engine);
  }
  [[nodiscard]] bin_request binned(const bin_request& request) const override {
    bin_request out = request;
    out.tied.shared = &*within_;
    return out;
  }
  effective_cut take(const adjusted_level& level, const pair_filter& filter,
                     bool of_one_side) override {
    cut_of_p_.emplace(kendall_.tests(), level.max_p, filter.side);
    cut_ = {.shared = &*cut_of_p_, .keep = cut_beside_p(level, filter, of_one_side)};
    const stats::kendall_cut untied(kendall_.tests().of(kendall_.tests().most()), level.max_p,
                                    filter.side);
    return sided_cut(untied.weakest_untied(), level, filter, of_one_side);
  }
  [[nodiscard]] const detail::tied_cut* tied_cut() const override { return &cut_; }
  [[nodiscard]] double p(double statistic, index_t row, index_t col) const override {
    return kendall_.p(statistic, present_, row, first_col_ + col, cut_of_p_->side());
  }

 private:
  shared_kendall kendall_;
  present_values present_;
  index_t first_col_;
  std::optional<shared_kendall_cut> within_;  // of the passes
  std::optional<shared_kendall_cut> cut_of_p_;
  detail::tied_cut cut_;
};

// p follows from the ties of both rows too, by a test whose passes keep what is within a cut.
template <class Test, class Cut>
class tied_test : public pair_test {
 public:
  tied_test(std::vector<row_ties> ties, index_t first_col, index_t cols)
      : test_(cols), ties_(std::move(ties)), first_col_(first_col) {}
  void begin(const pair_filter& filter, pair_engine&) final {
    if (filter.adjust != adjustment::none) within_.emplace(test_, filter.max_p, filter.side);
  }
  [[nodiscard]] const detail::tied_cut* tied_cut() const final { return &cut_; }

 protected:
  [[nodiscard]] const row_ties& of_row(index_t row) const {
    return ties_[static_cast<std::size_t>(row)];
  }
  [[nodiscard]] const row_ties& of_col(index_t col) const { return of_row(first_col_ + col); }

  Test test_;
  std::optional<Cut> within_;   // of the passes
  std::vector<row_ties> ties_;  // of all rows, those of y behind those of x
  index_t first_col_;
  tail side_ = tail::two_sided;
  detail::tied_cut cut_;
};

class kendall_ties_test final : public tied_test<stats::kendall_test, stats::kendall_cut> {
 public:
  using tied_test::tied_test;

  [[nodiscard]] bin_request binned(const bin_request& request) const override {
    bin_request out = request;
    out.tied.kendall = &*within_;
    return out;
  }
  effective_cut take(const adjusted_level& level, const pair_filter& filter,
                     bool of_one_side) override {
    side_ = filter.side;
    cut_of_p_.emplace(test_, level.max_p, filter.side);
    cut_ = {.p = &*cut_of_p_, .keep = cut_beside_p(level, filter, of_one_side)};
    return sided_cut(cut_of_p_->weakest_untied(), level, filter, of_one_side);
  }
  [[nodiscard]] double p(double statistic, index_t row, index_t col) const override {
    const row_ties& x = of_row(row);
    const row_ties& y = of_col(col);
    return test_.p(test_.sum_of(statistic, x, y), x, y, side_);
  }

 private:
  std::optional<stats::kendall_cut> cut_of_p_;
};

class permutation_test final : public tied_test<stats::spearman_test, stats::spearman_cut> {
 public:
  using tied_test::tied_test;

  [[nodiscard]] bin_request binned(const bin_request& request) const override {
    bin_request out = request;
    out.tied.ranks = &*within_;
    return out;
  }
  effective_cut take(const adjusted_level& level, const pair_filter& filter,
                     bool of_one_side) override {
    side_ = filter.side;
    const auto cut_of = [&](int of_class) {
      return sided_cut(test_.weakest(level.max_p, of_class, filter.side), level, filter,
                       of_one_side);
    };
    const effective_cut untied = cut_of(0);
    cut_ = {.ranks = {.permutations = untied.keep,
                      .student_t = cut_of(1).keep,
                      .last_class = test_.last_class(level.max_p, filter.side)}};
    return untied;
  }
  [[nodiscard]] double p(double statistic, index_t row, index_t col) const override {
    return test_.p(statistic, test_.class_of(of_row(row), of_col(col)), side_);
  }
  [[nodiscard]] std::vector<index_t> rows_with_ties() const override {
    std::vector<index_t> out;
    for (std::size_t i = 0; i < ties_.size(); ++i) {
      if (ties_[i].pairs > 0) out.push_back(static_cast<index_t>(i));
    }
    return out;
  }
};

std::unique_ptr<pair_test> make_pairwise_test(const measure_traits& what, const pair_input& input) {
  const int threads = input.exec.cpu_threads;
  const index_t first_col = input.area.cols.begin;
  present_values present(input.tables, what.least_shared, threads);
  if (what.info.test != significance::kendall) {
    return std::make_unique<shared_columns_test>(what.info.test, std::move(present), first_col);
  }
  return std::make_unique<shared_kendall_test>(std::move(present),
                                               find_shared_ties(input.tables, threads), first_col);
}

}  // namespace

std::unique_ptr<pair_test> make_pair_test(const measure_traits& what, const pair_input& input,
                                          const row_info& rows) {
  if (what.is_pairwise) return make_pairwise_test(what, input);
  const index_t first_col = input.area.cols.begin;
  const auto ties = [&] {
    const bool are_known = rows.ties.size() == static_cast<std::size_t>(input.rows());
    return are_known ? rows.ties : find_ties(input.tables, input.exec.cpu_threads);
  };
  switch (what.info.test) {
    case significance::none:
    case significance::student_t:
    case significance::floored_t:
      break;
    case significance::kendall:
      return std::make_unique<kendall_ties_test>(ties(), first_col, input.cols());
    case significance::permutations:
      return std::make_unique<permutation_test>(ties(), first_col, input.cols());
  }
  return std::make_unique<statistic_test>(what.info.test, what.observations_of(input.cols()));
}

bin_counts count_pass(const pair_test& test, pair_engine& engine, const discovery_search& search) {
  return engine.bin_statistics(test.binned(pass_of(search)));
}

effective_cut resolve_cut(pair_test& test, const pair_filter& filter, pair_engine& engine,
                          std::uint64_t family, bool of_one_side) {
  test.begin(filter, engine);
  const auto count = [&](const discovery_search& search) {
    return count_pass(test, engine, search);
  };
  const adjusted_level level =
      adjust(filter, test.observations(), test.tested().value_or(family), count);
  return test.take(level, filter, of_one_side);
}

}  // namespace gpu::inline v0::detail
