#include "cuda/pairs/programs/counting.hpp"

#include <limits>

namespace gpu::cuda {
namespace {

using kernels::pair_tile_kind;

// Above this share of pairs near a bin's edge, products in double cost less than deciding anew.
constexpr double most_refined_share = 1.0 / 64;

}  // namespace

tile_step<kernels::count_sink_args> counting_step(const row_format& format, pair_tile_kind tile,
                                                  const detail::pair_cut& keep,
                                                  unsigned long long* kept, std::uint32_t* degree,
                                                  const count_terms& terms) {
  return {.tile = tile,
          .sink = {.cut = kernels::estimate_cut(keep, estimate_error(format, tile)),
                   .kept = kept,
                   .degree = degree,
                   .weights = terms.weights,
                   .done = terms.done,
                   .undecided = terms.undecided}};
}

kernels::bin_sink_args binning_of(const detail::bin_request& request, unsigned long long* bins) {
  kernels::bin_sink_args out{};
  out.key = request.key;
  out.low = request.low;
  out.high = request.high;
  out.scale = request.scale;
  out.count = request.bins;
  out.bins = bins;
  return out;
}

tile_step<kernels::bin_sink_args> binning_step(const row_format& format,
                                               const detail::pair_cut& keep,
                                               const detail::bin_request& request,
                                               unsigned long long* bins, const count_terms& terms) {
  tile_step<kernels::bin_sink_args> out{.tile = format.deciding_tile(),
                                        .sink = binning_of(request, bins)};
  out.sink.cut = kernels::estimate_cut(keep, estimate_error(format, out.tile));
  out.sink.margin = static_cast<float>(float_estimate_error);
  out.sink.weights = terms.weights;
  out.sink.done = terms.done;
  if (out.tile == pair_tile_kind::tensor_float) {
    const double margin = tensor_error(format);
    if (2 * margin * request.scale > most_refined_share) {
      out.tile = format.exact_tile();
    } else {
      out.sink.margin += static_cast<float>(margin);
    }
  }
  return out;
}

detail::bin_request histogram_request(index_t bins, std::span<const std::uint32_t> weights) {
  return {.key = detail::bin_key::value,
          .low = -1,
          .high = std::numeric_limits<double>::infinity(),
          .scale = static_cast<double>(bins) / 2,
          .bins = bins,
          .weights = weights};
}

}  // namespace gpu::cuda
