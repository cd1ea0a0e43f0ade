#pragma once
// Sink of bins: a histogram of the statistic of kept pairs, exact.
//
// A double estimate (product times two inverse norms) is off by at most `margin`; where the kept
// decision or the bin could differ within it, the exact statistic decides. Up to
// policy::shared_bins counters are kept in shared memory per block, more go to global memory.

#include "correlation/pair_epilogue.cuh"

namespace gpu::kernels {

/// Place of a statistic in bin_sink_args::bins: the arithmetic of detail::bin_request.
__device__ inline index_t bin_of(const bin_sink_args& args, double statistic) {
  const double x = args.key == detail::bin_key::value
                       ? statistic
                       : (args.key == detail::bin_key::magnitude ? fabs(statistic) : -statistic);
  if (x < args.low) return 0;
  if (x >= args.high) return args.count + 1;
  const double position = (x - args.low) * args.scale;
  const double last = static_cast<double>(args.count - 1);
  return 1 + static_cast<index_t>(position < last ? position : last);
}

template <class Tile>
class bin_sink {
  using statistic = typename Tile::statistic;
  static constexpr int rows = Tile::shape.row_slots;
  static constexpr int cols = Tile::shape.col_slots;

 public:
  using args = bin_sink_args;
  static std::size_t shared_bytes(const args& a) {
    return in_shared_memory(a) ? sizeof(unsigned) * static_cast<std::size_t>(a.count + 2) : 0;
  }

  __device__ bin_sink(const args& a, const pair_panel& panel, const Tile& tile, index_t first_row,
                      unsigned char* shared)
      : args_(a), panel_(panel), first_row_(first_row) {
    if (in_shared_memory(a)) {
      counters_ = reinterpret_cast<unsigned*>(shared);
      for (index_t b = threadIdx.x; b < a.count + 2; b += Tile::shape.threads) counters_[b] = 0;
      __syncthreads();
    }
#pragma unroll
    for (int r = 0; r < rows; ++r) {
      const index_t i = first_row + tile.row_of(r);
      row_inverse_[r] = i < panel.rows.count ? statistic::inverse_norm(panel.rows, i) : CUDART_NAN;
    }
  }

  __device__ void take(const Tile& tile, const typename Tile::fragment& products, index_t first_col,
                       const float (&)[cols]) {
#pragma unroll
    for (int c = 0; c < cols; ++c) {
      const index_t j = first_col + tile.col_of(c);
      const double inverse =
          j < panel_.cols.count ? statistic::inverse_norm(panel_.cols, j) : CUDART_NAN;
#pragma unroll
      for (int r = 0; r < rows; ++r) {
        const float there = products.estimate(r, c);
        const double estimate =
            static_cast<double>(products.product(r, c)) * (inverse * row_inverse_[r]);
        if (!(there == there) || !(estimate == estimate)) continue;
        count(first_row_ + tile.row_of(r), j, estimate, products.product(r, c));
      }
    }
  }

  __device__ void finish(const Tile&) {
    if (counters_ == nullptr) return;
    __syncthreads();
    for (index_t b = threadIdx.x; b < args_.count + 2; b += Tile::shape.threads) {
      if (counters_[b] != 0)
        atomicAdd(args_.bins + b, static_cast<unsigned long long>(counters_[b]));
    }
  }

 private:
  static __host__ __device__ bool in_shared_memory(const args& a) {
    return a.count <= policy::shared_bins;
  }

  __device__ void count(index_t i, index_t j, double estimate,
                        typename statistic::product product) {
    const double low = estimate - args_.margin;
    const double high = estimate + args_.margin;
    int side = side_of_cut(estimate);
    index_t bin = bin_of(args_, estimate);
    if (side != side_of_cut(low) || side != side_of_cut(high) || bin != bin_of(args_, low) ||
        bin != bin_of(args_, high)) {
      const double exact = exact_statistic(i, j, product);
      side = side_of_cut(exact);
      bin = bin_of(args_, exact);
    }
    if (side == 0) return;
    if (counters_ != nullptr) {
      atomicAdd(counters_ + bin, 1u);
    } else {
      atomicAdd(args_.bins + bin, 1ull);
    }
  }

  // 0: dropped; else the cut that it passes. Equal at both ends of an interval: equal within.
  __device__ int side_of_cut(double x) const {
    return x >= args_.cut.at_least ? 1 : (x <= args_.cut.at_most ? -1 : 0);
  }

  __device__ __noinline__ double exact_statistic(index_t i, index_t j,
                                                 typename statistic::product product) const {
    return statistic::of(product, panel_.rows, i, panel_.cols, j);
  }

  const args& args_;
  const pair_panel& panel_;
  index_t first_row_;
  unsigned* counters_ = nullptr;
  double row_inverse_[rows];
};

}  // namespace gpu::kernels
