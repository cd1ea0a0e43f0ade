// Counts of the CUDA pair engine on Hopper at cuts that keep many pairs: every pair is decided by
// the warpgroup tensor cores' exact sums.
#include <algorithm>

#include "cuda/packed_rows.hpp"
#include "cuda/pair_engine.hpp"
#include "cuda/walk_items.hpp"

namespace gpu::cuda {
namespace {

// Pairs of one launch that only the exact test can decide: a thousandth of them or so, where
// square sums differ within a tile. One work item has fewer pairs than this.
constexpr std::uint64_t most_queued = std::uint64_t{25} << 20;
// Below this many rows square sums differ within most tiles, and the tiles of the mma rung win.
constexpr index_t least_rows = 100000;

}  // namespace

bool pair_engine::count_by_warpgroups(const detail::count_request& request, pair_counts& out) {
  const double cut = request.keep.at_least;
  const bool symmetric = cut == -request.keep.at_most && cut > 0 && cut <= 1;
  if (variant_ != pair_variant::hopper ||
      rows_->format().tile != kernels::pair_tile_kind::tensor_int8 || !symmetric ||
      count() < least_rows) {
    return false;
  }
  const int depth = detail::screen_depth(info_.cols);
  const std::size_t needed =
      packed_rows::bytes(count(), depth) + most_queued * sizeof(kernels::screen_candidate) +
      static_cast<std::size_t>(count()) * 2 * sizeof(std::uint32_t) + (std::size_t{1} << 20);
  if (!share_->agree(rows_->resident() && needed <= budget_.left())) return false;

  const auto invalid = static_cast<index_t>(info_.constant_rows.size() + info_.nan_rows.size());
  const packed_rows packed(*rows_, invalid, kernels::screen_operand::int8, depth, stream());
  const auto padded = static_cast<std::size_t>(packed.rows().padded_rows);
  const device_buffer<kernels::count_bounds> left_bounds(padded / 64, stream());
  const device_buffer<kernels::count_bounds> right_bounds(padded / 256, stream());
  const auto packed_degree = zeroed<std::uint32_t>(padded, stream());
  const auto degree = zeroed<std::uint32_t>(static_cast<std::size_t>(count()), stream());
  const auto kept = zeroed<unsigned long long>(1, stream());
  const device_buffer<kernels::screen_candidate> uncertain(most_queued, stream());
  const device_buffer<std::uint64_t> queued(1, stream());
  const pinned_buffer<std::uint64_t> host_queued(1);
  const kernels::count_rows counted{.left_bounds = left_bounds.data(),
                                    .right_bounds = right_bounds.data(),
                                    .degree = packed_degree.data()};
  kernels::launch_count_bounds(packed.ranks(), packed.rows(), counted, stream());

  const index_t items = kernels::screen_items(packed.rows());
  const auto walk = walk_pairs("pairs", items);
  const double pairs_per_item = packed.pairs() / static_cast<double>(items);
  const bool complete = walk_items(*walk, items, [&](index_t first, index_t last) {
    GPU_SIMILARITY_CUDA_CHECK(cudaMemsetAsync(queued.data(), 0, queued.bytes(), stream()));
    kernels::launch_count(packed.rows(), counted, cut, first, last, uncertain.data(), most_queued,
                          queued.data(), kept.data(), multiprocessors_, stream());
    kernels::launch_count_refine(packed.ranks(), packed.rows(), counted, cut, uncertain.data(),
                                 queued.data(), most_queued, kept.data(), stream());
    GPU_SIMILARITY_CUDA_CHECK(cudaMemcpyAsync(host_queued.data(), queued.data(), queued.bytes(),
                                              cudaMemcpyDeviceToHost, stream()));
    GPU_SIMILARITY_CUDA_CHECK(cudaStreamSynchronize(stream()));
    // What was counted cannot be taken back: with an overflow the other rung counts anew.
    if (host_queued.data()[0] > most_queued) {
      static_cast<void>(walk->give_up());
      return slice_outcome::stop;
    }
    walk->advance(static_cast<std::uint64_t>(static_cast<double>(last - first) * pairs_per_item));
    return slice_outcome::done;
  });
  if (!complete) return false;
  kernels::launch_spread_degrees(packed.rows(), counted, degree.data(), stream());
  unsigned long long total = 0;
  GPU_SIMILARITY_CUDA_CHECK(
      cudaMemcpyAsync(&total, kept.data(), sizeof total, cudaMemcpyDeviceToHost, stream()));
  GPU_SIMILARITY_CUDA_CHECK(cudaMemcpyAsync(out.degree.data(), degree.data(), degree.bytes(),
                                            cudaMemcpyDeviceToHost, stream()));
  GPU_SIMILARITY_CUDA_CHECK(cudaStreamSynchronize(stream()));
  out.kept = total;
  return true;
}

}  // namespace gpu::cuda
