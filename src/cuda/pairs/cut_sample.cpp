// What the CUDA pair engine knows of a cut before it looks at every pair.
#include <algorithm>
#include <limits>

#include "cuda/pairs/engine.hpp"
#include "kernels/pairs/edges/kernels.hpp"

namespace gpu::cuda {
namespace {

// A pair of a sample takes as long as many pairs that are decided together, and the more the longer
// its rows are: few pairs of long rows are decided sooner than sampled.
constexpr index_t long_row = 8192;
constexpr std::uint64_t pairs_of_sampled = 16;

}  // namespace

detail::cut_sample cuda_engine::sample_cut(const detail::pair_cut& keep) const {
  const row_format& format = rows_->format();
  const std::uint64_t pairs = this->pairs();
  const bool has_rows = rows_->resident() && !format.ready;
  if (!has_rows || pairs == 0 || !kernels::can_sample(format.tile)) return {};
  const std::uint64_t wanted = detail::sample_size(static_cast<double>(pairs), format.cols);
  if (format.cols > long_row && pairs <= pairs_of_sampled * wanted) return {};
  kernels::sample_request request{.tile = format.tile,
                                  .rows = rows_->all(),
                                  .sides = sides_of(area_, {}).rows,
                                  .pairs = wanted,
                                  .keep = keep,
                                  .magnitudes = {}};
  for (double& magnitude : request.magnitudes) magnitude = std::numeric_limits<double>::infinity();
  // Which screens there are does not depend on what they are used for.
  const auto screens =
      detail::screens_for(what_, keep.widest, format.cols, detail::screen_use::edges);
  for (std::size_t s = 0; s < screens.size(); ++s) request.magnitudes[s] = screens[s].reach;

  const auto counts = zeroed<kernels::sample_counts>(1, stream());
  kernels::launch_sample_pairs(request, counts.data(), stream());
  const pinned_buffer<kernels::sample_counts> found(1);
  read_back(found.data(), counts.data(), 1, stream());
  detail::cut_sample out{.pairs = found.data()->valid, .kept = found.data()->kept};
  std::copy_n(found.data()->above, out.candidates.size(), out.candidates.begin());
  return out;
}

}  // namespace gpu::cuda
