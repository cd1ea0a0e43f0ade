// The maxima that the neighbour search goes by: each within its error of the largest statistic of
// exactly the right group, and none where no partner has a statistic.
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include <gpu/execution.hpp>

#include "cuda_runtime/device_buffer.hpp"
#include "kernels/pairs/neighbors/kernels.hpp"
#include "kernels/pairs/neighbors/packing.hpp"
#include "reference/correlation_reference.hpp"
#include "support/catch.hpp"
#include "support/device_offers.hpp"
#include "support/generators.hpp"

namespace {

using gpu::index_t;

double from_half(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31;
  const int fraction = bits & 1023;
  const double sign = (bits & 0x8000) != 0 ? -1 : 1;
  if (exponent == 31) return std::numeric_limits<double>::quiet_NaN();
  if (exponent == 0) return sign * std::ldexp(fraction, -24);
  return sign * std::ldexp(1024 + fraction, exponent - 25);
}

template <class T>
gpu::cuda::device_buffer<T> on_device(const std::vector<T>& values) {
  gpu::cuda::device_buffer<T> out(values.size(), nullptr);
  GPU_SIMILARITY_CUDA_CHECK(
      cudaMemcpy(out.data(), values.data(), out.bytes(), cudaMemcpyHostToDevice));
  GPU_SIMILARITY_CUDA_CHECK(cudaStreamSynchronize(nullptr));
  return out;
}

struct prepared {
  index_t pitch;
  std::vector<std::int8_t> ranks;
  std::vector<std::int64_t> square_sums;
  std::vector<gpu::kernels::row_norm> norms;
};

// Every 50th row has no statistic, nor has any of rows 256 to 383.
prepared prepare(const gpu::matrix<std::int32_t>& x) {
  prepared out;
  out.pitch = x.cols() <= 32 ? 32 : (x.cols() <= 64 ? 64 : 128);
  out.ranks.assign(static_cast<std::size_t>(x.rows() * out.pitch), 0);
  for (index_t i = 0; i < x.rows(); ++i) {
    const auto u = gpu_test::reference_ranks(x.row(i).data(), x.cols());
    for (std::size_t k = 0; k < u.size(); ++k) {
      out.ranks[static_cast<std::size_t>(i * out.pitch) + k] = static_cast<std::int8_t>(u[k]);
    }
    const bool none = i % 50 == 49 || (i >= 256 && i < 384);
    out.square_sums.push_back(none ? 0 : gpu_test::reference_product(u, u));
    const float norm = std::sqrt(static_cast<float>(out.square_sums.back()));
    const bool real = out.square_sums.back() > 0;
    out.norms.push_back({norm, real ? 1 / norm : std::numeric_limits<float>::quiet_NaN()});
  }
  return out;
}

double ordering_key(double r, gpu::detail::bin_key key) {
  if (key == gpu::detail::bin_key::magnitude) return std::abs(r);
  return key == gpu::detail::bin_key::value ? r : -r;
}

/// The largest key of row i with the rows of a group that have a statistic; NaN where none has.
double expected_maximum(const prepared& p, index_t rows, index_t i, index_t group,
                        gpu::detail::bin_key key) {
  double best = std::numeric_limits<double>::quiet_NaN();
  const index_t end = std::min(rows, (group + 1) * 128);
  for (index_t j = group * 128; j < end; ++j) {
    const auto a = static_cast<std::size_t>(i);
    const auto b = static_cast<std::size_t>(j);
    if (p.square_sums[a] == 0 || p.square_sums[b] == 0) continue;
    double sum = 0;
    for (index_t k = 0; k < p.pitch; ++k) {
      sum += p.ranks[static_cast<std::size_t>(i * p.pitch + k)] *
             p.ranks[static_cast<std::size_t>(j * p.pitch + k)];
    }
    const double r = sum / std::sqrt(static_cast<double>(p.square_sums[a]) *
                                     static_cast<double>(p.square_sums[b]));
    if (!(best >= ordering_key(r, key))) best = ordering_key(r, key);
  }
  return best;
}

void check_maxima(index_t rows, index_t cols, gpu::detail::bin_key key, bool by_warpgroups) {
  INFO(rows << " x " << cols << ", key " << static_cast<int>(key) << ", warpgroups "
            << by_warpgroups);
  const auto x = gpu_test::tied_matrix<std::int32_t>(rows, cols, 3, 0.5, 40);
  const prepared p = prepare(x);
  const auto ranks = on_device(p.ranks);
  const auto square_sums = on_device(p.square_sums);
  const auto norms = on_device(p.norms);
  gpu::kernels::pair_operand source;
  source.values = ranks.data();
  source.pitch = source.columns = p.pitch;
  source.norms = norms.data();
  source.square_sums = square_sums.data();
  source.count = rows;

  const index_t unit = gpu::kernels::neighbor_row_multiple;
  const index_t padded = (rows + unit - 1) / unit * unit;
  const int depth = gpu::kernels::neighbor_depth(cols);
  const gpu::cuda::device_buffer<std::uint8_t> tiles(static_cast<std::size_t>(padded * depth),
                                                     nullptr);
  const gpu::kernels::neighbor_rows packed{
      .depth = depth, .rows = rows, .padded_rows = padded, .tiles = tiles.data()};
  const index_t groups = gpu::kernels::neighbor_groups(packed);
  const index_t pitch = (groups + 7) / 8 * 8;
  const gpu::cuda::device_buffer<std::uint16_t> maxima(static_cast<std::size_t>(padded * pitch),
                                                       nullptr);
  const gpu::kernels::neighbor_block block{
      .left = packed, .first = 0, .count = padded, .maxima = maxima.data(), .pitch = pitch};
  gpu::kernels::launch_neighbor_pack(source, packed, nullptr);
  if (by_warpgroups) {
    gpu::kernels::launch_neighbor_maxima(packed, block, key, 13, nullptr);
  } else {
    gpu::kernels::launch_neighbor_maxima_mma(packed, block, key, nullptr);
  }
  std::vector<std::uint16_t> got(maxima.size());
  GPU_SIMILARITY_CUDA_CHECK(
      cudaMemcpy(got.data(), maxima.data(), maxima.bytes(), cudaMemcpyDeviceToHost));

  double largest_error = 0;
  index_t wrong = 0;
  for (index_t i = 0; i < rows; i += 7) {
    for (index_t group = 0; group < groups; ++group) {
      const double best = expected_maximum(p, rows, i, group, key);
      const index_t position = gpu::kernels::neighbor_position_of(i);
      const double value = from_half(got[static_cast<std::size_t>(position * pitch + group)]);
      if (best != best) {
        wrong += value == value ? 1 : 0;
      } else {
        wrong += value == value ? 0 : 1;
        largest_error = std::max(largest_error, std::abs(value - best));
      }
    }
  }
  CHECK(wrong == 0);
  const int step_columns = gpu_test::current_place().code >= 80 ? 16 : 8;
  CHECK(largest_error <=
        static_cast<double>(gpu::kernels::neighbor_error(depth, step_columns)) / 2);
}

}  // namespace

TEST_CASE("Group maxima are those of their groups", "[neighbors]") {
  if (!gpu_test::applies(gpu::pair_variant::tensor)) return;
  using gpu::detail::bin_key;
  for (const bool by_warpgroups : {false, true}) {
    if (by_warpgroups && !gpu_test::applies(gpu::pair_variant::hopper)) continue;
    for (const bin_key key : {bin_key::magnitude, bin_key::value, bin_key::negated_value}) {
      check_maxima(1900, 30, key, by_warpgroups);
      check_maxima(600, 64, key, by_warpgroups);
      check_maxima(600, 90, key, by_warpgroups);
      check_maxima(600, 128, key, by_warpgroups);
    }
  }
}
