#pragma once
// Sink of bins: a histogram of the statistic of kept pairs, exact.
//
// A float estimate decides all but the pairs within its error of the cut or of the edge of a bin;
// those take the exact statistic. Pairs below the first bin or above the last are counted in
// registers. Up to policy::shared_bins counters (half as many where a block has 64 KiB) are in
// shared memory per block, more are in global memory. With weights, a pair counts as often as the
// product of its rows' weights says, and all counters have 64 bits.

#include <type_traits>

#include "kernels/common/async_copy.cuh"
#include "kernels/pairs/frame/epilogue.cuh"
#include "stats/bins.hpp"

namespace gpu::kernels {

/// Place of a statistic in bin_sink_args::bins.
__device__ inline index_t place_of(const bin_sink_args& args, double statistic) {
  const double x = args.key == detail::bin_key::value
                       ? statistic
                       : (args.key == detail::bin_key::magnitude ? fabs(statistic) : -statistic);
  return detail::bin_place(x, args.low, args.high, args.scale, args.count);
}

template <class Tile, bool Weighted = false>
class tile_bin_sink {
  using counter = std::conditional_t<Weighted, unsigned long long, unsigned>;
  using statistic = typename Tile::statistic;
  static constexpr int rows = Tile::shape.row_slots;
  static constexpr int cols = Tile::shape.col_slots;

 public:
  using args = bin_sink_args;
  static std::size_t shared_bytes(const args& a) {
    return in_shared_memory(a) ? sizeof(counter) * static_cast<std::size_t>(a.count + 2) : 0;
  }

  static __device__ bool leaves_out(const args& a, index_t) {
    return a.done != nullptr && *a.done != 0;
  }

  __device__ tile_bin_sink(const args& a, const pair_panel& panel, const Tile& tile,
                           index_t first_row, unsigned char* shared)
      : args_(a), panel_(panel), first_row_(first_row) {
    if (in_shared_memory(a)) {
      counters_ = reinterpret_cast<counter*>(shared);
      for (index_t b = threadIdx.x; b < a.count + 2; b += Tile::shape.threads) counters_[b] = 0;
      __syncthreads();
    }
    // Outwards by more than the roundings of the conversion to float.
    low_ = static_cast<float>(a.low);
    high_ = static_cast<float>(a.high);
    scale_ = static_cast<float>(a.scale);
    margin_ = a.margin + 0x1p-22f;
    slack_ = margin_ * scale_ + 0x1p-21f * static_cast<float>(a.count);
#pragma unroll
    for (int r = 0; r < rows; ++r) {
      const index_t i = first_row + tile.row_of(r);
      row_inverse_[r] = i < panel.rows.count ? panel.rows.norms[i].inverse : CUDART_NAN_F;
      if constexpr (Weighted) {
        row_weights_[r] = i < panel.rows.count ? a.weights[panel.rows.first + i] : 0;
      }
    }
  }

  __device__ void take(const Tile& tile, const typename Tile::fragment& products, index_t first_col,
                       const float (&inverse)[cols]) {
#pragma unroll
    for (int c = 0; c < cols; ++c) {
      std::uint32_t col_weight = 1;
      if constexpr (Weighted) {
        const index_t j = first_col + tile.col_of(c);
        col_weight = j < panel_.cols.count ? args_.weights[panel_.cols.first + j] : 0;
      }
#pragma unroll
      for (int r = 0; r < rows; ++r) {
        const float estimate = products.estimate(r, c) * inverse[c] * row_inverse_[r];
        const float distance = fabsf(estimate - args_.cut.middle);
        if (!(distance >= args_.cut.possible)) continue;
        int bin = distance >= args_.cut.certain ? certain_bin(estimate) : undecided;
        if (bin == undecided) {
          bin = exact_bin(first_row_ + tile.row_of(r), first_col + tile.col_of(c),
                          products.product(r, c));
        }
        if constexpr (Weighted) {
          count(bin, static_cast<counter>(row_weights_[r]) * col_weight);
        } else {
          count(bin, 1);
        }
      }
    }
  }

