#pragma once
// Refuses values that no enumerator has, as a cast or another language can make them.

#include <fmt/format.h>

#include <gpu/error.hpp>

namespace gpu::validate {

/// `value` is one of the enumerators from 0 to `last`. @throw gpu::invalid_argument
template <class Enum>
void check_enum(const char* name, Enum value, Enum last) {
  if (value >= Enum{} && value <= last) return;
  throw invalid_argument(fmt::format("{}: got {}, expected 0 to {}", name, static_cast<int>(value),
                                     static_cast<int>(last)));
}

}  // namespace gpu::validate
