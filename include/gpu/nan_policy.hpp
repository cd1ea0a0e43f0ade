#pragma once
/// @file
/// What an operation does with NaN input.

namespace gpu {
inline namespace v0 {

/// What an operation does with NaN input. Each operation names the ones that it offers; another is
/// gpu::unsupported.
enum class nan_policy {
  reject,     ///< gpu::invalid_argument that names row and column.
  propagate,  ///< The results that depend on the NaN are NaN; no others are touched.
  omit,       ///< A NaN counts as absent.
  pairwise    ///< All pairs: a NaN is a missing value, and each pair takes the columns that both of
              ///< its rows have.
};

}  // namespace v0
}  // namespace gpu
