#include "io/read/parquet/parquet_columns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <utility>

#include "io/io_error.hpp"
#include "io/json.hpp"
#include "io/text/column_roles.hpp"
#include "io/text/text_layout.hpp"

namespace gpu::io {
namespace {

bool is_number(parquet_kind kind) {
  return kind == parquet_kind::integer || kind == parquet_kind::single_precision ||
         kind == parquet_kind::double_precision;
}

/// What would change the numbers of a table of text, and has no meaning here.
void check_options(const text_options& options, const std::string& file) {
  const auto refuse = [&](const char* option) {
    throw input_error(file, {},
                      fmt::format("{} is of text, and this is a Parquet file, whose missing values "
                                  "are nulls and NaN",
                                  option));
  };
  if (!options.missing.empty()) refuse("--na-values");
  if (!options.comment.empty()) refuse("--comment");
}

/// The columns of pandas' index, by position. An index of row numbers is no column.
std::vector<index_t> index_columns(std::string_view pandas,
                                   const std::vector<parquet_column>& columns) {
  std::vector<index_t> found;
  const auto about = json_value::parse(pandas);
  const json_value* const index = about ? about->find("index_columns") : nullptr;
  if (index == nullptr) return found;
  for (const auto& member : index->members()) {
    const json_value& entry = member.second;
    if (entry.type() != json_value::kind::text) continue;
    const auto column = std::find_if(columns.begin(), columns.end(),
                                     [&](const auto& c) { return c.name == entry.text(); });
    if (column != columns.end()) found.push_back(column - columns.begin());
  }
  return found;
}

/// What pandas calls an index that has no name.
bool is_made_up(std::string_view name) {
  return name.starts_with("__index_level_") && name.ends_with("__");
}

class chooser {
 public:
  chooser(const std::vector<parquet_column>& columns, std::string_view pandas,
          const text_options& options, const std::string& file)
      : columns_(columns),
        options_(options),
        file_(file),
        index_(index_columns(pandas, columns)),
        chosen_(choose_columns(options, std::ssize(columns), names_of(columns), file)) {}

  parquet_choice choose() {
    parquet_choice out;
    out.names = names_column();
    if (out.names >= 0) take_names(out);
    auto roles = roles_of(chosen_, std::ssize(columns_), out.names);
    leave_out_index(roles, out);
    bool are_single = true;
    bool are_integers = true;
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      if (roles[c] != field_role::value) continue;
      check_number(columns_[c]);
      out.values.push_back(static_cast<index_t>(c));
      out.columns.names.push_back(cleaned_name(columns_[c].name));
      are_single = are_single && columns_[c].kind == parquet_kind::single_precision;
      are_integers = are_integers && columns_[c].kind == parquet_kind::integer;
    }
    if (out.values.empty()) throw input_error(file_, {}, "got no column of numbers to read");
    out.element = are_single     ? parquet_kind::single_precision
                  : are_integers ? parquet_kind::integer
                                 : parquet_kind::double_precision;
    out.reading.columns_named_by = "the schema";
    return out;
  }

 private:
  static std::vector<std::string> names_of(const std::vector<parquet_column>& columns) {
    std::vector<std::string> names;
    for (const parquet_column& column : columns) names.push_back(column.name);
    return names;
  }

  [[nodiscard]] const parquet_column& at(index_t column) const {
    return columns_[static_cast<std::size_t>(column)];
  }

  /// Whether the options leave the column out, or take it for values, which text cannot be.
  [[nodiscard]] bool is_spoken_for(index_t column) const {
    const auto has = [column](const std::vector<index_t>& list) {
      return std::find(list.begin(), list.end(), column) != list.end();
    };
    return has(chosen_.skipped) || (at(column).kind != parquet_kind::text && has(chosen_.values));
  }

  [[nodiscard]] index_t first_of(const std::vector<index_t>& list, parquet_kind kind) const {
    for (const index_t column : list) {
      if (at(column).kind == kind && !is_spoken_for(column)) return column;
    }
    return -1;
  }

  [[nodiscard]] index_t names_column() const {
    if (chosen_.names >= 0) return chosen_.names;
    if (options_.row_names == choice::no) return -1;
    std::vector<index_t> all(columns_.size());
    for (std::size_t c = 0; c < all.size(); ++c) all[c] = static_cast<index_t>(c);
    for (const auto& [list, kind] : {std::pair(&index_, parquet_kind::text),
                                     std::pair(&std::as_const(all), parquet_kind::text),
                                     std::pair(&index_, parquet_kind::integer)}) {
      const index_t found = first_of(*list, kind);
      if (found >= 0) return found;
    }
    return options_.row_names == choice::yes && !columns_.empty() ? 0 : -1;
  }

  void take_names(parquet_choice& out) const {
    const parquet_column& column = at(out.names);
    if (column.kind != parquet_kind::text && column.kind != parquet_kind::integer) {
      throw input_error(file_, {},
                        fmt::format("column {} has the type {}, expected text or whole numbers for "
                                    "the names of the rows",
                                    quoted(column.name), column.type));
    }
    if (!is_made_up(column.name)) out.columns.corner = cleaned_name(column.name);
    out.reading.rows_named_by = fmt::format("column {}", out.names + 1);
  }

  /// An index numbers the rows: without being asked for, it is no variable.
  void leave_out_index(std::vector<field_role>& roles, parquet_choice& out) const {
    for (const index_t column : index_) {
      auto& role = roles[static_cast<std::size_t>(column)];
      if (role != field_role::value || !chosen_.values.empty()) continue;
      role = field_role::skipped;
      out.reading.notes.push_back(
          fmt::format("column {} ({}) is of pandas' index and left out: --columns reads it",
                      column + 1, quoted(at(column).name)));
    }
  }

  void check_number(const parquet_column& column) const {
    if (is_number(column.kind)) return;
    throw input_error(file_, {},
                      fmt::format("column {} has the type {}, expected bool, integers, float or "
                                  "double (--skip-columns leaves it out)",
                                  quoted(column.name), column.type));
  }

  const std::vector<parquet_column>& columns_;
  const text_options& options_;
  const std::string& file_;
  std::vector<index_t> index_;
  column_choice chosen_;
};

}  // namespace

parquet_choice choose_parquet_columns(const std::vector<parquet_column>& columns,
                                      std::string_view pandas, const text_options& options,
                                      const std::string& file) {
  check_options(options, file);
  return chooser(columns, pandas, options, file).choose();
}

}  // namespace gpu::io
