#include "io/read/transposed_rows.hpp"

#include <algorithm>
#include <utility>

#include "base/parallel.hpp"

namespace gpu::io {
namespace {

/// Copies squares that fit the first-level cache, so that neither side is walked line by line.
template <class T>
matrix<T> transposed_values(const matrix<T>& in, int threads) {
  constexpr index_t side = 32;
  matrix<T> out(in.cols(), in.rows());
  const T* const from = in.data();
  T* const to = out.data();
  const index_t rows = in.rows();
  const index_t cols = in.cols();
  detail::parallel_for_ranges(cols, side, threads, [&](detail::index_range some, int) {
    for (index_t first_row = 0; first_row < rows; first_row += side) {
      const index_t last_row = std::min(first_row + side, rows);
      for (index_t j = some.begin; j < some.end; ++j) {
        for (index_t i = first_row; i < last_row; ++i) to[j * rows + i] = from[i * cols + j];
      }
    }
  });
  return out;
}

}  // namespace

table transposed(const table& in, int threads) {
  const int used = detail::thread_count(threads);
  table out{.values = std::visit(
                [used](const auto& values) { return any_matrix(transposed_values(values, used)); },
                in.values)};
  for (const std::string& name : in.columns.names) out.names.add(name);
  if (in.names.given()) {
    out.columns.corner = in.columns.corner;
    for (index_t i = 0; i < in.rows(); ++i) out.columns.names.emplace_back(in.names[i]);
  }
  out.reading = in.reading;
  std::swap(out.reading.rows_named_by, out.reading.columns_named_by);
  out.first_nan = in.first_nan;
  out.missing = in.missing;
  return out;
}

transposed_rows::transposed_rows(std::unique_ptr<row_reader> source, int threads)
    : table_(transposed(source->rest(), threads)) {
  facts_ = {.cols = table_->cols(),
            .rows = table_->rows(),
            .names_rows = !table_->reading.rows_named_by.empty(),
            .is_float = source->is_float(),
            .columns = table_->columns,
            .reading = table_->reading};
}

std::optional<table> transposed_rows::next() {
  if (!table_ || rows() == 0) return std::nullopt;
  return rest();
}

table transposed_rows::rest() {
  if (!table_) return {};
  table out = std::move(*table_);
  table_.reset();
  return out;
}

}  // namespace gpu::io
