#include "cuda/pairs/cut_sample.hpp"

#include <algorithm>
#include <limits>

#include "kernels/pairs/edges/kernels.hpp"

namespace gpu::cuda {
namespace {

// A pair of a sample takes as long as many pairs that are decided together, and the more the longer
// its rows are: few pairs of long rows are decided sooner than sampled.
constexpr index_t long_row = 8192;
constexpr std::uint64_t pairs_of_sampled = 16;

}  // namespace

detail::cut_sample sample_cut(const detail::measure_traits& what, const device_rows& rows,
                              const detail::pair_area& area, const detail::pair_cut& keep,
                              cudaStream_t stream) {
  const row_format& format = rows.format();
  const std::uint64_t pairs = detail::pairs_in(area);
  const bool has_rows = rows.resident() && !format.ready;
  if (!has_rows || pairs == 0 || !kernels::can_sample(format.tile)) return {};
  const std::uint64_t wanted = detail::sample_size(static_cast<double>(pairs), format.cols);
  if (format.cols > long_row && pairs <= pairs_of_sampled * wanted) return {};
  kernels::sample_request request{.tile = format.tile,
                                  .rows = rows.all(),
                                  .sides = sides_of(area, {}).rows,
                                  .pairs = wanted,
                                  .keep = keep,
                                  .magnitudes = {}};
  for (double& magnitude : request.magnitudes) magnitude = std::numeric_limits<double>::infinity();
  // Which screens there are does not depend on what they are used for.
  const auto screens =
      detail::screens_for(what, keep.widest, format.cols, detail::screen_use::edges);
  for (std::size_t s = 0; s < screens.size(); ++s) request.magnitudes[s] = screens[s].reach;

  const auto counts = zeroed<kernels::sample_counts>(1, stream);
  kernels::launch_sample_pairs(request, counts.data(), stream);
  const pinned_buffer<kernels::sample_counts> found(1);
  GPU_SIMILARITY_CUDA_CHECK(
      cudaMemcpyAsync(found.data(), counts.data(), counts.bytes(), cudaMemcpyDeviceToHost, stream));
  GPU_SIMILARITY_CUDA_CHECK(cudaStreamSynchronize(stream));
  detail::cut_sample out{.pairs = found.data()->valid, .kept = found.data()->kept};
  std::copy_n(found.data()->above, out.candidates.size(), out.candidates.begin());
  return out;
}

}  // namespace gpu::cuda
