#pragma once
// Some of the rows of a file, and names for rows that the file does not name.

#include <memory>
#include <string>

#include "io/read/read_table.hpp"
#include "io/read/row_reader.hpp"
#include "io/table.hpp"
#include "io/text/text_options.hpp"

namespace gpu::io {

/// @throw input_error unless a file of `rows` rows, or of more where `has_more`, has the rows of
///   `range`
void check_row_range(const row_range& range, index_t rows, bool has_more, const std::string& file);

/// Those of all rows of a file, which `source` has, that `range` means. NaN are counted anew, and
/// the first is named by its place in the table of the file.
/// @throw input_error where the rows are not there
[[nodiscard]] std::unique_ptr<row_reader> choose_rows(std::unique_ptr<row_reader> source,
                                                      const row_range& range,
                                                      const std::string& file);

/// Names the rows of `source` by options.text.names_file, where there is such a file; in front of
/// row 0 `skipped` rows were left out, which have names there too.
/// @throw input_error where the rows have names already, or their number is another
[[nodiscard]] std::unique_ptr<row_reader> name_rows(std::unique_ptr<row_reader> source,
                                                    index_t skipped, const read_options& options,
                                                    const std::string& file);

}  // namespace gpu::io
