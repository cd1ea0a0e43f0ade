#include "io/read/row_choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <variant>

#include "base/counted.hpp"
#include "io/io_error.hpp"
#include "io/read/sparse/names_beside.hpp"

namespace gpu::io {
namespace {

/// The rows [begin, end) of `in`.
template <class T>
matrix<T> rows_between(const matrix<T>& in, index_t begin, index_t end) {
  matrix<T> out(end - begin, in.cols());
  std::copy(in.data() + begin * in.cols(), in.data() + end * in.cols(), out.data());
  return out;
}

sparse_matrix rows_between(const sparse_matrix& in, index_t begin, index_t end) {
  sparse_matrix out{.rows = end - begin, .cols = in.cols};
  std::visit(
      [&]<class Index, class T>(const sparse_pattern<Index>& own, const array<T>& values) {
        const auto first = own.row_begin.begin() + begin;
        const Index from = *first;
        const auto stored = static_cast<std::size_t>(own.row_begin[static_cast<std::size_t>(end)]) -
                            static_cast<std::size_t>(from);
        sparse_pattern<Index> some;
        for (auto at = first; at <= first + (end - begin); ++at) {
          some.row_begin.push_back(*at - from);
        }
        some.column.resize(stored);
        array<T> kept(stored);
        std::copy_n(own.column.data() + from, stored, some.column.data());
        std::copy_n(values.data() + from, stored, kept.data());
        out.pattern = std::move(some);
        out.values = std::move(kept);
      },
      in.pattern, in.values);
  return out;
}

/// The rows [begin, end) of a block whose first row is number `first` of the file.
table rows_of_block(table in, index_t begin, index_t end, index_t first) {
  if (begin == 0 && end == in.rows()) return in;
  table out{.columns = std::move(in.columns), .reading = std::move(in.reading)};
  for (index_t i = begin; in.names.given() && i < end; ++i) out.names.add(in.names[i]);
  stored_nans found;
  if (in.sparse) {
    out.sparse = rows_between(*in.sparse, begin, end);
    if (in.missing > 0) found = find_nans(*out.sparse);
  } else {
    out.values =
        std::visit([&](const auto& values) { return any_matrix(rows_between(values, begin, end)); },
                   in.values);
    if (in.missing > 0) found = find_nans(out.values);
  }
  out.missing = found.count;
  if (found.first) {
    out.first_nan = input_position{first + begin + found.first->first, found.first->second, true};
  }
  return out;
}

class some_rows final : public row_reader {
 public:
  some_rows(std::unique_ptr<row_reader> all, const row_range& range, const std::string& file)
      : row_reader(all->facts()), source_(std::move(all)), range_(range) {
    if (!rows()) return;
    check_row_range(range_, *rows(), false, file);
    facts_.rows = std::min(*rows(), range_.end) - range_.begin;
  }

  std::optional<table> next() override {
    while (auto block = source_->next()) {
      table some = part_of(std::move(*block));
      if (some.rows() > 0) return some;
    }
    return std::nullopt;
  }
  table rest() override { return part_of(source_->rest()); }

 private:
  table part_of(table block) {
    const index_t first = std::exchange(done_, done_ + block.rows());
    const index_t begin = std::clamp<index_t>(range_.begin - first, 0, block.rows());
    const index_t end = std::clamp<index_t>(range_.end - first, begin, block.rows());
    return rows_of_block(std::move(block), begin, end, first);
  }

  std::unique_ptr<row_reader> source_;
  row_range range_;
  index_t done_ = 0;
};

/// The names that a file has for the rows of a table.
class listed_names {
 public:
  listed_names(index_t skipped, const read_options& options, const std::string& file)
      : done_(skipped),
        is_open_(options.text.rows.is_open()),
        path_(options.text.names_file),
        file_(file),
        source_(read_row_names(path_, options, names_)) {}

  /// What reading says of rows that are named so.
  void describe(table_reading& reading) const {
    if (!reading.rows_named_by.empty()) {
      throw input_error(
          file_, {},
          fmt::format("names its rows by {}, with which --names {} does not go: that is for rows "
                      "without names",
                      reading.rows_named_by, visible(path_)));
    }
    reading.rows_named_by = source_;
  }
  void add_to(table& block) {
    const index_t end = done_ + block.rows();
    if (end > names_.size()) refuse(fmt::format("at least {}", end));
    for (; done_ < end; ++done_) block.names.add(names_[done_]);
  }
  /// All rows were named.
  void check() const {
    if (is_open_ && done_ != names_.size()) refuse(fmt::format("{}", done_));
  }

 private:
  [[noreturn]] void refuse(const std::string& rows) const {
    throw input_error(path_, {},
                      fmt::format("got {}, expected one for each row of {}, which has {}",
                                  gpu::detail::counted(names_.size(), "name"), file_, rows));
  }

  row_names names_;
  index_t done_;
  bool is_open_;
  std::string path_;
  std::string file_;
  std::string source_;
};

class named_rows final : public row_reader {
 public:
  named_rows(std::unique_ptr<row_reader> all, index_t skipped, const read_options& options,
             const std::string& file)
      : row_reader(all->facts()), source_(std::move(all)), names_(skipped, options, file) {
    names_.describe(facts_.reading);
    facts_.names_rows = true;
  }

  std::optional<table> next() override {
    auto block = source_->next();
    if (block) {
      take(*block);
    } else {
      names_.check();
    }
    return block;
  }
  table rest() override {
    table block = source_->rest();
    take(block);
    names_.check();
    return block;
  }

 private:
  void take(table& block) {
    names_.add_to(block);
    block.reading = reading();
  }

  std::unique_ptr<row_reader> source_;
  listed_names names_;
};

}  // namespace

void check_row_range(const row_range& range, index_t rows, bool has_more, const std::string& file) {
  if (has_more || (range.begin < rows && (range.is_open() || range.end <= rows))) return;
  throw input_error(
      file, {},
      fmt::format("--rows: got {}-{}, expected some of its rows from 1 to {}", range.begin + 1,
                  range.is_open() ? std::string() : fmt::to_string(range.end), rows));
}

std::unique_ptr<row_reader> choose_rows(std::unique_ptr<row_reader> source, const row_range& range,
                                        const std::string& file) {
  if (range.is_all()) return source;
  return std::make_unique<some_rows>(std::move(source), range, file);
}

std::unique_ptr<row_reader> name_rows(std::unique_ptr<row_reader> source, index_t skipped,
                                      const read_options& options, const std::string& file) {
  if (options.text.names_file.empty()) return source;
  return std::make_unique<named_rows>(std::move(source), skipped, options, file);
}

}  // namespace gpu::io
