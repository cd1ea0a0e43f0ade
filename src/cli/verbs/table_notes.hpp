#pragma once
// What a user is told of a table whose rows become variables.

#include <cstddef>
#include <string>
#include <vector>

#include "io/table.hpp"

namespace gpu::cli {

/// Says where rows look like observations, not like variables, and where rows share a name.
/// Cost: a hash of each name, where the rows have names; by all threads.
/// @param transposes whether the rows of the table are the columns of the file
[[nodiscard]] std::vector<std::string> table_notes(const io::table& table, bool transposes,
                                                   int threads);

/// ", 2 of them because of an infinite value" of rows without a statistic; "" of none.
[[nodiscard]] std::string infinite_text(std::size_t infinite_rows);

}  // namespace gpu::cli
