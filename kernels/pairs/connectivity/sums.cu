// Sums of powers over the rows of a dense result, all powers in one read of it.
//
// A block takes a segment of a row. Its threads take columns in turn, raise the statistic by one
// product for each integer power, and add up in registers. Warps and blocks then add in a fixed
// order. The powers are few instructions beside the products of the statistics, so all of it is in
// double.

#include <algorithm>

#include "kernels/common/launch.cuh"
#include "kernels/common/warp.cuh"
#include "kernels/pairs/connectivity/kernels.hpp"

namespace gpu::kernels {
namespace {

constexpr int threads = 256;
constexpr int warps = threads / 32;
constexpr int most_steps = 32;  // of one launch

// How a power begins.
enum class chain_start : int { none, one, root, fraction };

struct step_list {
  stats::power_step steps[most_steps];
  chain_start starts[most_steps];
  int count;
  bool takes_logarithm;
};

// Columns that a thread raises side by side: one alone would wait for every product.
constexpr int at_once = 4;

__device__ void begin_chains(chain_start start, double fraction, const double (&bases)[at_once],
                             const double (&logarithms)[at_once], double (&powers)[at_once]) {
#pragma unroll
  for (int c = 0; c < at_once; ++c) {
    if (start == chain_start::one) {
      powers[c] = 1.0;
    } else if (start == chain_start::root) {
      powers[c] = stats::power_of_fraction(bases[c], 0.5, 0.0);
    } else {
      powers[c] = stats::power_of_fraction(bases[c], fraction, logarithms[c]);
    }
  }
}

// Adds the powers of some statistics.
template <int Steps>
__device__ void add_powers(const step_list& list, const double (&bases)[at_once],
                           double (&sums)[Steps]) {
  double logarithms[at_once] = {};
  if (list.takes_logarithm) {
#pragma unroll
    for (int c = 0; c < at_once; ++c) logarithms[c] = stats::logarithm_of(bases[c]);
  }
  double powers[at_once] = {1.0, 1.0, 1.0, 1.0};
#pragma unroll
  for (int s = 0; s < Steps; ++s) {
    if (s >= list.count) continue;
    if (list.starts[s] != chain_start::none) {
      begin_chains(list.starts[s], list.steps[s].fraction, bases, logarithms, powers);
    }
    const int factors = list.steps[s].factors;
    for (int factor = 0; factor < factors; ++factor) {
#pragma unroll
      for (int c = 0; c < at_once; ++c) powers[c] *= bases[c];
    }
    sums[s] += (powers[0] + powers[1]) + (powers[2] + powers[3]);
  }
}

template <int Steps>
__global__ void __launch_bounds__(threads)
    sum_segments_kernel(const __grid_constant__ connectivity_block block, network_kind network,
                        const __grid_constant__ step_list list, index_t pitch, double* partial) {
  const index_t segments = connectivity_segments(block.cols);
  const index_t row = blockIdx.x / segments;
  const index_t segment = blockIdx.x % segments;
  const index_t begin = segment * connectivity_segment;
  const index_t end = min(begin + connectivity_segment, block.cols);
  const index_t self = block.first_self + row;
  const double* const statistics = block.statistics + row * block.cols;
  double sums[Steps] = {};
  for (index_t first = begin + threadIdx.x; first < end; first += threads * at_once) {
    double bases[at_once];
#pragma unroll
    for (int c = 0; c < at_once; ++c) {
      const index_t col = first + c * threads;
      const bool is_other = col < end && col != self;
      bases[c] = is_other ? stats::soft_base(statistics[col], network) : 0.0;
    }
    add_powers<Steps>(list, bases, sums);
  }
  __shared__ double of_warps[warps][Steps];
#pragma unroll
  for (int s = 0; s < Steps; ++s) {
    if (s >= list.count) continue;
    const double sum = warp_sum(sums[s]);
    if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32][s] = sum;
  }
  __syncthreads();
  const int s = static_cast<int>(threadIdx.x);
  if (s >= list.count) return;
  double sum = 0;
  for (int warp = 0; warp < warps; ++warp) sum += of_warps[warp][s];
  partial[(row * segments + segment) * pitch + list.steps[s].column] = sum;
}

__global__ void add_segments_kernel(const double* partial, index_t rows, index_t segments,
                                    index_t pitch, double* sums) {
  const index_t at = index_t{blockIdx.x} * threads + threadIdx.x;
  if (at >= rows * pitch) return;
  const double* const from = partial + at / pitch * segments * pitch + at % pitch;
  double sum = 0;
  for (index_t segment = 0; segment < segments; ++segment) sum += from[segment * pitch];
  sums[at] = sum;
}

chain_start start_of(const stats::power_step& step) {
  if (step.fraction < 0) return chain_start::none;
  if (stats::takes_logarithm(step)) return chain_start::fraction;
  return step.fraction == 0 ? chain_start::one : chain_start::root;
}

template <int Steps>
void launch_segments(const connectivity_block& block, network_kind network, const step_list& list,
                     index_t pitch, double* partial, cudaStream_t stream) {
  const index_t blocks = block.rows * connectivity_segments(block.cols);
  sum_segments_kernel<Steps>
      <<<static_cast<unsigned>(blocks), threads, 0, stream>>>(block, network, list, pitch, partial);
  GPU_SIMILARITY_CHECK_LAUNCH();
}

}  // namespace

void launch_connectivity(const connectivity_block& block, network_kind network,
                         std::span<const stats::power_step> steps, double* partial, double* sums,
                         cudaStream_t stream) {
  if (block.rows == 0) return;
  const auto pitch = static_cast<index_t>(steps.size());
  for (std::size_t first = 0; first < steps.size(); first += most_steps) {
    const std::vector<stats::power_step> rest = stats::steps_from(steps, first);
    step_list list{};
    list.count = static_cast<int>(std::min<std::size_t>(rest.size(), most_steps));
    std::copy_n(rest.begin(), list.count, list.steps);
    std::transform(list.steps, list.steps + list.count, list.starts, start_of);
    list.takes_logarithm = std::any_of(list.steps, list.steps + list.count, stats::takes_logarithm);
    const auto launch = list.count <= 4    ? launch_segments<4>
                        : list.count <= 16 ? launch_segments<16>
                                           : launch_segments<most_steps>;
    launch(block, network, list, pitch, partial, stream);
  }
  add_segments_kernel<<<grid_blocks(block.rows * pitch, threads), threads, 0, stream>>>(
      partial, block.rows, connectivity_segments(block.cols), pitch, sums);
  GPU_SIMILARITY_CHECK_LAUNCH();
}

}  // namespace gpu::kernels