  __device__ void finish(const Tile&) {
    below_ = warp_sum(below_);
    above_ = warp_sum(above_);
    if (threadIdx.x % 32 == 0) {
      if (below_ != 0) atomicAdd(args_.bins, static_cast<unsigned long long>(below_));
      if (above_ != 0) {
        atomicAdd(args_.bins + args_.count + 1, static_cast<unsigned long long>(above_));
      }
    }
    if (counters_ == nullptr) return;
    __syncthreads();
    for (index_t b = threadIdx.x; b < args_.count + 2; b += Tile::shape.threads) {
      if (counters_[b] != 0)
        atomicAdd(args_.bins + b, static_cast<unsigned long long>(counters_[b]));
    }
  }

 private:
  static constexpr int undecided = -1;
  static constexpr int dropped = -2;

  static __host__ __device__ bool in_shared_memory(const args& a) {
    constexpr index_t most = policy::shared_bins * sizeof(unsigned) / sizeof(counter);
    return a.count <= (has_async_copies() ? most : most / 2 - 2);
  }

  // The place of an estimate in args.bins where no error of it could change that.
  __device__ int certain_bin(float estimate) const {
    const float x = args_.key == detail::bin_key::value
                        ? estimate
                        : (args_.key == detail::bin_key::magnitude ? fabsf(estimate) : -estimate);
    if (x < low_ - margin_) return 0;
    if (args_.steps.untied != nullptr) return undecided;
    if (x > high_ + margin_) return static_cast<int>(args_.count) + 1;
    if (x < low_ + margin_ || x > high_ - margin_) return undecided;
    const float position = (x - low_) * scale_;
    const int bin = __float2int_rd(position - slack_);
    if (bin != __float2int_rd(position + slack_)) return undecided;
    return bin < static_cast<int>(args_.count) ? bin + 1 : undecided;
  }

  __device__ __noinline__ int exact_bin(index_t i, index_t j,
                                        typename statistic::product product) const {
    const double exact = statistic::of(product, panel_.rows, i, panel_.cols, j);
    if (!keeps_pair<statistic>(panel_, args_.cut, i, j, exact)) return dropped;
    if constexpr (std::is_same_v<statistic, spearman_statistic>) {
      if (args_.steps.untied != nullptr) return reached_steps(i, j, exact);
    }
    return static_cast<int>(place_of(args_, exact));
  }

  // The number of steps that the key of a pair reaches.
  __device__ int reached_steps(index_t i, index_t j, double exact) const {
    const rank_steps& steps = args_.steps;
    const std::int64_t x_sum = (steps.untied_squares - panel_.rows.square_sums[i]) / 2;
    const std::int64_t y_sum = (steps.untied_squares - panel_.cols.square_sums[j]) / 2;
    const bool has_ties = x_sum != 0 || y_sum != 0;
    const double* const at = has_ties ? steps.tied : steps.untied;
    const auto reached = static_cast<int>(
        detail::steps_reached(at, args_.count + 1, detail::key_of(exact, args_.key)));
    return has_ties ? min(reached, min(most_steps(x_sum), most_steps(y_sum))) : reached;
  }

  __device__ int most_steps(std::int64_t tie_sum) const {
    const rank_steps& steps = args_.steps;
    return tie_sum < steps.tie_sums ? steps.most[tie_sum] : static_cast<int>(args_.count) + 1;
  }

  __device__ void count(int bin, counter times) {
    if (bin == 0) {
      below_ += times;
    } else if (bin == static_cast<int>(args_.count) + 1) {
      above_ += times;
    } else if (bin == dropped) {
      return;
    } else if (counters_ != nullptr) {
      atomicAdd(counters_ + bin, times);
    } else {
      atomicAdd(args_.bins + bin, static_cast<unsigned long long>(times));
    }
  }

  const args& args_;
  const pair_panel& panel_;
  index_t first_row_;
  counter* counters_ = nullptr;
  counter below_ = 0;
  counter above_ = 0;
  float low_;
  float high_;
  float scale_;
  float margin_;  // of an estimate, and
  float slack_;   // of its place among the bins
  float row_inverse_[rows];
  std::uint32_t row_weights_[Weighted ? rows : 1];
};

}  // namespace gpu::kernels
