// Counts and bins of the CUDA pair engine.
#include <algorithm>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "cuda/pairs/engine.hpp"
#include "kernels/pairs/classes/kernels.hpp"

namespace gpu::cuda {
namespace {

using kernels::pair_tile_kind;

constexpr double infinity = std::numeric_limits<double>::infinity();

// Above this share of pairs near a bin's edge, products in double cost less than deciding anew.
constexpr double most_refined_share = 1.0 / 64;

}  // namespace

device_buffer<std::uint32_t> pair_engine::upload_weights(
    std::span<const std::uint32_t> weights) const {
  budget_.require(weights.size_bytes(), "weights of the rows");
  device_buffer<std::uint32_t> out(weights.size(), stream());
  GPU_SIMILARITY_CUDA_CHECK(cudaMemcpyAsync(out.data(), weights.data(), weights.size_bytes(),
                                            cudaMemcpyHostToDevice, stream()));
  return out;
}

std::vector<std::uint64_t> pair_engine::bin_pairs(std::string_view stage,
                                                  const detail::keep_range& keep,
                                                  const detail::bin_request& request) {
  const auto size = static_cast<std::size_t>(request.bins) + 2;
  budget_.require(size * sizeof(std::uint64_t), "bins");
  auto bins = zeroed<unsigned long long>(size, stream());
  const device_buffer<std::uint32_t> weights = upload_weights(request.weights);
  kernels::bin_sink_args sink{.cut = estimate_cut(keep, estimate_error()),
                              .key = request.key,
                              .low = request.low,
                              .high = request.high,
                              .scale = request.scale,
                              .count = request.bins,
                              .margin = static_cast<float>(float_estimate_error),
                              .bins = bins.data(),
                              .weights = weights.data()};
  pair_tile_kind tile = rows_->format().deciding_tile();
  if (tile == pair_tile_kind::tensor_float) {
    const double margin = tensor_error(rows_->format());
    if (2 * margin * request.scale > most_refined_share) {
      tile = pair_tile_kind::shared_double;
    } else {
      sink.margin += static_cast<float>(margin);
    }
  }
  walk_upper_pairs(stage, tile, [&](const kernels::pair_panel& panel) {
    kernels::launch_pairs(tile, panel, sink, stream());
  });
  std::vector<std::uint64_t> out(size);
  static_assert(sizeof(unsigned long long) == sizeof(std::uint64_t));
  read_back(reinterpret_cast<unsigned long long*>(out.data()), bins, stream());
  return out;
}

void pair_engine::count_by_tiles(const detail::count_request& request, pair_counts& out) {
  const auto rows = static_cast<std::size_t>(count());
  budget_.require(rows * sizeof(std::uint32_t), "degrees of the rows");
  auto degree = zeroed<std::uint32_t>(rows, stream());
  auto kept = zeroed<unsigned long long>(1, stream());
  const device_buffer<std::uint32_t> weights = upload_weights(request.weights);
  const kernels::count_sink_args sink{.cut = estimate_cut(request.keep, estimate_error()),
                                      .kept = kept.data(),
                                      .degree = degree.data(),
                                      .weights = weights.data()};
  const pair_tile_kind tile = rows_->format().deciding_tile();
  walk_upper_pairs("pairs", tile, [&](const kernels::pair_panel& panel) {
    kernels::launch_pairs(tile, panel, sink, stream());
  });
  unsigned long long total = 0;
  read_back(&total, kept, stream());
  out.kept = total;
  out.degree.resize(rows);
  read_back(out.degree.data(), degree, stream());
}

void pair_engine::counts(const detail::count_request& request, pair_counts& out) {
  const device_guard guard(ordinal_);
  const auto rows = static_cast<std::size_t>(count());
  out.kept = 0;
  out.histogram.assign(static_cast<std::size_t>(request.histogram_bins), 0);
  if (pairs() == 0) return out.degree.assign(rows, 0U);
  const pairwise_scope deciding = decide_pairwise(request.cuts, nullptr);
  if (screen_counts(request, out)) return;
  const detail::bin_request histogram{.key = detail::bin_key::value,
                                      .low = -1,
                                      .high = infinity,
                                      .scale = static_cast<double>(request.histogram_bins) / 2,
                                      .bins = request.histogram_bins,
                                      .weights = request.weights};
  const bool fused = request.histogram_bins > 0 && kernels::counts_bins(info_.cols);
  std::optional<class_counts> counted;
  if (request.weights.empty()) {  // class by class, every row counts once
    counted = count_by_classes("pairs", request.keep, fused ? &histogram : nullptr, &out.degree);
  }
  if (counted) {
    out.kept = counted->kept;
  } else if (!count_by_products(request, out)) {
    count_by_tiles(request, out);
  }
  if (request.histogram_bins == 0) return;
  const auto bins =
      counted && fused ? counted->bins : bin_pairs("histogram", request.keep, histogram);
  std::copy_n(bins.begin() + 1, out.histogram.size(), out.histogram.begin());
}

detail::bin_counts pair_engine::bin_statistics(const detail::bin_request& request) {
  const device_guard guard(ordinal_);
  detail::bin_counts out;
  out.bins.assign(static_cast<std::size_t>(request.bins), 0);
  if (pairs() == 0) return out;
  const pairwise_scope deciding = decide_pairwise(nullptr, request.tests);
  // Only keys from `low` on are binned: those that a cut at `low` keeps.
  const detail::keep_range from_low{
      .at_least = request.key == detail::bin_key::negated_value ? infinity : request.low,
      .at_most = request.key == detail::bin_key::value ? -infinity : -request.low};
  std::optional<class_counts> counted;
  if (request.weights.empty()) counted = count_by_classes("count", from_low, &request, nullptr);
  const auto bins =
      counted ? std::move(counted->bins) : bin_pairs("count", {-infinity, infinity}, request);
  out.below = bins.front() + (counted ? counted->dropped : 0);
  out.at_or_above = bins.back();
  std::copy_n(bins.begin() + 1, out.bins.size(), out.bins.begin());
  return out;
}

}  // namespace gpu::cuda
