#pragma once
// Numbers of things in messages.

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace gpu::inline v0::detail {

/// "1 row", "2 rows": `singular` is the thing in the singular, whose plural ends in s.
inline std::string counted(auto count, std::string_view singular) {
  return fmt::format("{} {}{}", count, singular, count == 1 ? "" : "s");
}

/// "1 row has", "2 rows have".
inline std::string counted_have(auto count, std::string_view singular) {
  return counted(count, singular) + (count == 1 ? " has" : " have");
}

}  // namespace gpu::inline v0::detail
