#pragma once

#include <gpu/pair_sinks.hpp>

#include "arrays.hpp"

namespace gpu_python {

// The fields of gpu_similarity.Patterns in order.
inline nb::tuple patterns_tuple(gpu::row_patterns&& patterns) {
  return nb::make_tuple(vector_to_numpy(std::move(patterns.pattern_of)),
                        vector_to_numpy(std::move(patterns.begin)),
                        vector_to_numpy(std::move(patterns.members)));
}

}  // namespace gpu_python
