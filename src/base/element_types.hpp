#pragma once
// The element types that operations on tables take, for lists of explicit instantiations.

#include <cstdint>

/// Calls macro(T) once for each of them.
#define GPU_SIMILARITY_FOR_EACH_ELEMENT_TYPE(macro)                              \
  macro(std::int8_t) macro(std::int16_t) macro(std::int32_t) macro(std::uint8_t) \
      macro(std::uint16_t) macro(float) macro(double)
