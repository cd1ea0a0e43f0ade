#pragma once
/// @file
/// A table that is prepared once and then queried many times: x against y without the upload and
/// the ranking of y.

#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include <gpu/backend.hpp>
#include <gpu/detail/prepared_table.hpp>
#include <gpu/matrix_input.hpp>
#include <gpu/pearson.hpp>
#include <gpu/spearman.hpp>

namespace gpu {
inline namespace v0 {

/// The rows of a table, prepared for one measure on one backend: uploaded, ranked or scaled, and
/// packed. A handle: copies refer to the same rows, which live as long as one of them. Any number
/// of host threads may query the same rows at the same time.
///
/// On CUDA the rows stay in the memory of one device: cols rounded up to 32, 64 or 128 bytes a row
/// of at most 128 ranks, 8 bytes an element of Pearson's rows, and 16 bytes a row besides. A
/// query then costs its own rows and the pairs alone. On the CPU the ranks (1, 2 or 4 bytes each,
/// for up to 128, 32768 and more columns) or Pearson's rows (8 bytes an element) stay in memory,
/// and a query packs them for its loops, within the memory that a call takes.
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
/// @param data values [rows, cols] in host or device memory; not needed afterwards.
/// @param options NaN policy, covariates and weights of columns, variant, backend, device (one),
///   workspace, progress. Parts and folding are options of the queries and are ignored here.
/// @return the prepared rows.
/// @throw gpu::invalid_argument for too few columns or a NaN that the policy rejects;
///   gpu::unsupported for several devices; gpu::out_of_memory where the rows do not fit the device;
///   gpu::backend_unavailable, gpu::cancelled, gpu::cuda_error.
/// Cost: the upload of the table, and the preparation of its rows.
template <table_like Data>
[[nodiscard]] prepared_rows prepare_rows(measure what, const Data& data,
                                         const pair_options& options = {}) {
  return prepared_rows(detail::prepare_table(what, detail::read_table(data), options));
}

/// prepare_rows of measure::spearman.
template <table_like Data>
[[nodiscard]] prepared_rows prepare_spearman_rows(const Data& data,
                                                  const spearman_options& options = {}) {
  return prepare_rows(measure::spearman, data, options);
}

/// prepare_rows of measure::pearson.
template <table_like Data>
[[nodiscard]] prepared_rows prepare_pearson_rows(const Data& data,
                                                 const pearson_options& options = {}) {
  return prepare_rows(measure::pearson, data, options);
}

/// all_pairs(what, x, y, ...) with rows of y that are prepared: the same result, bit for bit.
///
/// @param what the measure that `y` was prepared for.
/// @param x values [rows of x, cols].
/// @param y from prepare_rows, as many columns.
/// @param options as of all_pairs. The backend, the device and the variant of `y` are used: options
/// that ask for others are an error. NaN policy: of x; rows of y were looked at
///   when they were prepared. Covariates and weights of columns: those that `y` was prepared with,
///   named again or left out, which takes those of `y` for `x` too. Rows are not folded: a query of
///   few rows reads y once, whatever its rows have in common.
/// @param sink what to keep, with a result in host memory.
/// @return as all_pairs(what, x, y, ...).
/// @throw gpu::invalid_argument where y was prepared for another measure or with other covariates
///   or weights, has other columns, or is on another backend or device than the options ask for;
///   gpu::unsupported for row_folding::always and for sinks with results in device memory; else as
///   all_pairs.
template <table_like X, pair_sink Sink = dense_sink>
sink_result_t<Sink> all_pairs(measure what, const X& x, const prepared_rows& y,
                              const pair_options& options = {}, const Sink& sink = {}) {
  return detail::all_pairs(what, {.x = detail::read_table(x), .y = {}, .prepared_y = y.table()},
                           options, sink);
}

/// As above with the default options.
template <table_like X, pair_sink Sink>
sink_result_t<Sink> all_pairs(measure what, const X& x, const prepared_rows& y, const Sink& sink) {
  return gpu::all_pairs(what, x, y, pair_options{}, sink);
}

/// all_pairs of measure::spearman with rows of y from prepare_spearman_rows.
template <table_like X, pair_sink Sink = dense_sink>
sink_result_t<Sink> spearman_all_pairs(const X& x, const prepared_rows& y,
                                       const spearman_options& options = {},
                                       const Sink& sink = {}) {
  return all_pairs(measure::spearman, x, y, options, sink);
}

/// As above with the default options.
template <table_like X, pair_sink Sink>
sink_result_t<Sink> spearman_all_pairs(const X& x, const prepared_rows& y, const Sink& sink) {
  return all_pairs(measure::spearman, x, y, sink);
}

/// all_pairs of measure::pearson with rows of y from prepare_pearson_rows.
template <table_like X, pair_sink Sink = dense_sink>
sink_result_t<Sink> pearson_all_pairs(const X& x, const prepared_rows& y,
                                      const pearson_options& options = {}, const Sink& sink = {}) {
  return all_pairs(measure::pearson, x, y, options, sink);
}

/// As above with the default options.
template <table_like X, pair_sink Sink>
sink_result_t<Sink> pearson_all_pairs(const X& x, const prepared_rows& y, const Sink& sink) {
  return all_pairs(measure::pearson, x, y, sink);
}

}  // namespace v0
}  // namespace gpu
