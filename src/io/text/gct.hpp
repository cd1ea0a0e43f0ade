#pragma once
// The lines that a GCT file has in front of its table.

#include <optional>
#include <string>
#include <string_view>

#include <gpu/index.hpp>

namespace gpu::io {

/// GCT 1.2 and 1.3: its version, the extents, then a table with tabs whose first columns are the
/// names of the rows and what else is known of them.
struct gct_preamble {
  index_t rows = 0;
  index_t cols = 0;
  index_t skipped_columns = 0;  ///< Behind the names of the rows.
  index_t skipped_lines = 0;    ///< Behind the names of the columns.
  std::size_t bytes = 0;        ///< Of the two lines.
};

/// The preamble that `text` begins with; nothing where it is no GCT.
/// @throw input_error where its second line is not one
[[nodiscard]] std::optional<gct_preamble> find_gct(std::string_view text, const std::string& file);

}  // namespace gpu::io
