#pragma once
/// @file
/// A table that is prepared once and then queried many times: x against y without the upload and
/// the ranking of y.

#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <gpu/all_pairs.hpp>
#include <gpu/detail/prepared_table.hpp>
#include <gpu/execution.hpp>
#include <gpu/export.hpp>
#include <gpu/matrix_input.hpp>
#include <gpu/p_value.hpp>

namespace gpu {
inline namespace v0 {
namespace detail {
GPU_SIMILARITY_EXPORT std::vector<row_ties> kendall_ties(const prepared_table& data,
                                                         const execution& exec);
}  // namespace detail

/// The rows of a table, prepared for one measure on one backend: uploaded, ranked or scaled, and
/// packed. A handle: copies refer to the same rows, which live as long as one of them. Any number
/// of host threads may query the same rows at the same time.
///
/// On CUDA the rows stay in the memory of one device: cols rounded up to 32, 64 or 128 bytes a row
/// of at most 128 ranks, 8 bytes an element of Pearson's rows, and 16 bytes a row besides. A
/// query then costs its own rows and the pairs alone. On the CPU the ranks (1, 2 or 4 bytes each,
/// for up to 128, 32768 and more columns) or Pearson's rows (8 bytes an element) stay in memory,
/// and a query packs them for its loops, within the memory that a call takes. Rows of bits stay as
/// the loops of either backend take them.
///
/// A query is all_pairs(what, x, rows, options, sink): the result of x against the table, bit for
/// bit, with the measure that the rows were prepared for.
///
/// Options that ask for another backend, device or variant are an error. The NaN policy is for x;
/// the prepared rows were looked at before. Covariates and weights of columns are those that the
/// rows were prepared with, whether named again or left out, and hold for x too. Rows are not
/// folded: a query of few rows reads the table once, whatever its rows have in common.
///
/// A query throws gpu::invalid_argument for another measure, other covariates or weights, or other
/// columns; gpu::unsupported for row_folding::always and for sinks with results in device memory.
class prepared_rows {
 public:
  /// The measure that they are prepared for.
  [[nodiscard]] measure what() const noexcept { return table_->what; }
  /// Rows of the table.
  [[nodiscard]] index_t rows() const noexcept { return table_->rows; }
  /// Observations of each.
  [[nodiscard]] index_t cols() const noexcept { return table_->cols; }
  /// The backend that holds them and computes the queries.
  [[nodiscard]] backend where() const noexcept { return table_->where; }
  /// Name of the device, or "cpu".
  [[nodiscard]] std::string_view device() const noexcept { return table_->device; }
  /// The variant that queries run.
  [[nodiscard]] pair_variant variant() const noexcept { return table_->variant; }
  /// Rows without a statistic because all values are equal, ascending.
  [[nodiscard]] std::span<const index_t> constant_rows() const noexcept {
    return table_->constant_rows;
  }
  /// Rows without a statistic because they hold a NaN (nan_policy::propagate), ascending.
  [[nodiscard]] std::span<const index_t> nan_rows() const noexcept { return table_->nan_rows; }
  /// Rows without a statistic because they hold an infinite value, ascending.
  [[nodiscard]] std::span<const index_t> infinite_rows() const noexcept {
    return table_->infinite_rows;
  }
  /// Seconds that preparing the rows took.
  [[nodiscard]] double seconds() const noexcept { return table_->seconds; }

  /// What the library's own functions take.
  explicit prepared_rows(std::shared_ptr<const detail::prepared_table> table)
      : table_(std::move(table)) {}
  /// The same, to hand it on.
  [[nodiscard]] const std::shared_ptr<const detail::prepared_table>& table() const noexcept {
    return table_;
  }

 private:
  std::shared_ptr<const detail::prepared_table> table_;
};

/// Prepares the rows of `data` for all_pairs(what, x, prepared, ...).
///
/// @param what the measure.
/// @param data values [rows, cols] or rows of bits, in host or device memory; not needed
/// afterwards.
/// @param options NaN policy, covariates and weights of columns, variant, backend, device (one),
///   workspace, progress. Parts and folding are options of the queries and are ignored here.
/// @return the prepared rows.
/// @throw gpu::invalid_argument for too few columns or a NaN that the policy rejects;
///   gpu::unsupported for several devices; gpu::out_of_memory where the rows do not fit the device;
///   gpu::backend_unavailable, gpu::cancelled, gpu::cuda_error.
/// Cost: the upload of the table, and the preparation of its rows.
template <detail::pair_table Data>
[[nodiscard]] prepared_rows prepare_rows(measure what, const Data& data,
                                         const pair_options& options = {}) {
  return prepared_rows(detail::prepare_table(what, detail::tables_of(data), options));
}

/// The ties of each row, as gpu::kendall_ties of the table gives them, of rows that were prepared
/// on the CPU for measure::kendall or measure::spearman.
/// @throw gpu::invalid_argument where they were prepared for another measure.
[[nodiscard]] inline std::vector<row_ties> kendall_ties(const prepared_rows& data,
                                                        const execution& exec = {}) {
  return detail::kendall_ties(*data.table(), exec);
}

}  // namespace v0
}  // namespace gpu
