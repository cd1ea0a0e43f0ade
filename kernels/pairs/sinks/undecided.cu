// Counts of pairs that estimates did not decide: each statistic is computed from the unit rows.

#include "kernels/common/launch.cuh"
#include "kernels/pairs/frame/kernel.cuh"
#include "kernels/pairs/frame/statistic.cuh"
#include "kernels/pairs/sinks/kernels.hpp"

namespace gpu::kernels {
namespace {

constexpr int threads = 256;
constexpr int blocks_of_multiprocessor = 8;
constexpr int lanes_of_pair = detail::partial_sums;

// Eight lanes a pair.
__global__ void __launch_bounds__(threads)
    count_undecided(const __grid_constant__ count_undecided_request request) {
  constexpr int pairs_of_block = threads / lanes_of_pair;
  const undecided_queue& from = request.from;
  const std::uint64_t count = min(std::uint64_t{*from.count}, from.capacity);
  const pair_operand& rows = request.rows;
  const auto segment = static_cast<int>(rows.unit_pitch / lanes_of_pair);
  const bool counts = threadIdx.x % lanes_of_pair == 0;
  unsigned kept = 0;
  for (std::uint64_t first = std::uint64_t{blockIdx.x} * pairs_of_block; first < count;
       first += std::uint64_t{gridDim.x} * pairs_of_block) {
    const std::uint64_t at = first + threadIdx.x / lanes_of_pair;
    // Lanes behind the last pair take part in the sums of it.
    const std::uint64_t key = from.keys[min(at, count - 1)];
    const auto i = static_cast<index_t>(key >> 32);
    const auto j = static_cast<index_t>(key & 0xffffffffU);
    const double statistic = detail::clip_correlation(unit_row_dot_by_lanes(
        rows.unit_rows + i * rows.unit_pitch, rows.unit_rows + j * rows.unit_pitch, segment));
    if (!counts || at >= count || !request.keep.keeps(statistic)) continue;
    atomicAdd(request.degree + i, 1U);
    atomicAdd(request.degree + j, 1U);
    ++kept;
  }
  kept = warp_sum(kept);
  if (threadIdx.x % 32 == 0 && kept != 0) {
    atomicAdd(request.kept, static_cast<unsigned long long>(kept));
  }
}

}  // namespace

void launch_count_undecided(const count_undecided_request& request, cudaStream_t stream) {
  const int blocks = blocks_of_multiprocessor * cuda::current_limits().multiprocessors;
  count_undecided<<<static_cast<unsigned>(blocks), threads, 0, stream>>>(request);
  GPU_SIMILARITY_CHECK_LAUNCH();
}

}  // namespace gpu::kernels
