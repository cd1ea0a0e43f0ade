// Exact decisions of candidates: of those that a product decides one a thread, of those that are
// computed anew 32 a warp.

#include <type_traits>

#include "kernels/common/async_copy.cuh"
#include "kernels/common/launch.cuh"
#include "kernels/pairs/frame/statistic.cuh"
#include "kernels/pairs/sinks/kernels.hpp"

namespace gpu::kernels {
namespace {

constexpr int finish_threads = 256;

struct candidate {
  std::uint32_t row;
  std::uint32_t col;
};

__device__ candidate candidate_of(std::uint64_t key) {
  return {static_cast<std::uint32_t>(key >> 32), static_cast<std::uint32_t>(key & 0xffffffffu)};
}

// Candidates that there are.
__device__ std::uint64_t count_of(const finish_request& request) {
  return request.found == nullptr ? request.count
                                  : min(request.count, std::uint64_t{*request.found});
}

// Whether a block has no candidates: then it drops the keys of its places. All threads of a block.
__device__ bool is_behind(const finish_request& request, std::uint64_t count) {
  const std::uint64_t first = std::uint64_t{blockIdx.x} * finish_threads;
  if (first < count) return false;
  const std::uint64_t at = first + threadIdx.x;
  if (at < request.count) request.keys[at] = request.what.layout.dropped();
  return true;
}

// Writes what the statistic of candidate `at` of `count` says. All threads of a block.
__device__ void write_decision(const finish_request& request, std::uint64_t at, std::uint64_t count,
                               const candidate& pair, double statistic, bool is_wanted) {
  const bool kept = at < count && is_wanted;
  if (at < request.count) {
    const edge_key_layout& layout = request.what.layout;
    request.values[at] = product_bits(statistic);
    request.keys[at] = kept ? layout.of(pair.row, pair.col) : layout.dropped();
  }
  const int in_block = __syncthreads_count(kept);
  if (threadIdx.x == 0 && in_block > 0 && request.kept != nullptr) {
    atomicAdd(request.kept, static_cast<unsigned long long>(in_block));
  }
}

// One candidate a thread: the statistic follows from its product.
template <class Statistic>
__global__ void finish_candidates(const __grid_constant__ finish_request request) {
  const std::uint64_t count = count_of(request);
  if (is_behind(request, count)) return;
  const std::uint64_t at = std::uint64_t{blockIdx.x} * finish_threads + threadIdx.x;
  candidate pair{};
  double statistic = 0;
  bool is_wanted = false;
  if (at < count) {
    pair = candidate_of(request.keys[at]);
    const auto product = product_from_bits<typename Statistic::product>(request.values[at]);
    const pair_operand& rows = request.what.rows;
    const index_t i = pair.row - rows.first;
    const index_t j = pair.col - rows.first;
    statistic = Statistic::of(product, rows, i, rows, j);
    if constexpr (std::is_same_v<Statistic, spearman_statistic>) {
      is_wanted = request.what.keep.keeps(statistic, rows.square_sums[i], rows.square_sums[j]);
    } else {
      is_wanted = request.what.keep.widest.keeps(statistic);
    }
  }
  write_decision(request, at, count, pair, statistic, is_wanted);
}

// Two unit rows in shared memory, where eight lanes read a segment each. From global memory lanes
// that read segments of 64 bytes side by side would meet in the banks of L1 four at a time; here
// they load neighbouring pieces of 16 bytes, and neither the stores nor the loads of a segment of
// 64 bytes meet.
class staged_rows {
 public:
  static __host__ __device__ int bytes(int segment) {
    return 2 * row_pieces(segment) * static_cast<int>(sizeof(double2));
  }
  __device__ staged_rows(unsigned char* memory, int segment)
      : segment_(segment), x_(reinterpret_cast<double2*>(memory)), y_(x_ + row_pieces(segment)) {}

  // unit_row_dot of rows in global memory. All lanes of a warp; eight lanes have a pair.
  __device__ double dot(const double* x, const double* y) {
    const auto* const x_pieces = reinterpret_cast<const double2*>(x);
    const auto* const y_pieces = reinterpret_cast<const double2*>(y);
    __syncwarp();  // the rows before may still be read
#pragma unroll 4
    for (int piece = lane(); piece < 4 * segment_; piece += detail::partial_sums) {
      async_copy_16_by_l1(x_ + place(piece), x_pieces + piece);
      async_copy_16_by_l1(y_ + place(piece), y_pieces + piece);
    }
    async_copy_commit();
    async_copy_wait<0>();
    __syncwarp();
    return add_partial_sums(segment_ % 2 == 0 ? even_segment() : odd_segment());
  }

