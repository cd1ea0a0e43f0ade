// The unit count, one instance per depth, and what surrounds it.

#include "kernels/common/launch.cuh"
#include "kernels/common/warp.cuh"
#include "kernels/pairs/unit_counts/count.cuh"

namespace gpu::kernels {
namespace {

constexpr int threads = 256;

// Eight neighbouring lanes decide a pair.
constexpr unsigned decide_lanes = detail::partial_sums;

struct decide_place {
  unsigned lane;  // of the eight
  unsigned mask;  // the eight, of the warp
};

// Whether rows i and j are kept, by the definition: each lane takes one of the eight partial sums
// of stats/unit_rows.hpp. Unit rows store them one after the other, in the order of
// add_partial_sums.
__device__ __forceinline__ bool keeps_exactly(const unit_count_arguments& args, index_t i,
                                              index_t j, const decide_place& place) {
  const index_t segment = args.source.unit_pitch / decide_lanes;
  const double* const rows = args.source.unit_rows + place.lane * segment;
  const double part =
      segment_dot(rows + i * args.source.unit_pitch, rows + j * args.source.unit_pitch, segment);
  const cut_estimate& cut = args.count.cut->estimate;
  return keeps(detail::clip_correlation(add_partial_sums(part, place.mask)), cut.at_least,
               cut.at_most);
}

// The same from rows in single precision, which are half the memory and decide all but one pair in
// a hundred.
__device__ __forceinline__ bool keeps_pair(const unit_count_arguments& args, index_t i, index_t j,
                                           const decide_place& place) {
  if (args.count.floats == nullptr) return keeps_exactly(args, i, j, place);
  const index_t pitch = unit_float_pitch(args.source.unit_pitch);
  const auto* x = reinterpret_cast<const float4*>(args.count.floats + i * pitch) + place.lane;
  const auto* y = reinterpret_cast<const float4*>(args.count.floats + j * pitch) + place.lane;
  float part = 0;
  for (index_t k = 0; k < pitch / 4; k += decide_lanes) {
    const float4 a = __ldg(x + k);
    const float4 b = __ldg(y + k);
    part = fmaf(a.w, b.w, fmaf(a.z, b.z, fmaf(a.y, b.y, fmaf(a.x, b.x, part))));
  }
  const cut_estimate& cut = args.count.cut->of_floats;
  const float distance = fabsf(add_partial_sums(part, place.mask) - cut.middle);
  if (distance > cut.certain) return true;
  return distance > cut.possible && keeps_exactly(args, i, j, place);
}

__global__ void decide_kernel(const __grid_constant__ unit_count_arguments args) {
  const auto found = static_cast<std::uint64_t>(*args.count.found);
  const std::uint64_t entries = found < args.count.capacity ? found : args.count.capacity;
  const std::uint64_t step = static_cast<std::uint64_t>(gridDim.x) * threads / decide_lanes;
  const decide_place place{.lane = threadIdx.x % decide_lanes,
                           .mask = 0xffU << (threadIdx.x % 32 / decide_lanes * decide_lanes)};
  for (std::uint64_t c =
           (static_cast<std::uint64_t>(blockIdx.x) * threads + threadIdx.x) / decide_lanes;
       c < entries; c += step) {
    const undecided_pairs pairs = args.count.undecided[c];
    const index_t i = args.count.packed.row_at(pairs.left);
    for_each_right(pairs, [&](std::uint32_t right) {
      if (keeps_pair(args, i, args.count.packed.row_at(right), place) && place.lane < 2) {
        atomicAdd(args.count.degree + (place.lane == 0 ? pairs.left : right), 1U);
      }
    });
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
  here = warp_sum(here);
  if (threadIdx.x % 32 == 0 && here != 0) atomicAdd(ends, here);
}

template <int depth, bool corrected>
void launch(const unit_count_arguments& args, int multiprocessors, cudaStream_t stream) {
  using shape = unit_count_shape<depth, corrected>;
  static_assert(shape::shared_bytes <= 227 * 1024 - 1024);
  static_assert(neighbor_row_multiple % (shape::warpgroups * shape::block_rows) == 0);
  launch_persistent(
      args.count.symmetric ? unit_count_kernel<shape, true> : unit_count_kernel<shape, false>, args,
      shape::threads, shape::shared_bytes, multiprocessors, stream);
}

}  // namespace

index_t unit_count_items(const unit_count_rows& packed) {
  using shape = unit_count_shape<128, true>;  // chunks and panels are the same in every shape
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
  using shape = unit_count_shape<128, true>;
  const unit_count_arguments args{
      .source = source,
      .count = count,
      .first_item = first,
      .last_item = last,
      .blocks = static_cast<int>(count.packed.padded_rows() / shape::block_rows),
      .left_blocks = static_cast<int>(count.packed.left.padded_rows / shape::block_rows)};
  if (unit_rows_are_corrected(source.unit_pitch)) {
    launch<128, true>(args, multiprocessors, stream);
  } else if (count.packed.left.depth == 128) {
    launch<128, false>(args, multiprocessors, stream);
  } else {
    launch<192, false>(args, multiprocessors, stream);
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
