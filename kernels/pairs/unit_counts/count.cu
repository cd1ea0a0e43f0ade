// The unit count, one instance per depth, and what surrounds it.

#include <cuda_fp16.h>

#include "kernels/common/launch.cuh"
#include "kernels/pairs/unit_counts/count.cuh"

namespace gpu::kernels {
namespace {

constexpr int threads = 256;
// Of the products: covers the roundings of the comparison in single precision.
constexpr double comparison_error = 2e-6;

// One thread looks at one row.
__global__ void rounding_kernel(pair_operand source, float* largest) {
  const index_t row = static_cast<index_t>(blockIdx.x) * threads + threadIdx.x;
  double lost = 0;
  if (row < source.count && source.square_sums[row] > 0) {
    const double* unit = source.unit_rows + row * source.unit_pitch;
    for (index_t k = 0; k < source.unit_pitch; ++k) {
      const double rest = unit[k] - static_cast<double>(__half2float(__double2half(unit[k])));
      lost += rest * rest;
    }
  }
  float error = static_cast<float>(sqrt(lost) * (1 + 1e-6));
  for (int step = 16; step > 0; step /= 2) {
    error = fmaxf(error, __shfl_xor_sync(~0U, error, step));
  }
  // Floats that are not negative are in the order of their bits.
  if (threadIdx.x % 32 == 0) {
    atomicMax(reinterpret_cast<unsigned*>(largest), __float_as_uint(error));
  }
}

// One thread. A row x is its rounded form plus a rest of length at most e, so that
// |x y - (its rounded form)| <= 2 e + e^2.
__global__ void cut_kernel(detail::keep_range keep, index_t elements, unit_cut* cut) {
  const double rest = cut->largest_rest;
  const double error = 2 * rest + rest * rest + unit_sum_error(elements) + comparison_error;
  cut->estimate = estimate_cut(keep, error);
}

// One partial sum of a product, in the order of its elements: rows of an even number are read two
// elements at a time.
__device__ __forceinline__ double partial_sum(const double* x, const double* y, index_t count) {
  double sum = 0;
  if (count % 2 != 0) {
    for (index_t k = 0; k < count; ++k) sum = fma(x[k], y[k], sum);
    return sum;
  }
  const auto* x_pairs = reinterpret_cast<const double2*>(x);
  const auto* y_pairs = reinterpret_cast<const double2*>(y);
  for (index_t k = 0; k < count / 2; ++k) {
    const double2 a = __ldg(x_pairs + k);
    const double2 b = __ldg(y_pairs + k);
    sum = fma(a.y, b.y, fma(a.x, b.x, sum));
  }
  return sum;
}

// Eight lanes a pair, one partial sum of stats/pearson_order.hpp each: unit rows hold them one
// after the other in the order that adds them up as neighbours, pairs of neighbours, halves.
__global__ void decide_kernel(const __grid_constant__ unit_count_arguments args) {
  constexpr unsigned lanes = detail::partial_sums;
  const auto found = static_cast<std::uint64_t>(*args.count.found);
  const std::uint64_t pairs = found < args.count.capacity ? found : args.count.capacity;
  const std::uint64_t step = static_cast<std::uint64_t>(gridDim.x) * threads / lanes;
  const unsigned lane = threadIdx.x % lanes;
  const unsigned mask = 0xffU << (threadIdx.x % 32 / lanes * lanes);
  const index_t segment = args.source.unit_pitch / lanes;
  const double at_least = args.count.cut->estimate.at_least;
  const double at_most = args.count.cut->estimate.at_most;
  for (std::uint64_t c = (static_cast<std::uint64_t>(blockIdx.x) * threads + threadIdx.x) / lanes;
       c < pairs; c += step) {
    const undecided_pair pair = args.count.undecided[c];
    const auto unit_row = [&](std::uint32_t position) {
      return args.source.unit_rows + args.count.packed.row_at(position) * args.source.unit_pitch +
             lane * segment;
    };
    double sum = partial_sum(unit_row(pair.left), unit_row(pair.right), segment);
    sum += __shfl_xor_sync(mask, sum, 1);
    sum += __shfl_xor_sync(mask, sum, 2);
    sum += __shfl_xor_sync(mask, sum, 4);
    if (lane < 2 && keeps(detail::clip_correlation(sum), at_least, at_most)) {
      atomicAdd(args.count.degree + (lane == 0 ? pair.left : pair.right), 1U);
    }
  }
}

__global__ void unit_degrees_kernel(unit_count count, std::uint32_t* degree,
                                    unsigned long long* ends) {
  const index_t place = static_cast<index_t>(blockIdx.x) * threads + threadIdx.x;
  const neighbor_rows& left = count.packed.left;
  const neighbor_rows& right = count.packed.right;
  const bool is_left = place < left.padded_rows;
  const index_t in_side = is_left ? place : place - left.padded_rows;
  unsigned long long here = 0;
  if (in_side < (is_left ? left.rows : right.rows)) {
    here = count.degree[neighbor_position_of(place)];
    degree[(is_left ? left.first : right.first) + in_side] += static_cast<std::uint32_t>(here);
  }
  for (int step = 16; step > 0; step /= 2) here += __shfl_xor_sync(~0U, here, step);
  if (threadIdx.x % 32 == 0 && here != 0) atomicAdd(ends, here);
}

template <int depth>
void launch(const unit_count_arguments& args, int multiprocessors, cudaStream_t stream) {
  using shape = unit_count_shape<depth>;
  static_assert(shape::shared_bytes <= 227 * 1024 - 1024);
  static_assert(neighbor_row_multiple % (shape::warpgroups * shape::block_rows) == 0);
  auto* kernel =
      args.count.symmetric ? unit_count_kernel<depth, true> : unit_count_kernel<depth, false>;
  allow_shared_memory(kernel, shape::shared_bytes);
  kernel<<<static_cast<unsigned>(multiprocessors), shape::threads, shape::shared_bytes, stream>>>(
      args);
  GPU_SIMILARITY_CHECK_LAUNCH();
}

}  // namespace

void launch_unit_cut(const pair_operand& source, const detail::keep_range& keep, unit_cut* cut,
                     cudaStream_t stream) {
  GPU_SIMILARITY_CUDA_CHECK(cudaMemsetAsync(cut, 0, sizeof *cut, stream));
  if (source.count > 0) {
    rounding_kernel<<<grid_blocks(source.count, threads), threads, 0, stream>>>(source,
                                                                                &cut->largest_rest);
    GPU_SIMILARITY_CHECK_LAUNCH();
  }
  cut_kernel<<<1, 1, 0, stream>>>(keep, source.unit_pitch, cut);
  GPU_SIMILARITY_CHECK_LAUNCH();
}

index_t unit_count_items(const unit_count_rows& packed) {
  using shape = unit_count_shape<64>;  // chunks and panels are the same for every depth
  const index_t blocks = packed.padded_rows() / shape::block_rows;
  const index_t left_blocks = packed.left.padded_rows / shape::block_rows;
  index_t items = 0;
  for (index_t first = 0; first < left_blocks; first += shape::chunk_blocks) {
    const index_t first_right = packed.within ? first : left_blocks;
    items += blocks / shape::warpgroups - first_right / shape::warpgroups;
  }
  return items;
}

void launch_unit_count(const pair_operand& source, const unit_count& count, index_t first,
                       index_t last, int multiprocessors, cudaStream_t stream) {
  if (first >= last) return;
  const unit_count_arguments args{
      .source = source,
      .count = count,
      .first_item = first,
      .last_item = last,
      .blocks = static_cast<int>(count.packed.padded_rows() / unit_count_shape<64>::block_rows),
      .left_blocks =
          static_cast<int>(count.packed.left.padded_rows / unit_count_shape<64>::block_rows)};
  switch (count.packed.left.depth) {
    case 64:
      launch<64>(args, multiprocessors, stream);
      break;
    case 128:
      launch<128>(args, multiprocessors, stream);
      break;
    default:
      launch<192>(args, multiprocessors, stream);
      break;
  }
  constexpr int blocks_of_multiprocessor = 8;
  decide_kernel<<<static_cast<unsigned>(multiprocessors * blocks_of_multiprocessor), threads, 0,
                  stream>>>(args);
  GPU_SIMILARITY_CHECK_LAUNCH();
  GPU_SIMILARITY_CUDA_CHECK(cudaMemsetAsync(count.found, 0, sizeof(*count.found), stream));
}

void launch_unit_degrees(const unit_count& count, std::uint32_t* degree, unsigned long long* ends,
                         cudaStream_t stream) {
  const index_t rows = count.packed.padded_rows();
  if (rows == 0) return;
  unit_degrees_kernel<<<grid_blocks(rows, threads), threads, 0, stream>>>(count, degree, ends);
  GPU_SIMILARITY_CHECK_LAUNCH();
}

}  // namespace gpu::kernels
