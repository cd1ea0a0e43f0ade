#include "plan/top_k_variants.hpp"

#include <fmt/format.h>

#include <gpu/error.hpp>

namespace gpu::inline v0::detail {
namespace {

// Rows from here on are worth several blocks each (see docs/top_k.md for the measurements).
constexpr index_t long_row = 65536;
constexpr index_t many_rows = 512;
// From this length on a row is selected alone by all of the device, whatever k.
constexpr index_t very_long_row = index_t{1} << 20;

top_k_variant choose_on_cpu(const top_k_shape& shape) {
  // Close to k = n nearly everything is a candidate, and sorting at once is cheaper.
  return shape.distinct || shape.k <= shape.cols / 8 ? top_k_variant::threshold
                                                     : top_k_variant::sort;
}

top_k_variant choose_distinct_on_cuda(const top_k_shape& shape) {
  return shape.k <= top_k_threshold_most_distinct_k ? top_k_variant::threshold
                                                    : top_k_variant::sort;
}

top_k_variant choose_on_cuda(const top_k_shape& shape) {
  if (shape.distinct) return choose_distinct_on_cuda(shape);
  // One warp sorts many slowly: only where there are rows enough for every warp.
  if (shape.cols <= top_k_warp_most_cols && (shape.k <= 32 || shape.rows >= many_rows)) {
    return top_k_variant::warp_rows;
  }
  if (shape.cols < long_row && shape.k <= top_k_block_most_k) return top_k_variant::block_rows;
  if (shape.k <= top_k_threshold_most_k_of(shape) && shape.k <= shape.cols / 8) {
    return top_k_variant::threshold;
  }
  return shape.rows == 1 || shape.cols >= very_long_row ? top_k_variant::radix_select
                                                        : top_k_variant::sort;
}

// Why a variant cannot take this shape on CUDA; null where it can.
const char* cuda_objection(const top_k_shape& shape, top_k_variant asked) {
  if (shape.distinct) {
    switch (asked) {
      case top_k_variant::threshold:
        return shape.k <= top_k_threshold_most_distinct_k ? nullptr : "takes distinct k up to 1024";
      case top_k_variant::sort:
        return nullptr;
      default:
        return "does not select distinct values";
    }
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
