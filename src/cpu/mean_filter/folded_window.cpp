#include "cpu/mean_filter/folded_window.hpp"

#include <algorithm>

namespace gpu::cpu {

folded_window fold_window(const detail::filter_shape& shape) {
  folded_window out{.shape = shape};
  if (shape.cols == 0 || shape.window < 2 * shape.cols) return out;
  switch (shape.boundary) {
    case boundary::reflect:
      out.period = 2 * shape.cols;
      break;
    case boundary::mirror:
      out.period = std::max<index_t>(1, 2 * shape.cols - 2);
      break;
    case boundary::wrap:
      out.period = shape.cols;
      break;
    case boundary::nearest: {
      // Further than the row is long to the left stands the first element for every output.
      const index_t left = std::min(shape.left, shape.cols - 1);
      const index_t right = std::min(shape.window - 1 - shape.left, shape.cols - 1);
      out.first_copies = shape.left - left;
      out.last_copies = shape.window - 1 - shape.left - right;
      out.shape.left = left;
      out.shape.window = left + 1 + right;
      return out;
    }
    default:  // zero and shrink are cut already, valid windows lie within their row
      return out;
  }
  out.periods = (shape.window - 1) / out.period;
  out.shape.window = shape.window - out.periods * out.period;
  out.shape.left = shape.left % out.period;
  return out;
}

}  // namespace gpu::cpu
