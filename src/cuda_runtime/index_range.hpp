#pragma once
// index_range under its short name.

#include "base/index_range.hpp"

namespace gpu::cuda {
using detail::index_range;
}  // namespace gpu::cuda
