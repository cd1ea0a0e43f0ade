#include "pairs/columns/column_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <type_traits>

#include <gpu/error.hpp>

#include "base/counted.hpp"
#include "base/parallel.hpp"
#include "cpu/rank/centred_ranks.hpp"
#include "stats/observation_limits.hpp"

namespace gpu::inline v0::detail {
namespace {

// A covariate has to keep this share of its length beside those before it, as in R's lm.
constexpr double least_covariate_share = 1e-7;
// What is left of a row by the covariates counts where it is longer than these shares of the row
// about its mean, and of the whole row: less is rounding.
constexpr double least_share_about_mean = 1e-10;
constexpr double least_share_of_whole = 1e-14;

bool all_finite(const double* row, index_t count) {
  bool all = true;
  for (index_t k = 0; k < count; ++k) all &= std::isfinite(row[k]);
  return all;
}

void check_covariates(const matrix_view<const double>& covariates, index_t cols) {
  if (covariates.cols() != cols) {
    throw invalid_argument(fmt::format("options.covariates: got {}, expected {} as in the data",
                                       counted(covariates.cols(), "column"), cols));
  }
  if (covariates.rows() == 0) {
    throw invalid_argument("options.covariates: got 0 rows, expected at least 1");
  }
  for (index_t i = 0; i < covariates.rows(); ++i) {
    for (index_t k = 0; k < cols; ++k) {
      if (std::isfinite(covariates(i, k))) continue;
      throw invalid_argument(
          fmt::format("options.covariates: got {} at row {}, column {}, expected finite numbers",
                      covariates(i, k), i, k));
    }
  }
}

index_t check_weights(std::span<const double> weights, index_t cols) {
  if (static_cast<index_t>(weights.size()) != cols) {
    throw invalid_argument(
        fmt::format("options.column_weights: got {} weights, expected {}, one for each column",
                    weights.size(), cols));
  }
  const auto wrong = std::find_if(weights.begin(), weights.end(),
                                  [](double w) { return !(w >= 0 && std::isfinite(w)); });
  if (wrong != weights.end()) {
    throw invalid_argument(fmt::format(
        "options.column_weights[{}]: got {}, expected a finite number that is not negative",
        wrong - weights.begin(), *wrong));
  }
  return static_cast<index_t>(
      std::count_if(weights.begin(), weights.end(), [](double w) { return w > 0; }));
}

// In a sentence, of the one measure with weights that could have a test.
constexpr std::string_view without_observations =
    "Pearson with options.column_weights and without options.effective_observations";

// Weights without effective observations leave no p.
measure_traits traits_with(const measure_traits& complete, const pair_options& options) {
  measure_traits out = effective_traits_of(column_traits_of(complete, options.covariates.rows()),
                                           options.effective_observations);
  if (!options.column_weights.empty() && options.effective_observations == 0) {
    if (complete.info.test != significance::none) out.info.title = without_observations;
    out.info.test = significance::none;
    out.info.interval = interval_method::none;
  }
  return out;
}

// 2 * (average rank) - (cols + 1) of every value of its row, to `out` [rows, cols]; on the calling
// thread.
template <class T>
void rank_about_0(matrix_view<const T> rows, double* out) {
  matrix<std::int32_t> ranks(rows.rows(), rows.cols());
  std::vector<std::int64_t> square_sums(static_cast<std::size_t>(rows.rows()));
  cpu::centred_ranks(rows, ranks.view(), square_sums.data(), 1);
  std::copy_n(ranks.data(), rows.rows() * rows.cols(), out);
}

constexpr index_t elements_per_task = index_t{1} << 17;
constexpr index_t most_task_rows = 64;

template <class T>
bool holds_nan(const T* row, index_t cols) {
  if constexpr (!std::is_floating_point_v<T>) return false;
  return std::any_of(row, row + cols, [](T value) { return value != value; });
}

// A NaN has no rank: its row stays as it is, and has no statistic.
template <class T>
void rank_rows(const matrix_view<const T>& rows, double* out) {
  rank_about_0(rows, out);
  for (index_t i = 0; i < rows.rows(); ++i) {
    if (!holds_nan(rows.row(i), rows.cols())) continue;
    std::copy_n(rows.row(i), rows.cols(), out + i * rows.cols());
  }
}

}  // namespace

column_model::column_model(const measure_traits& complete, index_t cols,
                           const pair_options& options)
    : cols_(cols),
      takes_ranks_(packs_ranks(complete)),
      centres_(is_centred(complete.centre)),
      traits_(traits_with(complete, options)),
      positive_(cols),
      weight_sum_(static_cast<double>(cols)),
      basis_(cols) {
  const bool has_covariates = options.covariates.rows() > 0 || options.covariates.cols() > 0;
  if (has_covariates) check_covariates(options.covariates, cols);
  if (!options.column_weights.empty()) keep_weights(complete, options);
  if (has_covariates) keep_covariates(options);
}

void column_model::keep_weights(const measure_traits& complete, const pair_options& options) {
  const std::span<const double> weights = options.column_weights;
  positive_ = check_weights(weights, cols_);
  if (positive_ < complete.info.least_cols) {
    throw invalid_argument(
        fmt::format("options.column_weights: got {} that are positive, expected at least {}",
                    positive_, complete.info.least_cols));
  }
  given_weights_.assign(weights.begin(), weights.end());
  const double most = *std::max_element(weights.begin(), weights.end());
  const bool are_alike =
      std::all_of(weights.begin(), weights.end(), [most](double w) { return w == most || w == 0; });
  if (are_alike && positive_ == cols_) return;  // as without weights
  weights_ = given_weights_;
  if (are_alike) std::replace(weights_.begin(), weights_.end(), most, 1.0);
  stats::scale_to_one(weights_.data(), cols_);
  weight_sum_ = stats::plain_sum(weights_.data(), cols_);
  roots_.resize(weights_.size());
  std::transform(weights_.begin(), weights_.end(), roots_.begin(),
                 [](double w) { return std::sqrt(w); });
}

void column_model::keep_covariates(const pair_options& options) {
  const matrix_view<const double> covariates = options.covariates;
  const auto positive = static_cast<double>(positive_);
  const double observations =
      traits_.observations > 0 ? std::min<double>(traits_.observations, positive) : positive;
  const double most = std::floor(observations) - stats::least_observations;
  if (static_cast<double>(covariates.rows()) > most) {
    throw invalid_argument(fmt::format(
        "options.covariates: got {}, expected at most {}: each takes one of {} observations, "
        "and the test needs {}",
        counted(covariates.rows(), "row"), std::max(most, 0.0), observations,
        stats::least_observations));
  }
  std::vector<double> one(static_cast<std::size_t>(cols_));
  double* const row = one.data();
  for (index_t i = 0; i < covariates.rows(); ++i) {
    std::copy_n(covariates.row(i), cols_, row);
    covariates_.insert(covariates_.end(), one.begin(), one.end());
    if (takes_ranks_) rank_about_0<double>({covariates.row(i), 1, cols_}, row);
    const std::optional<lengths> length = centre(row);
    if (!length || !(length->about_mean > least_share_of_whole * length->whole)) {
      throw invalid_argument(
          fmt::format("options.covariates: the values of row {} are all equal up to rounding{}, "
                      "expected rows that vary",
                      i, weights_.empty() ? "" : " where the weights are positive"));
    }
    if (!basis_.add(row, least_covariate_share)) {
      throw invalid_argument(fmt::format(
          "options.covariates: {}row {} is a constant plus multiples of the rows before it, up to "
          "{} of its length, expected rows that are independent: leave it out",
          takes_ranks_ ? "ranked, " : "", i, least_covariate_share));
    }
  }
}

bool column_model::is_of(const pair_options& options) const {
  const matrix_view<const double> covariates = options.covariates;
  if (covariates.rows() != basis_.size() || (covariates.rows() > 0 && covariates.cols() != cols_)) {
    return false;
  }
  for (index_t i = 0; i < covariates.rows(); ++i) {
    const double* const own = covariates_.data() + i * cols_;
    if (!std::equal(own, own + cols_, covariates.row(i))) return false;
  }
  return traits_.observations == options.effective_observations &&
         std::equal(given_weights_.begin(), given_weights_.end(), options.column_weights.begin(),
                    options.column_weights.end());
}

bool column_model::varies(const double* row) const {
  index_t first = 0;
  while (first < cols_ && !counts(first)) ++first;
  for (index_t k = first; k < cols_; ++k) {
    if (counts(k) && row[k] != row[first]) return true;
  }
  return false;
}

bool column_model::counts(index_t col) const {
  return weights_.empty() || weights_[static_cast<std::size_t>(col)] > 0;
}

double column_model::mean_of(const double* row) const {
  const double sum = weights_.empty() ? stats::plain_sum(row, cols_)
                                      : stats::plain_dot(weights_.data(), row, cols_);
  return sum / weight_sum_;
}

std::optional<column_model::lengths> column_model::centre(double* row) const {
  if (centres_ && !varies(row)) return std::nullopt;
  const bool is_weighted = !weights_.empty();
  if (is_weighted) {
    for (index_t k = 0; k < cols_; ++k) row[k] = counts(k) ? row[k] : 0.0;
  }
  stats::scale_to_one(row, cols_);
  lengths out{};
  if (centres_ && !takes_ranks_) {
    out.whole = is_weighted ? stats::weighted_length_of(weights_.data(), row, cols_)
                            : stats::length_of(row, cols_);
    for (int pass = 0; pass < 2; ++pass) {
      const double mean = mean_of(row);
      for (index_t k = 0; k < cols_; ++k) row[k] -= mean;
    }
  }
  if (is_weighted) {
    std::transform(row, row + cols_, roots_.begin(), row, std::multiplies<>());
  }
  out.whole *= stats::scale_to_one(row, cols_);
  out.about_mean = stats::length_of(row, cols_);
  return out;
}

void column_model::take(double* row) const {
  if (!all_finite(row, cols_)) return;
  const std::optional<lengths> before = centre(row);
  if (!before) {
    std::fill(row, row + cols_, 0.0);
    return;
  }
  if (basis_.size() == 0) return;
  basis_.remove_span_from(row);
  const double scale = stats::scale_to_one(row, cols_);
  const double left = stats::length_of(row, cols_);
  const double least =
      std::max(least_share_about_mean * before->about_mean, least_share_of_whole * before->whole);
  if (!(left > least * scale)) std::fill(row, row + cols_, 0.0);
}

void column_rows::compute(index_range range, double* out, int threads) const {
  const index_t cols = rows_.cols();
  const index_t task_rows =
      std::clamp(elements_per_task / std::max<index_t>(cols, 1), index_t{1}, most_task_rows);
  const int team = detail::thread_count(threads);
  rows_.for_each_view(range, team, [&]<class T>(const matrix_view<const T>& view, index_t first) {
    double* const block = out + (first - range.begin) * cols;
    detail::parallel_for_ranges(view.rows(), task_rows, team, [&](index_range some, int) {
      const matrix_view<const T> rows(view.row(some.begin), some.size(), cols, view.row_stride());
      double* const to = block + some.begin * cols;
      if (model_.takes_ranks()) rank_rows(rows, to);
      for (index_t i = 0; i < rows.rows(); ++i) {
        double* const row = to + i * cols;
        if (!model_.takes_ranks()) std::copy_n(rows.row(i), cols, row);
        model_.take(row);
      }
    });
  });
}

}  // namespace gpu::inline v0::detail
