#pragma once
// Tuning of top_k as data, and the sizes that follow from it.

#include <algorithm>
#include <cmath>
#include <cstddef>

#include <gpu/index.hpp>

#include "plan/top_k_variants.hpp"

namespace gpu::kernels::select {

/// Threads of a multiprocessor that registers are shared out for; sm_75 has no more than 1024.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
inline constexpr int resident_threads = 1024;
#else
inline constexpr int resident_threads = 1536;
#endif

/// Threads of a block, per kernel.
inline constexpr int sample_threads = 256;
inline constexpr int filter_threads = 512;
inline constexpr int filter_blocks_per_sm = 3;
inline constexpr int filter_unroll = 4;
inline constexpr int finish_threads = 1024;
/// Comparisons of the ranking for which another block pays, and the most items that a block ranks.
inline constexpr index_t finish_comparisons = index_t{1} << 17;
inline constexpr unsigned finish_most_own = 1024;
/// A list of the sample up to this length is ranked by counting.
inline constexpr index_t most_ranked_list = 256;
inline constexpr int radix_threads = 512;
inline constexpr int radix_blocks_per_sm = 4;
/// Blocks of one row at most.
inline constexpr index_t most_row_parts = 1024;
inline constexpr int insert_threads = 128;
inline constexpr int insert_most_blocks = 264;
inline constexpr int warp_rows_warps = 4;
/// Rows from here on get blocks of 512 threads in block_rows, shorter ones of 256.
inline constexpr index_t block_rows_wide = 8192;
/// Rows of 4-byte elements of this many bytes are staged in shared memory by block_rows, for k up
/// to 64, on sm_90.
inline constexpr int staged_threads = 128;
inline constexpr index_t least_staged_bytes = 4096;
inline constexpr index_t most_staged_bytes = 72 * 1024;
inline constexpr index_t most_staged_k = 64;
/// warp_rows takes the best one by one up to this k, in rows of up to 32 * 4 elements.
inline constexpr int warp_rows_most_taken = 16;
/// Many rows are done in passes that take about this much scratch memory each.
inline constexpr index_t pass_bytes = index_t{1} << 28;

/// A warp samples this many elements and passes on its best few.
inline constexpr index_t samples_per_warp = 128;
inline constexpr index_t kept_per_warp = 4;
inline constexpr index_t samples_per_block = samples_per_warp * sample_threads / 32;
inline constexpr index_t least_samples = 4096;
inline constexpr index_t most_samples = 131072;

/// Shared memory that kernels take beside what they are given, bytes: at most. For finish_kernel
/// it is detail::top_k_finish_bytes.
inline constexpr std::size_t distinct_filter_static_bytes = 23 * 1024;
inline constexpr std::size_t block_rows_static_bytes = 26 * 1024;

/// Composites that fit the shared memory of a block beside `taken` bytes.
constexpr index_t composites_that_fit(std::size_t composite_bytes, std::size_t shared_bytes,
                                      std::size_t taken) {
  return shared_bytes <= taken ? 0 : static_cast<index_t>((shared_bytes - taken) / composite_bytes);
}

/// Composites that finish_kernel ranks at most; shared memory holds as many. At least k, for the k
/// that choose_top_k_variant gives the threshold variant.
constexpr unsigned finish_limit(index_t k, std::size_t composite_bytes, std::size_t shared_bytes) {
  const index_t wanted = k <= 64 ? 256 : k + std::max<index_t>(256, k / 4);
  const index_t fit =
      composites_that_fit(composite_bytes, shared_bytes, detail::top_k_finish_bytes);
  return static_cast<unsigned>(std::max(k, std::min(wanted, fit)));
}

/// Candidates that a block of block_rows collects at most, a power of two: twice as many as are
/// asked for, where they fit.
constexpr unsigned block_rows_limit(index_t k, std::size_t composite_bytes,
                                    std::size_t shared_bytes) {
  index_t least = 128;
  while (least < k) least *= 2;
  const index_t fit = composites_that_fit(composite_bytes, shared_bytes, block_rows_static_bytes);
  return static_cast<unsigned>(2 * least <= fit ? 2 * least : least);
}

/// What the sample of a row is, and what is made of it.
struct sample_plan {
  index_t samples = 0;   ///< 0: no sample, every element is a candidate.
  index_t kept = 0;      ///< Composites that the sampling warps pass on.
  unsigned rank = 0;     ///< The bound is the one of this rank among them.
  index_t capacity = 0;  ///< Room for candidates.
};

/// The least rank whose bound fails (fewer than k elements reach it) with a chance below 1e-10.
/// How many of the k best are sampled is Poisson with mean k * samples / cols; the bound fails
/// where at least `rank` of them are.
inline unsigned safe_rank(double mean) {
  double term = std::exp(-mean);
  double below = term;
  unsigned rank = 1;
  // 1 - below loses its digits, so the tail is bounded by its first term times a geometric sum.
  while (rank < 100000) {
    term *= mean / rank;
    const double ratio = mean / (rank + 1);
    if (ratio < 1 && term / (1 - ratio) < 1e-10) break;
    below += term;
    ++rank;
  }
  return rank;
}

inline sample_plan plan_sample(index_t cols, index_t k) {
  sample_plan plan;
  if (cols < 4 * least_samples || k > cols / 16) {
    plan.capacity = cols;
    return plan;
  }
  const double wanted = std::max(2.0 * static_cast<double>(k), 2000.0);
  for (index_t samples = least_samples; samples <= most_samples && samples <= cols / 4;
       samples *= 2) {
    const double spacing = static_cast<double>(cols) / static_cast<double>(samples);
    plan.samples = samples;
    plan.rank = safe_rank(static_cast<double>(k) / spacing);
    const double expected = plan.rank * spacing;
    plan.capacity = std::min(cols, static_cast<index_t>(4 * expected) + 8192);
    if (expected <= wanted) break;
  }
  plan.kept = plan.samples / samples_per_warp * kept_per_warp;
  return plan;
}

/// As plan_sample for distinct values: the bound is the k-th distinct value of the sample itself,
/// which at least k distinct values reach, whatever the data.
/// Its list is sorted in shared memory, of which smaller devices have less.
inline sample_plan plan_distinct_sample(index_t cols, index_t k, std::size_t composite_bytes,
                                        std::size_t shared_bytes) {
  const index_t fit =
      composites_that_fit(composite_bytes, shared_bytes, distinct_filter_static_bytes);
  sample_plan plan;
  plan.capacity = std::min(cols, index_t{1} << 17);
  if (cols < 4 * least_samples) return plan;
  for (index_t samples = least_samples; samples <= most_samples && samples <= cols / 4;
       samples *= 2) {
    if (samples / samples_per_warp * kept_per_warp > fit) break;
    plan.samples = samples;
    if (k * (cols / samples) <= 2000) break;
  }
  plan.rank = static_cast<unsigned>(k);
  plan.capacity = std::min(cols, plan.capacity + 2 * k * (cols / plan.samples));
  plan.kept = plan.samples / samples_per_warp * kept_per_warp;
  return plan;
}

}  // namespace gpu::kernels::select
