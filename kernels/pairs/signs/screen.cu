// What the screen of strict cuts asks of rows of signs: their ranks, and the decision of
// candidates.

#include "kernels/common/launch.cuh"
#include "kernels/common/warp.cuh"
#include "kernels/pairs/screen/found.cuh"
#include "kernels/pairs/signs/kernels.hpp"

namespace gpu::kernels {
namespace {

constexpr int threads = 256;
constexpr int warps = threads / 32;
constexpr int lanes_of_pair = 8;
constexpr int pairs_of_warp = 32 / lanes_of_pair;

// A warp a row, a lane a column at a time.
__global__ void ranks_of_signs(const std::byte* rows, index_t count, sign_row_layout layout,
                               std::int8_t* ranks, index_t stride, std::int64_t* square_sums) {
  const index_t row = index_t{blockIdx.x} * warps + threadIdx.x / 32;
  if (row >= count) return;
  const auto* signs = reinterpret_cast<const std::int8_t*>(rows + row * layout.pitch() * 8);
  const auto cols = static_cast<int>(layout.cols);
  int squares = 0;
  for (int i = static_cast<int>(threadIdx.x % 32); i < static_cast<int>(stride); i += 32) {
    int rank = 0;
    if (i < cols) {
      int at = i - 1;  // the sign of columns 0 and i
      for (int j = 0; j < i; ++j) {
        rank += signs[at];
        at += cols - 2 - j;
      }
      at = i * cols - i * (i + 1) / 2;  // of i and the next
      for (int j = i + 1; j < cols; ++j) rank -= signs[at++];
    }
    ranks[row * stride + i] = static_cast<std::int8_t>(rank);
    squares += rank * rank;
  }
  squares = warp_sum(squares);
  if (threadIdx.x % 32 == 0) square_sums[row] = squares;
}

// This lane's part of S of two rows.
__device__ int part_of_sum(const std::byte* x, const std::byte* y, int pieces, int lane) {
  const auto* a = reinterpret_cast<const int4*>(x);
  const auto* b = reinterpret_cast<const int4*>(y);
  int sum = 0;
  for (int k = lane; k < pieces; k += lanes_of_pair) {
    const int4 left = a[k];
    const int4 right = b[k];
    sum = __dp4a(left.x, right.x, sum);
    sum = __dp4a(left.y, right.y, sum);
    sum = __dp4a(left.z, right.z, sum);
    sum = __dp4a(left.w, right.w, sum);
  }
  return sum;
}

// Eight lanes a candidate.
__global__ void refine_signs(const std::byte* rows, sign_row_layout layout,
                             const __grid_constant__ stats::kendall_decision by,
                             const std::uint32_t* order, const screen_candidates candidates,
                             const screened_edges edges) {
  const std::uint64_t found = listed(candidates);
  const int lane = static_cast<int>(threadIdx.x % lanes_of_pair);
  const std::uint64_t of_warp = threadIdx.x % 32 / lanes_of_pair;
  const std::uint64_t first =
      (std::uint64_t{blockIdx.x} * warps + threadIdx.x / 32) * pairs_of_warp;
  const index_t row_bytes = layout.pitch() * 8;
  const index_t sign_bytes = layout.sign_bytes();
  const auto pieces = static_cast<int>(sign_bytes / 16);
  for (std::uint64_t at = first; at < found;
       at += std::uint64_t{gridDim.x} * warps * pairs_of_warp) {
    const bool is_there = at + of_warp < found;
    const screen_candidate pair = is_there ? candidates.list[at + of_warp] : screen_candidate{0, 0};
    const std::uint32_t a = is_there ? order[pair.left] : no_packed_row;
    const std::uint32_t b = is_there ? order[pair.right] : no_packed_row;
    const bool is_pair = a != no_packed_row && b != no_packed_row;
    const std::byte* const x = rows + (is_pair ? a : 0) * row_bytes;
    const std::byte* const y = rows + (is_pair ? b : 0) * row_bytes;
    int sum = is_pair ? part_of_sum(x, y, pieces, lane) : 0;
    sum = group_sum<lanes_of_pair>(sum);
    if (!is_pair || lane != 0) continue;
    const double tau =
        stats::decide_kendall(by, sum, *reinterpret_cast<const row_ties*>(x + sign_bytes),
                              *reinterpret_cast<const row_ties*>(y + sign_bytes));
    if (tau == tau) add_edge(a, b, tau, edges);
  }
}

}  // namespace

void launch_ranks_of_signs(const std::byte* rows, index_t count, index_t cols, std::int8_t* ranks,
                           index_t stride, std::int64_t* square_sums, cudaStream_t stream) {
  if (count == 0) return;
  ranks_of_signs<<<grid_blocks(count, warps), threads, 0, stream>>>(
      rows, count, sign_row_layout{cols}, ranks, stride, square_sums);
  GPU_SIMILARITY_CHECK_LAUNCH();
}

void launch_refine_signs(const std::byte* rows, index_t cols, const stats::kendall_decision& by,
                         const screen_rows& packed, const screen_candidates& candidates,
                         const screened_edges& edges, cudaStream_t stream) {
  constexpr int blocks = 1024;
  refine_signs<<<blocks, threads, 0, stream>>>(rows, sign_row_layout{cols}, by, packed.order,
                                               candidates, edges);
  GPU_SIMILARITY_CHECK_LAUNCH();
}

}  // namespace gpu::kernels
