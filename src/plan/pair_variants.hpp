#pragma once
// Which implementation of all pairs runs: one pure function of backend, operation, shape
// and device.

#include <gpu/detail/all_pairs.hpp>
#include <gpu/execution.hpp>
#include <gpu/pair_options.hpp>

#include "pairs/measures/measures.hpp"

namespace gpu::inline v0::detail {

/// What the choice depends on.
struct pair_shape {
  index_t rows = 0;
  index_t cols = 0;
  /// CUDA compute capability, times ten (90 for 9.0), of the device, and that which the code that
  /// runs on it was compiled for; not looked at for the CPU.
  int compute_capability = 0;
  int code_capability = 0;
  /// Whether that code has the warpgroup products of compute capability 9.0 (sm_90a).
  bool warpgroup_code = false;
};

/// The variant that `asked` means on backend `used` (cpu or cuda): itself, or for `automatic` the
/// best that takes the shape.
/// @throw gpu::unsupported where a named variant does not take the shape, device or backend.
pair_variant choose_pair_variant(backend used, pair_variant asked, const pair_shape& shape);

/// Whether sinks of a variant may take the warpgroup products of compute capability 9.0, where the
/// device has them: `hopper` may; `tensor` is without them for ranks, but not for values.
bool allows_warpgroups(const measure_traits& what, pair_variant variant);

}  // namespace gpu::inline v0::detail
