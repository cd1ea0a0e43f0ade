// The pair count on exact 8-bit ranks, one instance per depth, and what surrounds it.
#include "common/launch.cuh"
#include "correlation/pair_count.cuh"

namespace gpu::kernels {
namespace {

constexpr int threads = 256;

template <int depth>
void launch_depth(const count_arguments& args, int multiprocessors, cudaStream_t stream) {
  constexpr std::size_t bytes = count_shared_bytes<depth>();
  static_assert(bytes <= 227 * 1024 - 1024);
  auto* kernel = pair_count_kernel<depth>;
  allow_shared_memory(kernel, bytes);
  kernel<<<static_cast<unsigned>(multiprocessors), select_count_policy(depth).warpgroups * 128,
           bytes, stream>>>(args);
  GPU_SIMILARITY_CHECK_LAUNCH();
}

// One thread finds the bounds of one range of packed rows. Rows are sorted: the ends suffice.
__global__ void bounds_kernel(const std::int64_t* square_sums, screen_rows packed, int range,
                              count_bounds* bounds) {
  const index_t i = static_cast<index_t>(blockIdx.x) * threads + threadIdx.x;
  if (i >= packed.padded_rows / range) return;
  const index_t first = i * range;
  const index_t last = min(first + range, packed.rows) - 1;
  bounds[i] = {1, 1};
  if (first <= last) {
    bounds[i] = {static_cast<int>(square_sums[packed.order[first]]),
                 static_cast<int>(square_sums[packed.order[last]])};
  }
}

__global__ void count_refine_kernel(screen_ranks source, screen_rows packed, std::uint32_t* degree,
                                    double cut, const screen_candidate* candidates,
                                    const std::uint64_t* count, std::uint64_t capacity,
                                    unsigned long long* kept) {
  const std::uint64_t found = *count < capacity ? *count : capacity;
  const std::uint64_t step = static_cast<std::uint64_t>(gridDim.x) * blockDim.x;
  unsigned long long mine = 0;
  for (std::uint64_t i = static_cast<std::uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
       i < found; i += step) {
    const screen_candidate pair = candidates[i];
    const std::uint32_t a = packed.order[pair.left];
    const std::uint32_t b = packed.order[pair.right];
    const auto* x = reinterpret_cast<const int*>(source.ranks + a * source.stride);
    const auto* y = reinterpret_cast<const int*>(source.ranks + b * source.stride);
    int sum = 0;
    for (int k = 0; k < (static_cast<int>(source.cols) + 3) / 4; ++k) sum = __dp4a(x[k], y[k], sum);
    if (fabs(detail::rho_of(sum, source.square_sums[a], source.square_sums[b])) >= cut) {
      atomicAdd(degree + pair.left, 1U);
      atomicAdd(degree + pair.right, 1U);
      ++mine;
    }
  }
  if (mine != 0) atomicAdd(kept, mine);
}

__global__ void spread_degrees_kernel(screen_rows packed, const std::uint32_t* from,
                                      std::uint32_t* to) {
  const index_t i = static_cast<index_t>(blockIdx.x) * threads + threadIdx.x;
  if (i < packed.rows) to[packed.order[i]] += from[i];
}

}  // namespace

void launch_count_bounds(const screen_ranks& ranks, const screen_rows& packed,
                         const count_rows& counted, cudaStream_t stream) {
  const index_t left = packed.padded_rows / 64;
  const index_t right = packed.padded_rows / 256;
  bounds_kernel<<<grid_blocks(left, threads), threads, 0, stream>>>(ranks.square_sums, packed, 64,
                                                                    counted.left_bounds);
  GPU_SIMILARITY_CHECK_LAUNCH();
  bounds_kernel<<<grid_blocks(right, threads), threads, 0, stream>>>(ranks.square_sums, packed, 256,
                                                                     counted.right_bounds);
  GPU_SIMILARITY_CHECK_LAUNCH();
}

void launch_count(const screen_rows& packed, const count_rows& counted, double cut, index_t first,
                  index_t last, screen_candidate* candidates, std::uint64_t capacity,
                  std::uint64_t* count, unsigned long long* kept, int multiprocessors,
                  cudaStream_t stream) {
  const count_arguments args{
      .walk = {.tiles = packed.tiles,
               .blocks = packed.blocks,
               .tile_bounds = packed.tile_bounds,
               .rows = static_cast<unsigned>(packed.rows),
               .tile_count = static_cast<int>(packed.padded_rows /
                                              select_count_policy(packed.depth).tile_rows),
               .first_item = first,
               .last_item = last,
               .cut = 0.0F,
               .candidates = candidates,
               .capacity = capacity,
               .count = count},
      .left_bounds = counted.left_bounds,
      .right_bounds = counted.right_bounds,
      .at_least = cut,
      .degree = counted.degree,
      .kept = kept};
  switch (packed.depth) {
    case 32:
      return launch_depth<32>(args, multiprocessors, stream);
    case 64:
      return launch_depth<64>(args, multiprocessors, stream);
    case 96:
      return launch_depth<96>(args, multiprocessors, stream);
    default:
      return launch_depth<128>(args, multiprocessors, stream);
  }
}

void launch_count_refine(const screen_ranks& ranks, const screen_rows& packed,
                         const count_rows& counted, double cut, const screen_candidate* candidates,
                         const std::uint64_t* count, std::uint64_t capacity,
                         unsigned long long* kept, cudaStream_t stream) {
  count_refine_kernel<<<1024, threads, 0, stream>>>(ranks, packed, counted.degree, cut, candidates,
                                                    count, capacity, kept);
  GPU_SIMILARITY_CHECK_LAUNCH();
}

void launch_spread_degrees(const screen_rows& packed, const count_rows& counted,
                           std::uint32_t* degree, cudaStream_t stream) {
  if (packed.rows == 0) return;
  spread_degrees_kernel<<<grid_blocks(packed.rows, threads), threads, 0, stream>>>(
      packed, counted.degree, degree);
  GPU_SIMILARITY_CHECK_LAUNCH();
}

}  // namespace gpu::kernels
