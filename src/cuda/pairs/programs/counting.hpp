#pragma once
// Counts and bins by the tiles that decide every pair: the tile, and what it is given. For host and
// device results.

#include <cuda_runtime_api.h>

#include <cstdint>
#include <span>

#include "base/keep_range.hpp"
#include "cuda/pairs/programs/call_shape.hpp"
#include "cuda/pairs/rows/row_format.hpp"
#include "kernels/pairs/kernels.hpp"
#include "pairs/engine.hpp"

namespace gpu::cuda {

/// Where counts by class, and by half-precision products, are added.
struct count_totals {
  std::uint32_t* degree;     ///< [rows of the input]
  unsigned long long* ends;  ///< Twice the kept pairs.
};

/// What bears on every count by tiles; device memory.
struct count_terms {
  const std::uint32_t* weights = nullptr;   ///< As of kernels::count_sink_args.
  const std::uint32_t* done = nullptr;      ///< Likewise.
  kernels::undecided_queue undecided = {};  ///< Likewise.
};

/// Adds the kept pairs to *kept and to degree[row] of both rows.
tile_step<kernels::count_sink_args> counting_step(const row_format& format,
                                                  kernels::pair_tile_kind tile,
                                                  const detail::pair_cut& keep,
                                                  unsigned long long* kept, std::uint32_t* degree,
                                                  const count_terms& terms);

/// Adds the kept pairs to bins [below, request.bins..., at or above].
tile_step<kernels::bin_sink_args> binning_step(const row_format& format,
                                               const detail::pair_cut& keep,
                                               const detail::bin_request& request,
                                               unsigned long long* bins, const count_terms& terms);

/// The arguments of the kernels that bin statistics into `bins`, as `request` asks; without a cut.
kernels::bin_sink_args binning_of(const detail::bin_request& request, unsigned long long* bins);

/// Bins of equal width over [-1, 1].
detail::bin_request histogram_request(index_t bins, std::span<const std::uint32_t> weights);

}  // namespace gpu::cuda
