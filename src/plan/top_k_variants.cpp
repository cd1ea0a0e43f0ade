#include "plan/top_k_variants.hpp"

#include <fmt/format.h>

#include <gpu/error.hpp>

namespace gpu::inline v0::detail {
namespace {

// Rows from here on are worth several blocks each (see docs/top_k.md for the measurements).
constexpr index_t long_row = 65536;
constexpr index_t many_rows = 512;
// From so many rows on a block for each fills the device.
constexpr index_t rows_of_blocks = 64;
constexpr index_t most_sorted_by_warp = 256;
// The most entries that one block ranks in good time: of threshold, and of 16-byte composites.
constexpr index_t most_ranked_alone = 512;
// Warps of the sample pass on their best four of 128: for a larger share they would be too few.
constexpr index_t sampled_share = 64;
// Of more distinct values the keys are sorted: in rows of so many elements from the second limit
// on.
constexpr index_t most_distinct_by_threshold = 32;
constexpr index_t row_of_dear_sort = index_t{1} << 22;

top_k_variant choose_on_cpu(const top_k_shape& shape) {
  // Close to k = n nearly everything is a candidate, and sorting at once is cheaper.
  return shape.distinct || shape.k <= shape.cols / 8 ? top_k_variant::threshold
                                                     : top_k_variant::sort;
}

top_k_variant choose_on_cuda(const top_k_shape& shape) {
  if (shape.distinct) {
    const index_t most = shape.cols < row_of_dear_sort ? most_distinct_by_threshold
                                                       : top_k_threshold_most_distinct_k;
    return shape.k <= most ? top_k_variant::threshold : top_k_variant::sort;
  }
  // One warp sorts many slowly: only short rows, enough for every warp.
  if (shape.cols <= top_k_warp_most_cols &&
      (shape.k <= 32 || (shape.cols <= most_sorted_by_warp && shape.rows >= many_rows))) {
    return top_k_variant::warp_rows;
  }
  const bool has_many_rows = shape.rows >= rows_of_blocks;
  const bool is_wide = shape.element_bytes > 4;
  if (shape.cols < long_row ? shape.k <= (is_wide ? most_ranked_alone : top_k_block_most_k)
                            : has_many_rows && !is_wide && shape.k > most_ranked_alone &&
                                  shape.k <= top_k_block_most_k) {
    return top_k_variant::block_rows;
  }
  const index_t most_ranked = has_many_rows ? most_ranked_alone : top_k_threshold_most_k_of(shape);
  if (shape.k <= most_ranked && shape.k <= shape.cols / sampled_share) {
    return top_k_variant::threshold;
  }
  return top_k_variant::radix_select;
}

// Why a variant cannot take this shape on CUDA; null where it can.
const char* cuda_objection(const top_k_shape& shape, top_k_variant asked) {
  if (shape.distinct) {
    if (asked == top_k_variant::sort) return nullptr;
    if (asked != top_k_variant::threshold) return "does not select distinct values";
    return shape.k <= top_k_threshold_most_distinct_k ? nullptr : "takes distinct k up to 128";
  }
  switch (asked) {
    case top_k_variant::threshold:
      if (shape.k > top_k_threshold_most_k) return "takes k up to 4096";
      return shape.k <= top_k_threshold_most_k_of(shape) ? nullptr
                                                         : "takes less on this device's memory";
    case top_k_variant::two_pass_insert:
      return shape.k <= top_k_insert_most_k ? nullptr : "takes k up to 32";
    case top_k_variant::block_rows:
      return shape.k <= top_k_block_most_k ? nullptr : "takes k up to 2048";
    case top_k_variant::sort:
      return "selects distinct values alone";
    case top_k_variant::warp_rows:
      return shape.cols <= top_k_warp_most_cols ? nullptr : "takes rows of up to 1024 columns";
    default:
      return nullptr;
  }
}

}  // namespace

top_k_variant choose_top_k_variant(const top_k_shape& shape, backend used, top_k_variant asked) {
  if (used == backend::cpu) {
    if (asked == top_k_variant::automatic) return choose_on_cpu(shape);
    if (asked == top_k_variant::threshold || asked == top_k_variant::sort) return asked;
    throw unsupported(
        fmt::format("options.variant: {} is not offered on the CPU, expected "
                    "automatic, threshold or sort",
                    to_string(asked)));
  }
  if (asked == top_k_variant::automatic) return choose_on_cuda(shape);
  if (const char* objection = cuda_objection(shape, asked)) {
    throw unsupported(fmt::format("options.variant: {} {}, got k = {} of {} columns",
                                  to_string(asked), objection, shape.k, shape.cols));
  }
  return asked;
}

}  // namespace gpu::inline v0::detail
