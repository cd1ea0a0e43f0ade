#include "cli/verbs/table_notes.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <functional>
#include <optional>

#include <gpu/index.hpp>

#include "base/parallel.hpp"
#include "base/parsed.hpp"
#include "cli/process/messages.hpp"
#include "io/io_error.hpp"

namespace gpu::cli {
namespace {

constexpr index_t looked_at = 100;  // names that tell what all are

/// The number that stands in some digits of a text.
int number_at(std::string_view text, std::size_t begin, std::size_t digits) {
  int value = 0;
  for (const char c : text.substr(begin, digits)) value = 10 * value + (c - '0');
  return value;
}

/// Whether the numbers of a date are years of our times, months and days. What follows a year that
/// comes first is a month.
bool is_in_calendar(std::string_view text, std::string_view shape) {
  for (std::size_t at = 0; at < shape.size();) {
    if (shape[at] != '0') {
      ++at;
      continue;
    }
    const std::size_t run = std::min(shape.find_first_not_of('0', at), shape.size()) - at;
    const std::size_t digits = shape != "00000000" ? run : at == 0 ? 4 : 2;
    const int value = number_at(text, at, digits);
    const bool is_month = digits < 4 && shape.starts_with("0000") && (at == 4 || at == 5);
    const int least = digits == 4 ? 1800 : 1;
    const int most = digits == 4 ? 2199 : is_month ? 12 : 31;
    if (value < least || value > most) return false;
    at += digits;
  }
  return true;
}

/// Whether `text` is a date, a time of day, or a date and a time behind it.
bool is_date(std::string_view text) {
  constexpr std::array<std::string_view, 15> dates{
      "0000-00-00", "0000/00/00", "0000.00.00", "00.00.0000",  "00/00/0000",
      "00-00-0000", "0/0/0000",   "0/00/0000",  "00/0/0000",   "0000-00",
      "00000000",   "0000Q0",     "0000-Q0",    "00-AAA-0000", "0000-AAA-00"};
  constexpr std::array<std::string_view, 3> times{"00:00", "0:00", "00:00:00"};
  std::string shape;
  for (const char c : text.substr(0, 20)) {
    const auto octet = static_cast<unsigned char>(c);
    const bool is_letter = std::isalpha(octet) != 0 && c != 'Q';
    shape += std::isdigit(octet) != 0 ? '0' : is_letter ? 'A' : c;
  }
  if (std::find(times.begin(), times.end(), shape) != times.end()) return true;
  if (shape.size() > 11 && (shape[10] == ' ' || text[10] == 'T')) shape.resize(10);
  return std::find(dates.begin(), dates.end(), shape) != dates.end() && is_in_calendar(text, shape);
}

/// Whether a header speaks of time.
bool means_time(const std::string& header) {
  const std::string word = gpu::detail::lower(header);
  constexpr std::array<std::string_view, 8> words{"date", "datetime", "time",  "timestamp",
                                                  "day",  "week",     "month", "year"};
  return std::find(words.begin(), words.end(), word) != words.end();
}

/// What tells that the rows are observations, as "rows are named by dates"; "" where nothing does.
std::string sign_of_observations(const io::table& table) {
  constexpr index_t many = 1000;
  constexpr index_t few = 10;  // fewer are no series
  if (table.bits) return "";
  const index_t rows = table.rows();
  if (!table.names.given()) {
    if (rows < many || rows / 2 < table.cols()) return "";
    return fmt::format("{} rows without names x {} columns", rows, table.cols());
  }
  if (rows < few) return "";
  if (means_time(table.columns.corner)) {
    return fmt::format("rows are named by the column {}", io::quoted(table.columns.corner));
  }
  for (index_t i = 0; i < std::min(rows, looked_at); ++i) {
    if (!is_date(table.names[i])) return "";
  }
  return fmt::format("rows are named by dates or times, the first by {}",
                     io::quoted(table.names[0]));
}

struct hashed_row {
  std::uint64_t hash = 0;
  index_t row = 0;
  friend auto operator<=>(const hashed_row&, const hashed_row&) = default;
};

/// The rows by the hash of their names, then by number.
std::vector<hashed_row> rows_by_hash(const io::row_names& names, int threads) {
  constexpr index_t rows_at_once = index_t{1} << 16;
  std::vector<hashed_row> out(static_cast<std::size_t>(names.size()));
  detail::parallel_for_ranges(names.size(), rows_at_once, threads, [&](auto range, int) {
    for (index_t i = range.begin; i < range.end; ++i) {
      out[static_cast<std::size_t>(i)] = {std::hash<std::string_view>{}(names[i]), i};
    }
  });
  std::sort(out.begin(), out.end());
  return out;
}

/// What to say where rows share a name; "" where none do.
std::string repeated_names(const io::row_names& names, int threads) {
  if (!names.given()) return "";
  const std::vector<hashed_row> rows = rows_by_hash(names, threads);
  std::size_t different = 0;
  std::optional<std::pair<index_t, index_t>> first;  // rows that share a name
  const auto end_of_hash = [&](std::size_t k) {
    const std::uint64_t hash = rows[k].hash;
    while (k < rows.size() && rows[k].hash == hash) ++k;
    return k;
  };
  for (std::size_t k = 0; k < rows.size();) {
    const std::size_t end = end_of_hash(k);
    std::vector<index_t> own;  // a row for each name with this hash: one, mostly
    for (; k < end; ++k) {
      const auto same = std::find_if(own.begin(), own.end(),
                                     [&](index_t row) { return names[row] == names[rows[k].row]; });
      if (same == own.end()) {
        own.push_back(rows[k].row);
      } else if (!first || rows[k].row < first->second) {
        first.emplace(*same, rows[k].row);
      }
    }
    different += own.size();
  }
  if (!first) return "";
  return fmt::format("{} rows have {} different names: rows {} and {} are both {}", rows.size(),
                     different, first->first + 1, first->second + 1,
                     io::quoted(names[first->first]));
}

}  // namespace

std::vector<std::string> table_notes(const io::table& table, bool transposes, int threads) {
  std::vector<std::string> notes;
  if (const std::string sign = sign_of_observations(table); !sign.empty()) {
    notes.push_back(fmt::format("{}: each row is a variable. {} takes the {} as variables", sign,
                                transposes ? "Without --transpose the command" : "--transpose",
                                transposes ? "rows of the file" : "columns"));
  }
  if (std::string shared = repeated_names(table.names, detail::thread_count(threads));
      !shared.empty()) {
    notes.push_back(std::move(shared));
  }
  return notes;
}

void note_missing_q(const pairs_command& job) {
  const bool has_lines = job.keep == keep_kind::edges || job.keep == keep_kind::top_k;
  if (job.quiet || job.filter.adjust != adjustment::benjamini_hochberg) return;
  if (!has_lines || job.writes_q()) return;
  note("--adjust bh",
       {fmt::format("there is no column q with {}: q needs every pair that --max-p keeps",
                    job.keep == keep_kind::top_k ? "--keep top-k"
                    : job.is_differential()      ? "--min-abs-z"
                                                 : "--min-abs")});
}

}  // namespace gpu::cli
