// Unit rows of long rows, in the order of sums of stats/unit_rows.hpp.
//
// A block a row (long_row.cuh). What needs no order (the survey, the largest rest, the division)
// takes all threads. The row is read once for each pass, from L2 after the first. Compiled with
// -fmad=false.

#include "base/element_types.hpp"
#include "kernels/common/launch.cuh"
#include "kernels/pairs/prepare/long_row.cuh"
#include "kernels/pairs/prepare/long_unit_rows.hpp"

namespace gpu::kernels {
namespace {

constexpr int threads = long_row_threads;

/// What a row is; `largest` becomes its largest magnitude. All threads.
template <class T>
__device__ std::int64_t survey_row(const long_row<T>& row, double first, detail::row_centre centre,
                                   double& largest) {
  row_survey<> seen;
  row.for_each([&](double value) { seen.see(value, first); });
  largest = largest_of_block(seen.largest);
  const bool any_nan = __syncthreads_or(seen.nan) != 0;
  const bool any_varies = __syncthreads_or(seen.varies) != 0;
  if (any_nan) return nan_row;
  if (!(largest <= 1.7976931348623157e308)) return infinite_row;
  const bool constant = detail::is_centred(centre) ? !any_varies : largest == 0;
  return constant ? constant_row : ordinary_row;
}

template <class T>
__global__ void __launch_bounds__(threads)
    long_unit_rows(device_matrix_view<const T> data, detail::row_centre centre, index_t segment,
                   double* out, std::int64_t* status) {
  __shared__ __align__(16) double buffers[long_row<T>::buffer_elements];
  const index_t number = blockIdx.x;
  const T* const in = data.row(number);
  const long_row<T> row(in, data.cols(), buffers);
  double largest = 0;
  unit_scaling to;
  to.kind = survey_row(row, static_cast<double>(in[0]), centre, largest);
  if (to.kind == ordinary_row) {
    to.scale = detail::power_of_two_scale(largest);
    const double columns = static_cast<double>(data.cols());
    if (detail::is_centred(centre)) {
      const auto scaled = [&](double value) { return value * to.scale; };
      const double mean = row.template sum<false>(scaled) / columns;
      to.mean = mean;
      const auto centred = [&](double value) { return value * to.scale - to.mean; };
      to.mean_of_rest = row.template sum<false>(centred) / columns;
    }
    double rest = 0;
    row.for_each([&](double value) {
      const double magnitude = fabs(to.centred(value));
      rest = magnitude > rest ? magnitude : rest;
    });
    rest = largest_of_block(rest);
    if (rest == 0) to.kind = constant_row;
    if (to.kind == ordinary_row) {
      to.rest_scale = detail::power_of_two_scale(rest);
      to.length = sqrt(row.template sum<true>([&](double value) { return to.scaled(value); }));
    }
  }
  if (threadIdx.x == 0) status[number] = to.kind;
  row.write(segment, out + number * unit_lanes * segment, [&](double value) {
    return to.kind == ordinary_row ? to.scaled(value) / to.length : 0.0;
  });
}

}  // namespace

template <class T>
void launch_long_unit_rows(device_matrix_view<const T> data, detail::row_centre centre, double* out,
                           std::int64_t* square_sums, cudaStream_t stream) {
  if (data.rows() == 0) return;
  long_unit_rows<T><<<grid_blocks(data.rows(), 1), threads, 0, stream>>>(
      data, centre, unit_row_layout(data.cols()).segment, out, square_sums);
  GPU_SIMILARITY_CHECK_LAUNCH();
}

#define GPU_SIMILARITY_INSTANTIATE(T)                                                              \
  template void launch_long_unit_rows<T>(device_matrix_view<const T>, detail::row_centre, double*, \
                                         std::int64_t*, cudaStream_t);

GPU_SIMILARITY_FOR_EACH_ELEMENT_TYPE(GPU_SIMILARITY_INSTANTIATE)

}  // namespace gpu::kernels
