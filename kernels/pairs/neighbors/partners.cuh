#pragma once
// How the neighbour search looks at partners of its row: estimates of the statistic, and the
// statistic itself. One object a lane. Rows and partners are rows of the input.

#include <cuda_fp16.h>

#include <cstdint>

#include "kernels/common/warp.cuh"
#include "kernels/pairs/frame/kernel.cuh"
#include "kernels/pairs/frame/statistic.cuh"
#include "kernels/pairs/neighbors/kernels.hpp"
#include "kernels/pairs/neighbors/packing.hpp"

namespace gpu::kernels {

/// Ranks of `words` times four columns: exact integer products.
template <int words>
class rank_partners {
 public:
  using product = int;
  static constexpr int blocks = words > 16 ? 1 : 2;  // on a multiprocessor
  static constexpr float error = neighbor_rank_error;

  __device__ rank_partners(const pair_operand& source, const neighbor_rows&, const neighbor_rows&,
                           index_t row)
      : source_(source), square_sum_(source.square_sums[row]), inverse_(source.norms[row].inverse) {
#pragma unroll
    for (int w = 0; w < words; w += 4) read(row, w, *reinterpret_cast<int4*>(&own_[w]));
  }

  /// The products of the row with some partners of this lane.
  template <int count>
  __device__ void multiply(const index_t (&partners)[count], product (&products)[count]) const {
#pragma unroll
    for (int t = 0; t < count; ++t) products[t] = multiply(partners[t]);
  }
  /// NaN for a partner without a statistic.
  [[nodiscard]] __device__ float estimate(product sum, index_t partner) const {
    return static_cast<float>(sum) * inverse_ * source_.norms[partner].inverse;
  }
  /// The statistics of lanes with `wanted`. All lanes.
  [[nodiscard]] __device__ double statistic(bool wanted, product sum, index_t partner) const {
    return wanted ? detail::rho_of(sum, square_sum_, source_.square_sums[partner]) : 0.0;
  }

 private:
  [[nodiscard]] __device__ product multiply(index_t partner) const {
    int sum = 0;
#pragma unroll
    for (int w = 0; w < words; w += 4) {
      int4 other;
      read(partner, w, other);
      sum = __dp4a(own_[w], other.x, sum);
      sum = __dp4a(own_[w + 1], other.y, sum);
      sum = __dp4a(own_[w + 2], other.z, sum);
      sum = __dp4a(own_[w + 3], other.w, sum);
    }
    return sum;
  }
  __device__ void read(index_t row, int word, int4& out) const {
    out = __ldg(reinterpret_cast<const int4*>(static_cast<const std::int8_t*>(source_.values) +
                                              row * source_.pitch) +
                word / 4);
  }

  const pair_operand& source_;
  std::int64_t square_sum_;
  float inverse_;
  alignas(16) int own_[words];
};

/// Pearson's r of `row` with the partner of each lane with `wanted`, anew from the unit rows, four
/// at a time. All lanes of a warp.
__device__ inline double refined_statistic(const pair_operand& source, index_t row, bool wanted,
                                           index_t partner) {
  constexpr int sums = detail::partial_sums;
  constexpr int pairs_at_a_time = 32 / sums;
  const int lane = static_cast<int>(threadIdx.x % 32);
  const auto segment = static_cast<int>(source.unit_pitch / sums);
  const double* const own = source.unit_rows + row * source.unit_pitch;
  double statistic = 0;
  for (unsigned left = __ballot_sync(~0U, wanted); left != 0;) {
    unsigned mine = left;  // the lane whose partner these eight lanes take, and those behind it
    for (int taken = 0; taken < lane / sums; ++taken) mine &= mine - 1;
    const int of = __ffs(static_cast<int>(mine == 0 ? left : mine)) - 1;
    const index_t other = __shfl_sync(~0U, partner, of);
    const double dot =
        unit_row_dot_by_lanes(own, source.unit_rows + other * source.unit_pitch, segment);
#pragma unroll
    for (int pair = 0; pair < pairs_at_a_time; ++pair, left &= left - 1) {
      const double total = __shfl_sync(~0U, dot, pair * sums);
      if (lane == __ffs(static_cast<int>(left)) - 1) statistic = total;
    }
  }
  return detail::clip_correlation(statistic);
}

/// A product of two rows of limbs. Each lane adds up its columns, four at a time: at most 2^16, so
/// that a sum of up to three products of limbs a column, below 2^15, fits 31 bits. All lanes.
template <int limbs>
__device__ std::int64_t product_of_limbs(const std::int8_t* x, const std::int8_t* y,
                                         index_t columns) {
  constexpr int orders = 2 * limbs - 1;
  int sums[orders] = {};
#pragma unroll 2
  for (index_t first = 4 * index_t{threadIdx.x % 32}; first < columns; first += 4 * 32) {
    int left[limbs];
    int right[limbs];
#pragma unroll
    for (int l = 0; l < limbs; ++l) {
      left[l] = __ldg(reinterpret_cast<const int*>(x + l * columns + first));
      right[l] = __ldg(reinterpret_cast<const int*>(y + l * columns + first));
    }
#pragma unroll
    for (int a = 0; a < limbs; ++a) {
#pragma unroll
      for (int b = 0; b < limbs; ++b) sums[a + b] = __dp4a(left[a], right[b], sums[a + b]);
    }
  }
  std::int64_t total = 0;
#pragma unroll
  for (int order = orders - 1; order >= 0; --order) {
    total = total * (1 << policy::limb_bits) + sums[order];
  }
  return warp_sum(total);
}

/// rho of `row` with the partner of each lane with `wanted`, anew from the limbs of their ranks,
/// one after the other. All lanes of a warp.
__device__ inline double refined_rho(const pair_operand& source, index_t row, bool wanted,
                                     index_t partner) {
  const int lane = static_cast<int>(threadIdx.x % 32);
  const auto* const values = static_cast<const std::int8_t*>(source.values);
  const std::int8_t* const own = values + row * source.pitch;
  std::int64_t product = 0;
  for (unsigned left = __ballot_sync(~0U, wanted); left != 0; left &= left - 1) {
    const int of = __ffs(static_cast<int>(left)) - 1;
    const std::int8_t* const other = values + __shfl_sync(~0U, partner, of) * source.pitch;
    const std::int64_t total = source.limbs == 2 ? product_of_limbs<2>(own, other, source.columns)
                                                 : product_of_limbs<3>(own, other, source.columns);
    if (lane == of) product = total;
  }
  return detail::rho_of(product, source.square_sums[row], source.square_sums[partner]);
}

/// What unit rows have in common: the statistic is computed from the rows themselves.
class refined_partners {
 public:
  using product = float;
  static constexpr int blocks = 2;

