#pragma once
// What the build holds beside portable device code.

namespace gpu::inline v0::detail {

/// Whether there is code for the warpgroup products of compute capability 9.0 (sm_90a): without it
/// their kernels are empty.
#ifdef GPU_SIMILARITY_SM90A
inline constexpr bool has_warpgroup_code = true;
#else
inline constexpr bool has_warpgroup_code = false;
#endif

}  // namespace gpu::inline v0::detail
