#pragma once
// What writers of results of all pairs need to know beside the result.

#include <cstddef>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <gpu/index.hpp>
#include <gpu/measure.hpp>
#include <gpu/p_value.hpp>
#include <gpu/pair_sinks.hpp>

#include "io/table.hpp"

namespace gpu::io {

enum class result_frame {
  whole,     ///< The header, then the rows.
  rows_only  ///< The rows: those of parts, behind one header, are the whole file.
};

/// The columns that the rows of a pair share; empty where no value is missing.
using shared_columns = std::function<index_t(index_t row, index_t col)>;

/// p of pairs of the same rows, by the ties in the columns that they share; empty where p needs
/// none of these. A call takes all rows once, so that many pairs are asked for together.
using shared_p = std::function<std::vector<double>(std::span<const edge> pairs)>;

/// What text writers need to know beside the result.
struct result_context {
  const row_names& names;  ///< As fields of the lines: see fields_of().
  index_t rows = 0;
  observation_count observations = 0;
  /// Of rows with missing values, pair by pair: the columns that a pair shares, its observations.
  shared_columns shared = {};
  shared_p p_of_shared = {};
  /// Whether the test of the measure goes with the weights of the columns; without it there are no
  /// t and p.
  bool has_test = true;
  /// The test behind p of Spearman; another measure has its own.
  significance rank_test = significance::floored_t;
  /// Where p depends on them, the ties of the rows of both tables, those of y behind those of x.
  std::shared_ptr<const std::vector<row_ties>> ties = {};
  measure what = measure::spearman;  ///< Names the column of the statistic, and says what p is.
  tail side = tail::two_sided;       ///< The tail of the p that is written.
  /// Whether pairs have a column n, their observations. Rows of parts that are joined have it
  /// without `shared`.
  bool has_n = false;
  /// Of the two-sided confidence intervals in columns lower and upper; 0: pairs have none.
  double confidence = 0;
  /// Significant digits of all numbers in text, 1 to 17; 0: the statistic in the fewest that give
  /// the same double, the others in six.
  int digits = 0;
  int threads = 0;  ///< 0: the default.
  result_frame frame = result_frame::whole;
  index_t first_row = 0;  ///< Which row of the input is row 0 of the result.
  /// Of x against y: the names of y, whose rows are the columns of pairs; null: of one table.
  const row_names* against = nullptr;
  index_t against_rows = 0;  ///< Rows of y.

  [[nodiscard]] measure_info info() const {
    measure_info out = info_of(what);
    if (out.test == significance::floored_t) out.test = rank_test;
    if (!has_test) out.test = significance::none;
    return out;
  }
  [[nodiscard]] observation_count observations_of(index_t row, index_t col) const {
    return shared ? observation_count(shared(row, col)) : observations;
  }
  [[nodiscard]] double p_of(double statistic, index_t row, index_t col) const {
    if (!has_test || info_of(what).test == significance::none)
      return std::numeric_limits<double>::quiet_NaN();
    if (ties) return p_of_ties(statistic, row, col);
    const observation_count n = observations_of(row, col);
    return info().test == significance::student_t ? correlation_p_value(statistic, n, side)
                                                  : p_value_of(what, statistic, n, side);
  }
  [[nodiscard]] double p_of_ties(double statistic, index_t row, index_t col) const {
    const auto first = static_cast<std::size_t>(row);
    const auto second = static_cast<std::size_t>(against != nullptr ? rows + col : col);
    const row_ties& x = ties->at(first);
    const row_ties& y = ties->at(second);
    const auto columns = static_cast<index_t>(observations);
    if (info().test == significance::permutations)
      return spearman_p_value(statistic, columns, x, y, side);
    return kendall_p_value(statistic, columns, x, y, side);
  }
  [[nodiscard]] static double t_of(significance test, double statistic,
                                   observation_count observations) {
    return test == significance::floored_t ? t_value_of(measure::spearman, statistic, observations)
                                           : correlation_t(statistic, observations);
  }
  [[nodiscard]] bool has_intervals() const { return confidence > 0; }
  /// Whether pairs have columns between p and q.
  [[nodiscard]] bool has_columns_behind_p() const { return has_n || has_intervals(); }
  [[nodiscard]] confidence_bounds interval_of(double statistic, index_t row, index_t col) const {
    return confidence_interval(what, statistic, observations_of(row, col), confidence);
  }
  [[nodiscard]] index_t cols() const { return against != nullptr ? against_rows : rows; }
  [[nodiscard]] index_t all_rows() const { return rows + against_rows; }
  [[nodiscard]] std::string row_name(index_t i) const { return names.name(i); }
  [[nodiscard]] std::string col_name(index_t j) const {
    return against != nullptr ? against->name(j, 'Y') : names.name(j);
  }
  /// The name of a row of both tables, those of y numbered behind those of x.
  [[nodiscard]] std::string stacked_name(index_t i) const {
    return i < rows ? row_name(i) : col_name(i - rows);
  }
  /// Of x against y, which table such a row is of, "x" or "y", with a separator; else nothing.
  [[nodiscard]] std::string table_column(index_t i, char separator) const {
    if (against == nullptr) return {};
    return {i < rows ? 'x' : 'y', separator};
  }
};

void set_p(std::span<edge> pairs, const result_context& context);

/// p of all entries of a table of partners, in their order.
[[nodiscard]] std::vector<double> p_of_entries(const neighbor_table& result,
                                               const result_context& context);

/// The same, one by one.
class partner_p {
 public:
  partner_p(const neighbor_table& result, const result_context& context);
  /// Of the next entry, which has these.
  [[nodiscard]] double next(double statistic, index_t row, index_t col) {
    return shared_.empty() ? context_.p_of(statistic, row, col) : shared_[next_++];
  }

 private:
  const result_context& context_;
  std::vector<double> shared_;  // of all entries, where there is p_of_shared
  std::size_t next_ = 0;
};

}  // namespace gpu::io