  /// The statistics of lanes with `wanted`. All lanes.
  [[nodiscard]] __device__ double statistic(bool wanted, product, index_t partner) const {
    return refined_statistic(source_, row_, wanted, partner);
  }

 protected:
  __device__ refined_partners(const pair_operand& source, index_t row)
      : source_(source), row_(row) {}

  const pair_operand& source_;
  index_t row_;
};

/// Unit rows: products of the packed halves in single precision are estimates, and the statistic
/// is computed from the rows themselves.
class unit_partners : public refined_partners {
 public:
  static constexpr float error = neighbor_unit_error;

  __device__ unit_partners(const pair_operand& source, const neighbor_rows& left,
                           const neighbor_rows& packed, index_t row)
      : refined_partners(source, row), left_(left), packed_(packed) {}

  /// The products of the row with some partners of this lane: a piece of the row is read once.
  template <int count>
  __device__ void multiply(const index_t (&partners)[count], product (&products)[count]) const {
    const std::uint8_t* own = left_.tiles + offset(left_, row_);
    const std::uint8_t* others[count];
#pragma unroll
    for (int t = 0; t < count; ++t) {
      others[t] = packed_.tiles + offset(packed_, partners[t]);
      products[t] = 0.0F;
    }
#pragma unroll 2
    for (int piece = 0; piece < packed_.depth / 16; ++piece) {
      const uint4 x = __ldg(reinterpret_cast<const uint4*>(own + piece * 128));
#pragma unroll
      for (int t = 0; t < count; ++t) {
        const uint4 y = __ldg(reinterpret_cast<const uint4*>(others[t] + piece * 128));
        products[t] = add_products(x.x, y.x, products[t]);
        products[t] = add_products(x.y, y.y, products[t]);
        products[t] = add_products(x.z, y.z, products[t]);
        products[t] = add_products(x.w, y.w, products[t]);
      }
    }
  }
  [[nodiscard]] __device__ float estimate(product sum, index_t) const { return sum; }

 private:
  [[nodiscard]] static __device__ index_t offset(const neighbor_rows& of, index_t row) {
    return neighbor_offset(neighbor_position_of(row - of.first), of.depth);
  }
  static __device__ float add_products(unsigned x, unsigned y, float sum) {
    const float2 a = __half22float2(*reinterpret_cast<const __half2*>(&x));
    const float2 b = __half22float2(*reinterpret_cast<const __half2*>(&y));
    return fmaf(a.y, b.y, fmaf(a.x, b.x, sum));
  }

  const neighbor_rows& left_;
  const neighbor_rows& packed_;
};

/// Unit rows that are not packed: estimates are products in single precision.
class plain_partners : public refined_partners {
 public:
  // Each element is rounded, and each of up to 128 products and sums.
  static constexpr float error = 1e-5F;

  __device__ plain_partners(const pair_operand& source, const neighbor_rows&, const neighbor_rows&,
                            index_t row)
      : refined_partners(source, row) {}

  /// The products of the row with some partners of this lane.
  template <int count>
  __device__ void multiply(const index_t (&partners)[count], product (&products)[count]) const {
    const auto* own = reinterpret_cast<const double2*>(row_of(row_));
    const double2* others[count];
#pragma unroll
    for (int t = 0; t < count; ++t) {
      others[t] = reinterpret_cast<const double2*>(row_of(partners[t]));
      products[t] = 0.0F;
    }
    // A row is a whole number of eight elements long.
#pragma unroll 4
    for (index_t k = 0; k < source_.unit_pitch / 2; ++k) {
      const double2 x = __ldg(own + k);
#pragma unroll
      for (int t = 0; t < count; ++t) {
        const double2 y = __ldg(others[t] + k);
        products[t] = fmaf(static_cast<float>(x.x), static_cast<float>(y.x), products[t]);
        products[t] = fmaf(static_cast<float>(x.y), static_cast<float>(y.y), products[t]);
      }
    }
  }
  /// NaN for a partner without a statistic.
  [[nodiscard]] __device__ float estimate(product sum, index_t partner) const {
    return sum * source_.norms[partner].inverse;
  }

 private:
  [[nodiscard]] __device__ const double* row_of(index_t row) const {
    return source_.unit_rows + row * source_.unit_pitch;
  }
};

}  // namespace gpu::kernels
