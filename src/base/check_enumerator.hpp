#pragma once
// Refuses values that are no enumerator, which a cast or another language can produce, and names
// those of options.

#include <fmt/format.h>

#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>

#include <gpu/error.hpp>
#include <gpu/execution.hpp>

namespace gpu::inline v0::detail {

/// `value` is one of the enumerators from 0 to `last`, without gaps; else gpu::invalid_argument
/// that names it.
template <class Enum>
void check_enumerator(std::string_view name, Enum value, Enum last) {
  if (value >= Enum{} && value <= last) return;
  throw invalid_argument(fmt::format("{}: got {}, expected 0 to {}", name, static_cast<int>(value),
                                     static_cast<int>(last)));
}

/// The name of an enumerator, of those from 0 on without gaps; "unknown" for any other value.
template <class Enum>
constexpr std::string_view name_in(Enum value,
                                   std::initializer_list<std::string_view> names) noexcept {
  const auto at = static_cast<std::size_t>(value);
  return at < names.size() ? names.begin()[at] : "unknown";
}

inline std::string_view name_of(nan_policy policy) {
  return name_in(policy, {"reject", "propagate", "omit", "pairwise"});
}

/// With commas between them.
inline std::string names_of(std::initializer_list<nan_policy> policies) {
  std::string names;
  for (const nan_policy policy : policies) {
    if (!names.empty()) names += ", ";
    names += name_of(policy);
  }
  return names;
}

}  // namespace gpu::inline v0::detail
