// The pair count, one instance per depth and kind of cut, with and without bins.
#include "kernels/pairs/classes/count.cuh"
#include "stats/rank_squares.hpp"

namespace gpu::kernels {
namespace {

// Of |S|, for `cols` observations: that of two rows of distinct ranks.
constexpr int largest_sum(index_t cols) {
  return static_cast<int>(stats::untied_rank_squares(cols));
}
// Four times a rank fits into a byte.
constexpr index_t most_binned_columns = 32;
static_assert(sum_step * (most_binned_columns - 1) <= 127);
constexpr std::size_t most_shared_bytes = 227 * 1024 - 512;
static_assert(count_shared_bytes<32, true>(largest_sum(most_binned_columns)) <= most_shared_bytes);
static_assert(count_shared_bytes<128, false>(0) <= most_shared_bytes);
// Square sums that the decisions by squares can take.
static_assert(sum_step * (largest_sum(most_binned_columns) + 1) < 46340);

template <int depth, bool square, bool binned>
void launch(const count_arguments& args, int multiprocessors, cudaStream_t stream) {
  const std::size_t bytes = count_shared_bytes<depth, binned>(args.largest_sum);
  launch_persistent(pair_count_kernel<depth, square, binned>, args, count_threads, bytes,
                    multiprocessors, stream);
}

}  // namespace

bool counts_bins(index_t cols) {
  return cols <= most_binned_columns;
}

void launch_class_count(const class_rows& packed, index_t cols, double at_least, double at_most,
                        const bin_sink_args& bins, index_t first, index_t last,
                        std::uint32_t* degree, int multiprocessors, cudaStream_t stream) {
  const count_arguments args{.packed = packed,
                             .first_item = first,
                             .last_item = last,
                             .at_least = at_least,
                             .at_most = at_most,
                             .degree = degree,
                             .bins = bins,
                             .largest_sum = largest_sum(cols),
                             .one = 1};
  const bool binned = bins.bins != nullptr;
  const bool square = at_least == -at_most;
  switch (packed.depth) {
    case 32:
      if (square) {
        return binned ? launch<32, true, true>(args, multiprocessors, stream)
                      : launch<32, true, false>(args, multiprocessors, stream);
      }
      return binned ? launch<32, false, true>(args, multiprocessors, stream)
                    : launch<32, false, false>(args, multiprocessors, stream);
    case 64:
      return launch<64, false, false>(args, multiprocessors, stream);
    case 96:
      return launch<96, false, false>(args, multiprocessors, stream);
    default:
      return launch<128, false, false>(args, multiprocessors, stream);
  }
}

}  // namespace gpu::kernels
