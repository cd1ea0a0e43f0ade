#pragma once
// What a cut keeps of random pairs of the prepared rows.

#include "cuda/pairs/rows/area_walk.hpp"
#include "cuda/pairs/rows/device_rows.hpp"
#include "pairs/measures/measures.hpp"
#include "plan/screen_choice.hpp"

namespace gpu::cuda {

/// Samples random pairs i < j of `area` on the device, the same ones on every call. The sample is
/// empty where the rows are not resident or not packed, and where long rows have so few pairs that
/// a sample would take as long as the job. Waits for the stream.
detail::cut_sample sample_cut(const detail::measure_traits& what, const device_rows& rows,
                              const detail::pair_area& area, const detail::pair_cut& keep,
                              cudaStream_t stream);

}  // namespace gpu::cuda
