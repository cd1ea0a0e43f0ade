#pragma once
// The Tanimoto similarity as files and reports name it.

#include <gpu/measure.hpp>

namespace gpu::io {

/// As info_of() has it of a measure; its `what` means nothing.
[[nodiscard]] inline measure_info tanimoto_info() {
  measure_info out = info_of(measure::cosine);
  out.name = "tanimoto";
  out.title = "Tanimoto";
  out.description = "Tanimoto similarity";
  out.symbol = "tanimoto";
  out.equals = equal_rows::apart;
  out.least_cols = 1;
  return out;
}

}  // namespace gpu::io
