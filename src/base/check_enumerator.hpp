#pragma once
// Refuses values that are no enumerator, which a cast or another language can produce.

#include <fmt/format.h>

#include <string_view>

#include <gpu/error.hpp>

namespace gpu::inline v0::detail {

/// `value` is one of the enumerators from 0 to `last`, without gaps; else gpu::invalid_argument
/// that names it.
template <class Enum>
void check_enumerator(std::string_view name, Enum value, Enum last) {
  if (value >= Enum{} && value <= last) return;
  throw invalid_argument(fmt::format("{}: got {}, expected 0 to {}", name, static_cast<int>(value),
                                     static_cast<int>(last)));
}

}  // namespace gpu::inline v0::detail
