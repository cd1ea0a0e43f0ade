#pragma once
// Which implementation of the binary multiply runs: one pure function.

#include <gpu/binary_matmul.hpp>
#include <gpu/execution.hpp>

namespace gpu::inline v0::detail {

/// What the choice depends on.
struct binary_matmul_shape {
  index_t m = 0;
  index_t n = 0;
  index_t k = 0;
  /// CUDA compute capability, times ten (90 for 9.0), of the device, and that which the code that
  /// runs on it was compiled for; not looked at for the CPU.
  int compute_capability = 0;
  int code_capability = 0;
  /// Whether that code has the warpgroup products of compute capability 9.0 (sm_90a).
  bool warpgroup_code = false;
};

/// The variant that `asked` means on backend `used` (cpu or cuda): itself, or for `automatic` the
/// best that takes the shape and device.
/// @throw gpu::unsupported where a named variant does not take them.
binary_matmul_variant choose_binary_matmul_variant(backend used, binary_matmul_variant asked,
                                                   const binary_matmul_shape& shape);

}  // namespace gpu::inline v0::detail
