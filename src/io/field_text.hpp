#pragma once
// Names as fields of a line of text.

#include <optional>
#include <string>
#include <string_view>

#include "io/table.hpp"

namespace gpu::io {

/// Whether a name needs quotes: it has the separator, a quote of either kind, '#' or the end of a
/// line, or it begins or ends with a blank. R's read.table takes ' for a quote and # for a comment
/// by default, read.delim and pandas do not; between double quotes all of them read the name.
[[nodiscard]] bool needs_quotes(std::string_view name, char separator);

/// The name as a field: in double quotes where it needs them, those in it doubled, as RFC 4180 has
/// it.
[[nodiscard]] std::string field_of(std::string_view name, char separator);

/// All names as fields; nothing where none needs quotes.
[[nodiscard]] std::optional<row_names> fields_of(const row_names& names, char separator);

}  // namespace gpu::io
