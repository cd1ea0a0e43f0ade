#include "io/rows/selection_writer.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "io/field_text.hpp"
#include "io/npy_header.hpp"
#include "io/write/number_text.hpp"
#include "io/write/result_headers.hpp"
#include "io/write/six_digits.hpp"

namespace gpu::io {
namespace {

constexpr std::size_t integer_longest = 20;

}  // namespace

selection_writer::selection_writer(output_file& out, selection_to_write what)
    : out_(out),
      what_(std::move(what)),
      separator_(separator_of(what_.format)),
      text_(out, what_.threads) {
  for (std::string& name : what_.columns.names) {
    name = field_of(name, separator_);
    longest_column_ = std::max(longest_column_, name.size());
  }
}

/// Once, and not before there is a result: what fails first then leaves nothing in a pipe.
void selection_writer::write_header() {
  if (std::exchange(has_header_, true)) return;
  if (what_.format == result_format::npy) {
    std::string descr = "[('index', '<i8'), ('value', ";
    descr += what_.is_float ? "'<f4')" : "'<f8')";
    if (what_.has_counts) descr += ", ('count', '<i8')";
    descr += "]";
    // The elements of a vector are the rows of its file.
    npy_.emplace(out_, descr,
                 what_.is_vector ? std::vector<index_t>{} : std::vector<index_t>{what_.entries},
                 what_.is_vector ? std::nullopt : what_.rows);
    return;
  }
  std::string line = what_.is_vector ? "rank\tposition\tvalue" : "name\trank\tcolumn\tvalue";
  if (what_.has_counts) line += "\tcount";
  out_.write(header_line(what_.format, line + '\n'));
}

template <class T>
void selection_writer::write(const row_selection<T>& selected, const row_names& names) {
  write_header();
  if (what_.format != result_format::npy) {
    const std::optional<row_names> quoted = fields_of(names, separator_);
    write_text(selected, quoted ? *quoted : names);
  } else if (what_.is_float) {
    write_records<float>(selected);
  } else {
    write_records<double>(selected);
  }
  rows_ += selected.values.rows();
  if (what_.is_vector) vector_entries_ += selected.values.cols();
}

template <class T>
void selection_writer::write_text(const row_selection<T>& selected, const row_names& names) {
  const index_t entries = selected.values.cols();
  const index_t rows = selected.values.rows();
  const std::size_t most_bytes = names.longest(rows_ + rows) +
                                 std::max(longest_column_, integer_longest) + number_longest +
                                 2 * integer_longest + 5;
  text_.write(rows * entries, most_bytes, [&](char* out, index_t first, index_t last) {
    for (index_t item = first; item < last; ++item) {
      const index_t i = item / entries;
      const index_t k = item % entries;
      if (!selected.found.empty() && k >= selected.found[static_cast<std::size_t>(i)]) continue;
      if (!what_.is_vector) {
        out = append(out, names.given() ? names[i] : names.name(rows_ + i));
        *out++ = separator_;
      }
      out = append_integer(out, k + 1);
      *out++ = separator_;
      const index_t column = selected.indices(i, k);
      if (what_.columns.given() && !what_.is_vector) {
        out = append(out, what_.columns.names[static_cast<std::size_t>(column)]);
      } else {
        out = append_integer(out, column + 1);
      }
      *out++ = separator_;
      out = append_number(out, selected.values(i, k));
      if (what_.has_counts) {
        *out++ = separator_;
        out = append_integer(out, selected.counts(i, k));
      }
      *out++ = '\n';
    }
    return out;
  });
}

template <class Stored, class T>
void selection_writer::write_records(const row_selection<T>& selected) {
  std::string bytes;
  const auto add = [&bytes](auto value) {
    const std::size_t at = bytes.size();
    bytes.resize(at + sizeof(value));
    std::memcpy(bytes.data() + at, &value, sizeof(value));
  };
  for (index_t i = 0; i < selected.values.rows(); ++i) {
    bytes.clear();
    for (index_t k = 0; k < selected.values.cols(); ++k) {
      add(std::int64_t{selected.indices(i, k)});
      add(static_cast<Stored>(selected.values(i, k)));
      if (what_.has_counts) add(std::int64_t{selected.counts(i, k)});
    }
    npy_->write(bytes);
  }
}

void selection_writer::finish() {
  write_header();
  if (npy_) npy_->finish(what_.is_vector ? vector_entries_ : rows_);
}

template void selection_writer::write(const row_selection<double>&, const row_names&);
template void selection_writer::write(const row_selection<float>&, const row_names&);
template void selection_writer::write(const row_selection<std::int32_t>&, const row_names&);

}  // namespace gpu::io
