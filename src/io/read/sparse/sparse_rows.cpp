#include "io/read/sparse/sparse_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "io/io_error.hpp"

namespace gpu::io {
namespace {

std::size_t element_bytes_of(const any_sparse_values& values) {
  return std::visit([]<class T>(const array<T>&) { return sizeof(T); }, values);
}

}  // namespace

sparse_rows::sparse_rows(sparse_file what, const read_options& options, const std::string& file,
                         std::uint64_t max_bytes)
    : what_(std::move(what)),
      file_(file),
      max_bytes_(max_bytes),
      threads_(options.threads),
      keeps_sparse_(options.keeps_sparse) {
  sort_columns(what_.matrix, threads_);
  if (const auto twice = find_repeated(what_.matrix, threads_)) {
    auto [row, col] = *twice;
    if (options.transposes) std::swap(row, col);
    throw input_error(
        file, {},
        fmt::format("row {}, column {} (from 1 on) is stored twice, expected each place once: "
                    "add such values first (sum_duplicates of SciPy)",
                    row + 1, col + 1));
  }
  missing_ = find_nans(what_.matrix).count;
  facts_ = {.cols = what_.matrix.cols,
            .rows = what_.matrix.rows,
            .names_rows = what_.names.given(),
            .columns = std::move(what_.columns),
            .reading = std::move(what_.reading)};
}

table sparse_rows::describe(index_t begin, index_t end) {
  table out;
  const bool takes_all = begin == 0 && end == what_.matrix.rows;
  if (what_.names.given()) {
    if (takes_all) {
      out.names = what_.names;
    } else {
      for (index_t i = begin; i < end; ++i) out.names.add(what_.names[i]);
    }
  }
  out.columns = facts_.columns;
  out.reading = facts_.reading;
  if (missing_ == 0) return out;
  if (takes_all) {
    out.missing = missing_;
  } else {
    for (index_t i = begin; i < end; ++i) {
      out.missing += static_cast<index_t>(nan_columns(what_.matrix, i).size());
    }
  }
  if (out.missing > 0) out.first_nan = what_.first_nan;
  return out;
}

table sparse_rows::write_out(index_t begin, index_t end) {
  const auto row_bytes = static_cast<std::uint64_t>(std::max<index_t>(cols(), 1)) *
                         element_bytes_of(what_.matrix.values);
  const auto rows = static_cast<std::uint64_t>(end - begin);
  if (rows > max_bytes_ / row_bytes) {
    throw input_error(
        file_, {},
        fmt::format("its {} rows x {} columns have to be written out here, and take more than the "
                    "{} bytes that are allowed (max_bytes, --max-input)",
                    end - begin, cols(), max_bytes_));
  }
  table out = describe(begin, end);
  out.values = dense_rows(what_.matrix, begin, end, threads_);
  return out;
}

std::optional<table> sparse_rows::next() {
  constexpr std::uint64_t block_bytes = std::uint64_t{16} << 20;
  const index_t left = what_.matrix.rows - done_;
  if (left == 0) return std::nullopt;
  const auto row_bytes = static_cast<std::uint64_t>(std::max<index_t>(cols(), 1)) *
                         element_bytes_of(what_.matrix.values);
  const auto fitting = static_cast<index_t>(block_bytes / row_bytes);
  const index_t begin = std::exchange(done_, done_ + std::clamp<index_t>(fitting, 1, left));
  return write_out(begin, done_);
}

table sparse_rows::rest() {
  const index_t begin = std::exchange(done_, what_.matrix.rows);
  if (!keeps_sparse_ || begin > 0) return write_out(begin, done_);
  table out = describe(begin, done_);
  out.sparse = std::move(what_.matrix);
  what_.matrix = {};
  done_ = 0;
  return out;
}

}  // namespace gpu::io
