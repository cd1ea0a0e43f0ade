#include "plan/mean_filter_variants.hpp"

#include <fmt/format.h>

#include <algorithm>

#include <gpu/error.hpp>
#include <gpu/execution.hpp>

#include "base/check_enumerator.hpp"
#include "plan/mean_filter_policy.hpp"

namespace gpu::inline v0 {

std::string_view to_string(boundary mode) noexcept {
  return detail::name_in(mode, {"zero", "reflect", "nearest", "mirror", "wrap", "shrink", "valid"});
}

std::string_view to_string(mean_filter_variant variant) noexcept {
  return detail::name_in(variant, {"automatic", "direct", "constant_memory", "shared_memory",
                                   "block_sums", "multi_level"});
}

index_t filtered_size(index_t cols, index_t window, boundary mode) {
  if (cols < 0) {
    throw invalid_argument(fmt::format("filtered_size: cols is {}, expected at least 0", cols));
  }
  if (window < 1) {
    throw invalid_argument(fmt::format("filtered_size: window is {}, expected at least 1", window));
  }
  if (mode != boundary::valid) return cols;
  return window > cols ? 0 : cols - window + 1;
}

}  // namespace gpu::inline v0

namespace gpu::inline v0::detail {
namespace {

using variant = mean_filter_variant;

void check_boundary(boundary mode) {
  if (mode < boundary::zero || mode > boundary::valid) {
    throw invalid_argument(fmt::format(
        "options.boundary: got {}, expected a value of gpu::boundary", static_cast<int>(mode)));
  }
}

void check_origin(index_t origin, index_t window, boundary mode) {
  if (mode == boundary::valid) {
    if (origin != 0) {
      throw invalid_argument(
          fmt::format("options.origin: got {}, expected 0 for boundary::valid", origin));
    }
  } else if (origin < -(window / 2) || origin > (window - 1) / 2) {
    throw invalid_argument(fmt::format("options.origin: got {}, expected {} to {} for {} elements",
                                       origin, -(window / 2), (window - 1) / 2, window));
  }
}

// Places beyond the row that are empty for every output cost nothing: they are cut off the window.
void cut_empty_places(filter_shape& shape) {
  const index_t farthest = std::max<index_t>(shape.cols - 1, 0);
  const index_t right = std::min(shape.window - 1 - shape.left, farthest);
  shape.left = std::min(shape.left, farthest);
  shape.window = shape.left + 1 + right;
}

// A window must not cost time for values that are there only because the row is repeated.
void check_not_far(index_t window, index_t cols, boundary mode) {
  if (cols == 0 || window <= max_far_window || window < 2 * cols) return;
  throw invalid_argument(fmt::format(
      "options.window: got {} for rows of {}, expected at most {} with boundary::{}; zero and "
      "shrink have no limit",
      window, cols, std::max(max_far_window, 2 * cols - 1), to_string(mode)));
}

[[noreturn]] void throw_unsupported(variant asked, backend used, index_t window) {
  throw unsupported(fmt::format("options.variant: {} is not offered on {} for a window of {}",
                                to_string(asked), to_string(used), window));
}

}  // namespace

filter_shape mean_filter_shape(index_t rows, index_t cols, const mean_filter_options& options) {
  check_boundary(options.boundary);
  if (options.window < 1 || options.window > max_window) {
    throw invalid_argument(
        fmt::format("options.window: got {}, expected 1 to {}", options.window, max_window));
  }
  check_origin(options.origin, options.window, options.boundary);
  filter_shape shape{.rows = rows,
                     .cols = cols,
                     .output_cols = filtered_size(cols, options.window, options.boundary),
                     .window = options.window,
                     .divisor = options.window,
                     .boundary = options.boundary};
  shape.left = options.boundary == boundary::valid ? 0 : options.window / 2 + options.origin;
  if (options.boundary == boundary::zero || options.boundary == boundary::shrink) {
    cut_empty_places(shape);
  } else if (options.boundary != boundary::valid) {
    check_not_far(options.window, cols, options.boundary);
  }
  return shape;
}

filter_shape convolve_shape(index_t rows, index_t cols, index_t weights,
                            const convolve_options& options) {
  check_boundary(options.boundary);
  if (weights < 1 || weights > max_convolve_weights) {
    throw invalid_argument(
        fmt::format("weights: got {}, expected 1 to {}", weights, max_convolve_weights));
  }
  if (options.boundary == boundary::shrink) {
    throw invalid_argument(
        "options.boundary: got shrink, expected another boundary: weights are not rescaled");
  }
  check_origin(options.origin, weights, options.boundary);
  filter_shape shape{.rows = rows,
                     .cols = cols,
                     .output_cols = filtered_size(cols, weights, options.boundary),
                     .window = weights,
                     .boundary = options.boundary};
  shape.left = options.boundary == boundary::valid ? 0 : (weights - 1) / 2 - options.origin;
  return shape;
}

mean_filter_variant choose_mean_filter_variant(backend used, std::size_t element_bytes,
                                               const filter_shape& shape, variant asked) {
  const index_t window = shape.window;
  if (used == backend::cpu) {
    if (asked == variant::automatic) return variant::block_sums;
    if (asked != variant::direct && asked != variant::block_sums) {
      throw_unsupported(asked, used, window);
    }
    return asked;
  }
  switch (asked) {
    case variant::automatic:
      return cuda_mean_filter_variant(element_bytes, shape.rows, shape.output_cols, window);
    case variant::constant_memory:
      if (window > max_convolve_weights) throw_unsupported(asked, used, window);
      break;
    case variant::shared_memory:
      if (window > max_shared_window) throw_unsupported(asked, used, window);
      break;
    case variant::block_sums:
      if (window > max_block_sums_window(element_bytes)) throw_unsupported(asked, used, window);
      break;
    case variant::multi_level:
      if (window < min_multi_level_window) throw_unsupported(asked, used, window);
      break;
    default:
      break;
  }
  return asked;
}

mean_filter_variant choose_convolve_variant(backend used, std::size_t element_bytes,
                                            const filter_shape& shape, variant asked) {
  if (asked == variant::multi_level ||
      (used == backend::cpu && asked != variant::automatic && asked != variant::direct) ||
      (asked == variant::block_sums && shape.window > max_block_sums_weights)) {
    throw_unsupported(asked, used, shape.window);
  }
  if (asked != variant::automatic) return asked;
  if (used == backend::cpu) return variant::direct;
  return cuda_convolve_variant(element_bytes, shape.output_cols, shape.window);
}

}  // namespace gpu::inline v0::detail
