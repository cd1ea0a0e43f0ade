// Counts and bins of the CUDA pair engine.
#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "cuda/pairs/engine.hpp"
#include "cuda/pairs/programs/class_counter.hpp"
#include "cuda/pairs/programs/unit_counter.hpp"
#include "cuda/pairs/rows/memory_sizes.hpp"
#include "kernels/pairs/on_device/kernels.hpp"
#include "kernels/pairs/sinks/kernels.hpp"
#include "stats/rank_squares.hpp"
#include "stats/significance/spearman_test.hpp"

namespace gpu::cuda {
namespace {

using kernels::pair_tile_kind;

constexpr double infinity = std::numeric_limits<double>::infinity();

std::vector<std::uint64_t> read_bins(const device_buffer<unsigned long long>& bins,
                                     cudaStream_t stream) {
  static_assert(sizeof(unsigned long long) == sizeof(std::uint64_t));
  std::vector<std::uint64_t> out(bins.size());
  read_back(reinterpret_cast<unsigned long long*>(out.data()), bins.data(), bins.size(), stream);
  return out;
}

// Brings what a counter counted into `degrees`, [rows of the input], and returns the kept pairs.
template <class Counter>
std::uint64_t read_counts(const Counter& counter, std::vector<std::uint32_t>& degrees,
                          cudaStream_t stream) {
  const auto degree = zeroed<std::uint32_t>(degrees.size(), stream);
  const auto ends = zeroed<unsigned long long>(1, stream);
  counter.finish({degree.data(), ends.data()}, stream);
  copy_elements(degrees.data(), degree.data(), degree.size(), stream);
  return read_back(ends.data(), stream) / 2;
}

}  // namespace

template <class Run>
void cuda_engine::count_items(std::string_view stage, index_t items,
                              std::vector<std::uint32_t>* degrees, const Run& run) {
  const auto make_room = [&] {
    if (degrees != nullptr) degrees->resize(static_cast<std::size_t>(count()));
  };
  const auto walk = walk_pairs(stage, items);
  // No counter gives up.
  walk_items(*walk, items, [&](index_t first, index_t last) {
    run(first, last);
    make_room();  // while the device counts
    GPU_SIMILARITY_CUDA_CHECK(cudaStreamSynchronize(stream()));
    walk->advance(static_cast<std::uint64_t>(static_cast<double>(last - first) *
                                             static_cast<double>(pairs()) /
                                             static_cast<double>(items)));
    return slice_outcome::done;
  });
  make_room();  // an engine that had nothing to do
}

device_buffer<std::uint32_t> cuda_engine::upload_weights(
    std::span<const std::uint32_t> weights) const {
  budget_.require(weights.size_bytes(), "weights of the rows");
  return upload(weights, stream());
}

std::vector<std::uint64_t> cuda_engine::bin_pairs(std::string_view stage,
                                                  const detail::pair_cut& keep,
                                                  const detail::bin_request& request) {
  const auto size = static_cast<std::size_t>(request.bins) + 2;
  budget_.require(size * sizeof(std::uint64_t), "bins");
  auto bins = zeroed<unsigned long long>(size, stream());
  const device_buffer<std::uint32_t> weights = upload_weights(request.weights);
  const auto step =
      binning_step(rows_->format(), keep, request, bins.data(), {.weights = weights.data()});
  walk_upper_pairs(stage, step.tile,
                   [&](const kernels::pair_panel& panel) { step.launch(panel, stream()); });
  return read_bins(bins, stream());
}

std::vector<std::uint64_t> cuda_engine::bin_rank_tests(const detail::bin_request& request) {
  const detail::p_bins bins{
      .low = request.low, .high = request.high, .scale = request.scale, .bins = request.bins};
  const stats::spearman_cut& within = *request.tied.ranks;
  const auto steps_of = [&](int of_class, bool is_used) {
    return is_used ? stats::steps_of(within, of_class, bins, cpu_threads_) : std::vector<double>();
  };
  const std::vector<double> untied = steps_of(0, have_untied_pairs_);
  const std::vector<double> tied = steps_of(1, have_tied_pairs_ || !have_untied_pairs_);
  const std::vector<std::int32_t> most = stats::most_steps(within, bins);
  std::vector<double> host(untied);
  host.insert(host.end(), tied.begin(), tied.end());
  const auto size = static_cast<std::size_t>(request.bins) + 2;
  budget_.require(size * sizeof(std::uint64_t) + host.size() * sizeof(double) +
                      most.size() * sizeof(std::int32_t),
                  "bins, and where they begin");
  const auto steps = upload(std::span(host), stream());
  const auto most_there = upload(std::span(most), stream());
  auto counted = zeroed<unsigned long long>(size, stream());
  auto step = binning_step(rows_->format(), detail::pair_cut::of({-infinity, infinity}), request,
                           counted.data(), {});
  // Where only one test is used, the steps of the other are read for no pair.
  step.sink.steps = {.untied = steps.data(),
                     .tied = steps.data() + (tied.empty() ? 0 : untied.size()),
                     .untied_squares = stats::untied_rank_squares(info_.cols),
                     .most = most_there.data(),
                     .tie_sums = static_cast<std::int64_t>(most.size())};
  step.sink.key = within.key();
  step.sink.low =
      std::min(untied.empty() ? infinity : untied.front(), tied.empty() ? infinity : tied.front());
  walk_upper_pairs("count", step.tile,
                   [&](const kernels::pair_panel& panel) { step.launch(panel, stream()); });
  return read_bins(counted, stream());
}

bool cuda_engine::count_by_estimates(const detail::keep_range& keep, pair_counts& out) {
  const auto capacity = static_cast<std::size_t>(
      std::clamp(pairs() / memory_sizes::pairs_per_undecided_estimate,
                 memory_sizes::least_undecided, memory_sizes::most_undecided));
  const std::size_t needed =
      capacity * sizeof(std::uint64_t) + static_cast<std::size_t>(count()) * sizeof(std::uint32_t);
  if (!share_->agree(estimates_by_halves(keep, 0) && needed <= budget_.left())) return false;
  const auto found = zeroed<unsigned long long>(1, stream());
  const device_buffer<std::uint64_t> keys(capacity, stream());
  count_by_tiles(pair_tile_kind::products_half, detail::pair_cut::of(keep),
                 {.undecided = {keys.data(), capacity, found.data()}}, out);
  return share_->agree(read_back(found.data(), stream()) <= capacity);
}

void cuda_engine::count_by_tiles(pair_tile_kind tile, const detail::pair_cut& keep,
                                 const count_terms& terms, pair_counts& out) {
  const auto rows = static_cast<std::size_t>(count());
  budget_.require(rows * sizeof(std::uint32_t), "degrees of the rows");
  const auto degree = zeroed<std::uint32_t>(rows, stream());
  const auto kept = zeroed<unsigned long long>(1, stream());
  const auto step = counting_step(rows_->format(), tile, keep, kept.data(), degree.data(), terms);
  walk_upper_pairs("pairs", step.tile,
                   [&](const kernels::pair_panel& panel) { step.launch(panel, stream()); });
  if (terms.undecided.keys != nullptr) {
    kernels::launch_count_undecided({.rows = rows_->all(),
                                     .keep = keep.widest,
                                     .from = terms.undecided,
                                     .kept = kept.data(),
                                     .degree = degree.data()},
                                    stream());
  }
  out.kept = read_back(kept.data(), stream());
  out.degree.resize(rows);
  read_back(out.degree.data(), degree.data(), rows, stream());
}

std::optional<cuda_engine::class_counts> cuda_engine::count_by_classes(
    std::string_view stage, const detail::keep_range& keep, const detail::bin_request* request,
    std::vector<std::uint32_t>* degrees) {
  const call_shape shape = this->shape();
  const bool binned = request != nullptr;
  if (!class_counter::takes(shape, binned) || !class_counter::takes(keep)) return std::nullopt;
  const auto rows = static_cast<std::size_t>(count());
  const auto places = static_cast<std::size_t>(binned ? request->bins + 2 : 0);
  const std::size_t results = rows * sizeof(std::uint32_t) + places * sizeof(std::uint64_t);
  const auto make_counter = [&](arena& memory) { return class_counter(shape, binned, memory); };
  const std::size_t counter_bytes = bytes_taken(make_counter);
  const std::size_t layout_bytes = counter_bytes + results;
  if (!share_->agree(rows_->resident() && layout_bytes <= budget_.left())) return std::nullopt;

  const device_buffer<std::byte> layout_memory(counter_bytes, stream());
  arena of_layout(layout_memory.data());
  class_counter counter = make_counter(of_layout);
  const kernels::pair_operand source = rows_->all();
  counter.lay_out(source, stream());
  const class_counter::extents layout = counter.read(stream());
  const auto take_places = [&](arena& memory) { counter.take_places(layout.places, memory); };
  const std::size_t place_bytes = bytes_taken(take_places);
  const std::size_t needed = layout_bytes + place_bytes;
  if (!share_->agree(layout.items > 0 && needed <= budget_.left())) return std::nullopt;

  const device_buffer<std::byte> packed_memory(place_bytes, stream());
  arena of_places(packed_memory.data());
  take_places(of_places);
  counter.pack(source, stream());
  const auto bins = zeroed<unsigned long long>(places, stream());
  kernels::bin_sink_args binning{};
  if (binned) binning = binning_of(*request, bins.data());
  class_counts out;
  count_items(stage, layout.items, degrees, [&](index_t first, index_t last) {
    counter.run(keep, binning, first, last, stream());
  });
  if (degrees != nullptr) out.kept = read_counts(counter, *degrees, stream());
  out.bins = read_bins(bins, stream());
  return out;
}

bool cuda_engine::count_by_products(const detail::count_request& request,
                                    const detail::keep_range& keep, pair_counts& out) {
  const call_shape shape = this->shape();
  if (!request.weights.empty() || !unit_counter::takes(shape)) return false;
  const auto rows = static_cast<std::size_t>(count());
  const std::size_t degrees = rows * sizeof(std::uint32_t);
  const std::size_t least = unit_counter::bytes(shape, unit_counter::least_memory);
  const bool fits = rows_->resident() && least + degrees <= budget_.left();
  if (!share_->agree(fits)) return false;

  const unit_memory use = unit_counter::fitting_memory(shape, budget_.left() - degrees);
  const device_buffer<std::byte> memory(unit_counter::bytes(shape, use), stream());
  arena pieces(memory.data());
  const unit_counter counter(shape, use, pieces);
  const kernels::pair_operand source = rows_->all();
  counter.pack(source, keep, stream());
  count_items("pairs", counter.items(), &out.degree, [&](index_t first, index_t last) {
    counter.run(source, keep, first, last, stream());
  });
  out.kept = read_counts(counter, out.degree, stream());
  return true;
}

void cuda_engine::counts(const detail::count_request& request, pair_counts& out) {
  const device_guard guard(ordinal_);
  const auto rows = static_cast<std::size_t>(count());
  out.kept = 0;
  out.histogram.assign(static_cast<std::size_t>(request.histogram_bins), 0);
  if (pairs() == 0) return out.degree.assign(rows, 0U);
  const decision_scope deciding = decide_pairs({.cuts = request.cuts, .tied = request.tied});
  const detail::pair_cut keep = cut_of(request.keep, request.tied);
  if (screen_counts(request, keep, out)) return;
  const detail::bin_request histogram = histogram_request(request.histogram_bins, request.weights);
  const bool fused = request.histogram_bins > 0 && class_counter::takes(shape(), true);
  std::optional<class_counts> counted;
  // Class by class, every row counts once, and one filter holds.
  if (request.weights.empty() && keep.is_one()) {
    counted = count_by_classes("pairs", keep.widest, fused ? &histogram : nullptr, &out.degree);
  }
  if (counted) {
    out.kept = counted->kept;
  } else if (!keep.is_one() || !(count_by_products(request, keep.widest, out) ||
                                 count_by_estimates(keep.widest, out))) {
    const device_buffer<std::uint32_t> weights = upload_weights(request.weights);
    count_by_tiles(rows_->format().deciding_tile(), keep, {.weights = weights.data()}, out);
  }
  if (request.histogram_bins == 0) return;
  const auto bins = counted && fused ? counted->bins : bin_pairs("histogram", keep, histogram);
  std::copy_n(bins.begin() + 1, out.histogram.size(), out.histogram.begin());
}

cuda_engine::bin_share cuda_engine::bin_own_share(const detail::bin_request& request) {
  const device_guard guard(ordinal_);
  bin_share out;
  out.counts.bins.assign(static_cast<std::size_t>(request.bins), 0);
  if (pairs() == 0) return out;
  const decision_scope deciding = decide_pairs({.tests = request.tests, .bins = &request});
  // Only keys from `low` on are binned: those that a cut at `low` keeps.
  const detail::keep_range from_low{
      .at_least = request.key == detail::bin_key::negated_value ? infinity : request.low,
      .at_most = request.key == detail::bin_key::value ? -infinity : -request.low};
  const bool by_rank_tests = request.tied.ranks != nullptr;
  std::optional<class_counts> counted;
  if (request.weights.empty() && !by_rank_tests) {
    counted = count_by_classes("count", from_low, &request, nullptr);
  }
  const auto bins = counted ? std::move(counted->bins)
                    : by_rank_tests
                        ? bin_rank_tests(request)
                        : bin_pairs("count", detail::pair_cut::of({-infinity, infinity}), request);
  out.counts.below = bins.front();
  out.counts.at_or_above = bins.back();
  std::copy_n(bins.begin() + 1, out.counts.bins.size(), out.counts.bins.begin());
  out.drops = counted.has_value();
  return out;
}

detail::bin_counts cuda_engine::complete(bin_share sum) const {
  detail::bin_counts& out = sum.counts;
  if (!sum.drops) return std::move(out);
  // Every pair that has a statistic is below the bins, in one of them or beyond.
  const area_sides sides = sides_of(area_, info_);
  const std::uint64_t tested =
      kernels::tested_pairs({.in_rows = static_cast<unsigned long long>(sides.left),
                             .behind = static_cast<unsigned long long>(sides.right),
                             .in_all = 0},
                            area_.is_against());
  out.below =
      std::accumulate(out.bins.begin(), out.bins.end(), tested - out.at_or_above, std::minus<>());
  return std::move(out);
}

detail::bin_counts cuda_engine::bin_statistics(const detail::bin_request& request) {
  return complete(bin_own_share(request));
}

}  // namespace gpu::cuda