 private:
  static constexpr int period = 8;  // pieces that fill all banks
  static __host__ __device__ int row_pieces(int segment) {
    return (4 * segment + period - 1) / period * period;
  }
  static __device__ int place(int piece) {
    return piece / period * period + (piece + piece / period) % period;
  }
  static __device__ int lane() { return static_cast<int>(threadIdx.x % detail::partial_sums); }
  [[nodiscard]] __device__ double even_segment() const {
    const int first = lane() * segment_ / 2;
    double sum = 0;
#pragma unroll 4
    for (int k = 0; k < segment_ / 2; ++k) {
      const double2 left = x_[place(first + k)];
      const double2 right = y_[place(first + k)];
      sum = fma(left.x, right.x, sum);
      sum = fma(left.y, right.y, sum);
    }
    return sum;
  }
  [[nodiscard]] __device__ double odd_segment() const {
    const int first = lane() * segment_;
    double sum = 0;
    for (int k = first; k < first + segment_; ++k) {
      const double2 left = x_[place(k / 2)];
      const double2 right = y_[place(k / 2)];
      sum = k % 2 == 0 ? fma(left.x, right.x, sum) : fma(left.y, right.y, sum);
    }
    return sum;
  }

  int segment_;
  double2* x_;
  double2* y_;
};

// The longest segments whose rows are staged: 64 KiB a block.
constexpr int most_staged_segment = 16;

// Pearson's r of 32 candidates a warp, anew from the unit rows, four at a time.
template <bool staged>
__global__ void finish_refined_candidates(const __grid_constant__ finish_request request) {
  extern __shared__ __align__(16) unsigned char shared[];
  constexpr int sums = detail::partial_sums;
  constexpr int pairs_at_a_time = 32 / sums;
  constexpr unsigned everyone = 0xffffffffu;
  const std::uint64_t count = count_of(request);
  if (is_behind(request, count)) return;
  const std::uint64_t at = std::uint64_t{blockIdx.x} * finish_threads + threadIdx.x;
  const int lane = static_cast<int>(threadIdx.x % 32);
  // Lanes without a candidate help with the first pair of rows.
  const pair_operand& rows = request.what.rows;
  candidate pair{static_cast<std::uint32_t>(rows.first), static_cast<std::uint32_t>(rows.first)};
  if (at < count) pair = candidate_of(request.keys[at]);
  const auto segment = static_cast<int>(rows.unit_pitch / sums);
  double statistic = 0;
  for (int first = 0; first < 32; first += pairs_at_a_time) {
    const int of = first + lane / sums;
    const index_t i = __shfl_sync(everyone, pair.row, of) - rows.first;
    const index_t j = __shfl_sync(everyone, pair.col, of) - rows.first;
    const double* const x = rows.unit_rows + i * rows.unit_pitch;
    const double* const y = rows.unit_rows + j * rows.unit_pitch;
    double dot = 0;
    if constexpr (staged) {
      const int pair_in_block = static_cast<int>(threadIdx.x) / sums;
      dot = staged_rows(shared + pair_in_block * staged_rows::bytes(segment), segment).dot(x, y);
    } else {
      dot = unit_row_dot_by_lanes(x, y, segment);
    }
    const double total = __shfl_sync(everyone, dot, lane % pairs_at_a_time * sums);
    if (lane - first >= 0 && lane - first < pairs_at_a_time) statistic = total;
  }
  statistic = detail::clip_correlation(statistic);
  write_decision(request, at, count, pair, statistic, request.what.keep.widest.keeps(statistic));
}

void launch_finish_refined(const finish_request& request, unsigned blocks, cudaStream_t stream) {
  const index_t segment = request.what.rows.unit_pitch / detail::partial_sums;
  if (segment > most_staged_segment) {
    finish_refined_candidates<false><<<blocks, finish_threads, 0, stream>>>(request);
    return;
  }
  constexpr int pairs_of_block = finish_threads / detail::partial_sums;
  const auto shared =
      static_cast<std::size_t>(pairs_of_block * staged_rows::bytes(static_cast<int>(segment)));
  allow_shared_memory(finish_refined_candidates<true>, shared);
  finish_refined_candidates<true><<<blocks, finish_threads, shared, stream>>>(request);
}

}  // namespace

void launch_finish_candidates(const finish_request& request, cudaStream_t stream) {
  if (request.count == 0) return;
  const unsigned blocks = grid_blocks(static_cast<index_t>(request.count), finish_threads);
  using enum pair_tile_kind;
  const pair_tile_kind tile = request.what.tile;
  if (tile == tensor_float || tile == tensor_half || tile == products_half) {
    launch_finish_refined(request, blocks, stream);
  } else if (finishes_statistics(tile)) {
    finish_candidates<ready_statistic><<<blocks, finish_threads, 0, stream>>>(request);
  } else if (tile == naive_pearson || tile == shared_double || tile == tensor_double ||
             tile == products_double) {
    finish_candidates<pearson_statistic><<<blocks, finish_threads, 0, stream>>>(request);
  } else {
    finish_candidates<spearman_statistic><<<blocks, finish_threads, 0, stream>>>(request);
  }
  GPU_SIMILARITY_CHECK_LAUNCH();
}

}  // namespace gpu::kernels
