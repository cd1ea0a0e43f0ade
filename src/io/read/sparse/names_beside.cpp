#include "io/read/sparse/names_beside.hpp"

#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/counted.hpp"
#include "base/parsed.hpp"
#include "io/io_error.hpp"
#include "io/read/numbered_lines.hpp"

namespace gpu::io {
namespace {

// Which field of a line is the name, from 1 on.
index_t field_of(const read_options& options, const std::string& file) {
  const std::string& word = options.text.names_column;
  if (word.empty()) return 1;
  if (const auto field = gpu::detail::parsed<index_t>(word); field && *field > 0) return *field;
  throw input_error(file, {},
                    fmt::format("has no header, and --names-column says {}: expected the number of "
                                "a column",
                                io::quoted(word)));
}

std::string_view field_at(std::string_view line, index_t field) {
  for (index_t k = 1; k < field; ++k) {
    const std::size_t tab = line.find('\t');
    if (tab == std::string_view::npos) return {};
    line.remove_prefix(tab + 1);
  }
  return line.substr(0, line.find('\t'));
}

// A name from each line that is not empty.
row_names read_names(const std::string& path, index_t field, const read_options& options) {
  const bool is_digested = options.digest != nullptr && options.digests_names;
  const auto digest = is_digested ? std::make_shared<file_digest>() : nullptr;
  input file(path, options.stop, options.max_bytes, digest, options.threads);
  numbered_lines lines(file.lines());
  row_names names;
  for (std::string_view line; lines.next(line);) {
    if (line.empty()) continue;
    const std::string_view name = field_at(line, field);
    if (name.empty()) {
      throw input_error(path, {lines.number(), field}, "got nothing, expected a name");
    }
    names.add(printable(name));
  }
  if (digest) options.digest->append(*digest);
  return names;
}

// "DIR/GSM1_" of "DIR/GSM1_matrix.mtx.gz".
std::optional<std::string> prefix_of(std::string path) {
  for (const std::string_view suffix : {".gz", ".zst"}) {
    if (path.ends_with(suffix)) path.resize(path.size() - suffix.size());
  }
  constexpr std::string_view own = "matrix.mtx";
  if (!path.ends_with(own)) return std::nullopt;
  path.resize(path.size() - own.size());
  const bool is_whole_word = path.empty() || path.back() == '/' || path.back() == '_' ||
                             path.back() == '.' || path.back() == '-';
  if (!is_whole_word) return std::nullopt;
  return path;
}

// The first of these that is there; empty where none is.
template <std::size_t Count>
std::string first_there(const std::string& prefix,
                        const std::array<std::string_view, Count>& names) {
  for (const std::string_view name : names) {
    std::string path = prefix + std::string(name);
    std::error_code error;
    if (std::filesystem::exists(path, error)) return path;
  }
  return {};
}

std::string last_of(const std::string& path) {
  return std::filesystem::path(path).filename().string();
}

std::string source_of(index_t field, const std::string& path) {
  return fmt::format("column {} of {}", field, last_of(path));
}

// Names the rows of the table, or its columns. The rows of the file are the columns of the table
// where it is transposed.
void name_extent(const input& file, const read_options& options, sparse_file& what,
                 const std::string& path, bool of_table_rows, const char* without) {
  const index_t expected = of_table_rows ? what.matrix.rows : what.matrix.cols;
  // Of the barcodes there is one field.
  const bool are_rows = of_table_rows != options.transposes;
  const index_t field = are_rows || path == options.text.names_file ? field_of(options, path) : 1;
  row_names names = read_names(path, field, options);
  if (names.size() != expected) {
    throw input_error(path, {},
                      fmt::format("got {}, expected one for each of the {} {} of {}{}",
                                  gpu::detail::counted(names.size(), "name"), expected,
                                  are_rows ? "rows" : "columns", file.name(), without));
  }
  if (of_table_rows) {
    what.names = std::move(names);
    what.reading.rows_named_by = source_of(field, path);
    return;
  }
  for (index_t k = 0; k < expected; ++k) what.columns.names.emplace_back(names[k]);
  what.reading.columns_named_by = source_of(field, path);
}

}  // namespace

std::string input_file(const std::string& path) {
  constexpr std::array<std::string_view, 3> matrices{"matrix.mtx", "matrix.mtx.gz",
                                                     "matrix.mtx.zst"};
  std::error_code error;
  if (!std::filesystem::is_directory(path, error)) return path;
  const std::string found = first_there(path.ends_with('/') ? path : path + "/", matrices);
  return found.empty() ? path : found;
}

beside_files find_beside(const std::string& path, const text_options& text, bool transposes) {
  constexpr std::array<std::string_view, 4> features{"features.tsv", "features.tsv.gz", "genes.tsv",
                                                     "genes.tsv.gz"};
  constexpr std::array<std::string_view, 2> barcodes{"barcodes.tsv", "barcodes.tsv.gz"};
  beside_files out;
  if (const auto prefix = prefix_of(path)) {
    out = {.of_rows = first_there(*prefix, features), .of_columns = first_there(*prefix, barcodes)};
    if (transposes) std::swap(out.of_rows, out.of_columns);
  }
  if (text.row_names == choice::no) out.of_rows.clear();
  if (text.header == choice::no) out.of_columns.clear();
  if (!text.names_file.empty()) out.of_rows = text.names_file;
  return out;
}

std::string read_row_names(const std::string& path, const read_options& options, row_names& names) {
  const index_t field = field_of(options, path);
  names = read_names(path, field, options);
  return source_of(field, path);
}

void name_from_beside(const input& file, const read_options& options, sparse_file& what) {
  const beside_files beside = find_beside(file.name(), options.text, options.transposes);
  const bool is_said = !options.text.names_file.empty();
  if (!beside.of_rows.empty()) {
    name_extent(file, options, what, beside.of_rows, true,
                is_said ? "" : " (--row-names no leaves them out)");
  }
  if (!beside.of_columns.empty()) {
    name_extent(file, options, what, beside.of_columns, false, " (--header no leaves them out)");
  }
}

}  // namespace gpu::io
