#pragma once
// What a cut keeps of random pairs of the prepared rows.

#include "cuda/pairs/device_rows.hpp"
#include "plan/screen_choice.hpp"

namespace gpu::cuda {

/// Looks at random pairs of `rows` on the device, the same ones on every call; knows nothing where
/// the rows are not resident or not packed. Waits for the stream.
detail::cut_sample sample_cut(detail::measure what, const device_rows& rows,
                              const detail::keep_range& keep, cudaStream_t stream);

}  // namespace gpu::cuda
