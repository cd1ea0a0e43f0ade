#pragma once
// Text between two tags of XML.

#include <string>
#include <string_view>

namespace gpu::io {

/// `text` with the signs of XML as entities, and U+FFFD in place of bytes that are no UTF-8 and of
/// characters that XML does not have: a parser refuses the whole file for one of them.
[[nodiscard]] std::string xml_text(std::string_view text);

}  // namespace gpu::io
