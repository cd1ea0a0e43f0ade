#pragma once

#include <gpu/index.hpp>

namespace gpu::cuda {

/// Half-open range [begin, end).
struct index_range {
  index_t begin = 0;
  index_t end = 0;
  [[nodiscard]] index_t size() const { return end - begin; }
  [[nodiscard]] bool empty() const { return end <= begin; }
};

}  // namespace gpu::cuda
