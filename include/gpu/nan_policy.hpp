#pragma once
/// @file
/// What an operation does with NaN input.

namespace gpu {
inline namespace v0 {

/// What an operation does with NaN input. An enum lists only what works everywhere it is offered.
enum class nan_policy {
  reject,    ///< gpu::invalid_argument that names row and column.
  propagate  ///< The results that depend on the NaN are NaN; no others are touched.
};

}  // namespace v0
}  // namespace gpu
