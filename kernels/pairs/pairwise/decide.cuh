#pragma once
// What is written of a pair with missing values: its statistic, or what a sink asks for in its
// place.

#include "base/round_up.hpp"
#include "cuda_runtime/cuda_check.hpp"
#include "kernels/pairs/pairwise/kernels.hpp"
#include "kernels/pairs/products/multiply.hpp"
#include "stats/shared_columns.hpp"

namespace gpu::kernels {

/// What stands for p of a pair without a statistic, as detail::no_p.
inline constexpr double pairwise_no_p = 2.0;

/// What is written of pairs that share `shared` columns, from their statistic: NaN where one has
/// none.
class shared_decision {
 public:
  __device__ shared_decision(const pairwise_decision& by, index_t shared)
      : is_enough_(shared >= by.min_observations),
        writes_p_(by.writes_p()),
        drops_(by.drops_pairs()),
        p_{nullptr, by.side} {
    if (!is_enough_) return;
    if (writes_p_) {
      p_.table = by.tables + (shared - by.least);
    } else if (drops_) {
      cut_ = by.cuts[shared - by.least];
    }
  }
  __device__ double operator()(double statistic) const {
    const bool has = is_enough_ && statistic == statistic;
    if (writes_p_) return has ? p_(statistic) : pairwise_no_p;
    if (!has) return detail::no_statistic;
    return !drops_ || cut_.keeps(statistic) ? statistic : detail::no_statistic;
  }
  /// Whether NaN is written of a pair whose statistic is within estimate_error of `estimate`; false
  /// where that is NaN.
  __device__ bool drops(double estimate) const {
    return drops_ && (!is_enough_ || (estimate < cut_.at_least - estimate_error &&
                                      estimate > cut_.at_most + estimate_error));
  }

 private:
  // Products and roots in single precision are far better.
  static constexpr double estimate_error = 1e-5;

  bool is_enough_;
  bool writes_p_;
  bool drops_;
  stats::p_function p_;
  detail::keep_range cut_{};
};

/// Of one pair.
__device__ inline double decide_pairwise(const pairwise_decision& by, double statistic,
                                         index_t shared) {
  return shared_decision(by, shared)(statistic);
}

/// Forgets what was kept at the places of a job before.
inline void clear_kept(const pairwise_job& job, cudaStream_t stream) {
  if (job.to.kept == nullptr) return;
  const index_t words = ceil_div(job.rows.count * job.to.pitch, places_of_word);
  GPU_SIMILARITY_CUDA_CHECK(cudaMemsetAsync(
      job.to.kept, 0, static_cast<std::size_t>(words) * sizeof(std::uint32_t), stream));
}
/// Marks the pairs at neighbouring places, the first one `place`, of which `bits` are kept: all in
/// one word.
__device__ inline void mark_kept(const product_memory& to, index_t place, std::uint32_t bits) {
  atomicOr(to.kept + place / places_of_word, bits << place % places_of_word);
}
/// Writes what stands for a pair.
__device__ inline void store_statistic(const product_memory& to, index_t place, double statistic) {
  if (to.kept != nullptr) {
    if (statistic != statistic) return;
    mark_kept(to, place, 1);
  }
  to.sums[place] = statistic;
}

}  // namespace gpu::kernels
