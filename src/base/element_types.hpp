#pragma once
// The element types that operations on tables take, for lists of explicit instantiations.

#include <cstdint>

/// Calls macro(T) once for each of them.
#define GPU_SIMILARITY_FOR_EACH_ELEMENT_TYPE(macro)                              \
  macro(std::int8_t) macro(std::int16_t) macro(std::int32_t) macro(std::uint8_t) \
      macro(std::uint16_t) macro(float) macro(double)

/// Calls macro(In, Out) once for each pair of types that filters take: an output of the input's own
/// type, or double.
// clang-format off
#define GPU_SIMILARITY_FOR_EACH_FILTER_TYPES(macro)  \
  macro(std::int8_t, std::int8_t)                    \
  macro(std::int8_t, double)                         \
  macro(std::int16_t, std::int16_t)                  \
  macro(std::int16_t, double)                        \
  macro(std::uint8_t, std::uint8_t)                  \
  macro(std::uint8_t, double)                        \
  macro(std::uint16_t, std::uint16_t)                \
  macro(std::uint16_t, double)                       \
  macro(std::int32_t, std::int32_t)                  \
  macro(std::int32_t, double)                        \
  macro(float, float)                                \
  macro(float, double)                               \
  macro(double, double)
// clang-format on
