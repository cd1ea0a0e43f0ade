#include "io/text/gct.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/parsed.hpp"
#include "io/io_error.hpp"
#include "io/text/text_fields.hpp"

namespace gpu::io {

std::optional<gct_preamble> find_gct(std::string_view text, const std::string& file) {
  const std::size_t first_end = text.find('\n');
  const std::string_view version = trimmed(text.substr(0, first_end));
  const bool is_newer = version == "#1.3";
  if ((version != "#1.2" && !is_newer) || first_end == std::string_view::npos) return {};
  const std::size_t end = std::min(text.find('\n', first_end + 1), text.size());
  const std::string_view line = text.substr(first_end + 1, end - first_end - 1);
  std::vector<index_t> extents;
  field_cursor cursor(line, {.separator = ' ', .merges = true});
  for (std::string_view field; cursor.next(field);) {
    extents.push_back(gpu::detail::parsed<index_t>(field).value_or(-1));
  }
  const std::size_t expected = is_newer ? 4 : 2;
  constexpr index_t most = index_t{1} << 40;
  if (extents.size() != expected ||
      std::any_of(extents.begin(), extents.end(), [](index_t e) { return e < 0 || e > most; })) {
    throw input_error(
        file, {2, 0},
        fmt::format("got {}, expected the {} extents of a GCT table", quoted(line), expected));
  }
  return gct_preamble{.rows = extents[0],
                      .cols = extents[1],
                      .skipped_columns = is_newer ? extents[2] : 1,
                      .skipped_lines = is_newer ? extents[3] : 0,
                      .bytes = std::min(end + 1, text.size())};
}

}  // namespace gpu::io
