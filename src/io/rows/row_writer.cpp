#include "io/rows/row_writer.hpp"

#include <algorithm>
#include <cstring>
#include <span>
#include <string>
#include <utility>

#include "io/field_text.hpp"
#include "io/npy_header.hpp"
#include "io/write/number_text.hpp"

namespace gpu::io {

row_writer::row_writer(output_file& out, rows_to_write what)
    : out_(out),
      what_(std::move(what)),
      separator_(separator_of(what_.format)),
      text_(out, what_.threads) {}

/// Once, and not before there is a result: what fails first then leaves nothing in a pipe.
void row_writer::write_header() {
  if (std::exchange(has_header_, true)) return;
  if (what_.format == result_format::npy) {
    npy_.emplace(out_, what_.is_float ? "'<f4'" : "'<f8'", std::vector<index_t>{what_.cols},
                 what_.rows);
    return;
  }
  if (!what_.columns.given()) return;
  std::string line =
      what_.are_named ? field_of(what_.columns.corner, separator_) + separator_ : std::string();
  for (std::size_t k = 0; k < what_.columns.names.size(); ++k) {
    if (k > 0) line += separator_;
    line += field_of(what_.columns.names[k], separator_);
  }
  out_.write(line + '\n');
}

void row_writer::write(matrix_view<const double> values, const row_names& names) {
  write_any(values, names);
}

void row_writer::write(matrix_view<const float> values, const row_names& names) {
  write_any(values, names);
}

template <class T>
void row_writer::write_any(matrix_view<const T> values, const row_names& names) {
  write_header();
  rows_ += values.rows();
  if (what_.format != result_format::npy) {
    const std::optional<row_names> quoted = fields_of(names, separator_);
    return write_text(values, quoted ? *quoted : names);
  }
  if (values.row_stride() == values.cols()) {
    npy_->write(bytes_of(
        std::span(values.data(), static_cast<std::size_t>(values.rows() * values.cols()))));
    return;
  }
  for (index_t i = 0; i < values.rows(); ++i) {
    npy_->write(bytes_of(std::span(values.row(i), static_cast<std::size_t>(values.cols()))));
  }
}

template <class T>
void row_writer::write_text(matrix_view<const T> values, const row_names& names) {
  const bool are_named = names.given();
  const index_t cols = values.cols();
  if (cols == 0) {  // lines all the same, of names or of nothing
    text_.write(values.rows(), names.longest(values.rows()) + 1,
                [&](char* out, index_t first, index_t last) {
                  for (index_t i = first; i < last; ++i) {
                    if (are_named) {
                      std::memcpy(out, names[i].data(), names[i].size());
                      out += names[i].size();
                    }
                    *out++ = '\n';
                  }
                  return out;
                });
    return;
  }
  const std::size_t most_bytes =
      number_longest + 1 + (are_named ? names.longest(values.rows()) + 1 : 0);
  text_.write(values.rows() * cols, most_bytes, [&](char* out, index_t first, index_t last) {
    index_t i = first / cols;
    index_t j = first % cols;
    for (index_t item = first; item < last; ++item) {
      if (j == 0 && are_named) {
        const std::string_view name = names[i];
        out = std::copy(name.begin(), name.end(), out);
        *out++ = separator_;
      }
      out = append_number(out, values(i, j));
      const bool ends_line = ++j == cols;
      *out++ = ends_line ? '\n' : separator_;
      if (!ends_line) continue;
      j = 0;
      ++i;
    }
    return out;
  });
}

void row_writer::finish() {
  write_header();
  if (npy_) npy_->finish(rows_);
}

}  // namespace gpu::io
