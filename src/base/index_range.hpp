#pragma once

#include <gpu/index.hpp>

namespace gpu::inline v0::detail {

/// Half-open range [begin, end).
struct index_range {
  index_t begin = 0;
  index_t end = 0;
  [[nodiscard]] index_t size() const { return end - begin; }
  [[nodiscard]] bool empty() const { return end <= begin; }
  [[nodiscard]] bool holds(index_t i) const { return begin <= i && i < end; }
  friend bool operator==(const index_range&, const index_range&) = default;
};

}  // namespace gpu::inline v0::detail
