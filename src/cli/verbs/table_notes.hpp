#pragma once
// What a user is told of a table whose rows become variables.

#include <fmt/format.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/counted.hpp"
#include "cli/options/options.hpp"
#include "io/table.hpp"

namespace gpu::cli {

/// Says where rows look like observations, not like variables, and where rows share a name.
/// Cost: a hash of each name, where the rows have names; by all threads.
/// @param transposes whether the rows of the table are the columns of the file
[[nodiscard]] std::vector<std::string> table_notes(const io::table& table, bool transposes,
                                                   int threads);

/// Who adjusts and finds no column q in the result is told why.
void note_missing_q(const pairs_command& job);

/// "2 rows have no statistic, 1 of them because of an infinite value", `what` they have, with a
/// line end;
/// "" where all rows have one.
template <class Summary>
[[nodiscard]] std::string rows_without_text(const Summary& s, std::string_view what) {
  const std::size_t infinite = s.infinite_rows.size();
  const std::size_t without = s.constant_rows.size() + s.nan_rows.size() + infinite;
  if (without == 0) return "";
  return fmt::format(
      "{} {}{}\n", gpu::detail::counted_have(without, "row"), what,
      infinite == 0 ? "" : fmt::format(", {} of them because of an infinite value", infinite));
}

}  // namespace gpu::cli
