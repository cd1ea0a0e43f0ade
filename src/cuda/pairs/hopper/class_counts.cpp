// Counts and bins of the CUDA pair engine on Hopper at cuts that keep many pairs: every pair is
// decided by the warpgroup tensor cores' exact sums.
#include <algorithm>
#include <cstdint>
#include <limits>

#include "cuda/pairs/engine.hpp"
#include "cuda/pairs/hopper/classed_rows.hpp"
#include "cuda/pairs/team/walk_items.hpp"

namespace gpu::cuda {
namespace {

// Padding classes to whole blocks multiplies the pairs; the tensor tiles decide them at a
// fifth of this rate, and bin them at a thirtieth. Where few rows are padded it does not matter.
constexpr double most_growth_counting = 4;
constexpr double most_growth_binning = 16;
constexpr index_t always_padded_rows = 32768;

// Work items of a thread block in one launch with bins: its count of one sum has 32 bits, and rows
// that are all alike have one sum.
constexpr std::int64_t most_item_pairs = std::int64_t{kernels::count_panel_blocks} *
                                         kernels::count_chunk_blocks * kernels::count_block_rows *
                                         kernels::count_block_rows;
constexpr index_t most_binned_items = std::numeric_limits<std::uint32_t>::max() / most_item_pairs;
static_assert(most_binned_items > 0);

// Kernels drop the rows of padding because their sums of 0 are dropped.
bool drops_zero(const detail::keep_range& keep) {
  return keep.at_least > 0 && keep.at_most < 0;
}

bool is_worth(const class_layout& layout, index_t rows, double most_growth) {
  const auto padded = static_cast<double>(layout.padded_rows());
  const auto real = static_cast<double>(rows);
  return layout.padded_rows() <= always_padded_rows || padded * padded <= most_growth * real * real;
}

// How sums are binned into `bins`; not at all without a request.
kernels::bin_sink_args binning_of(const detail::bin_request* request, unsigned long long* bins) {
  kernels::bin_sink_args binning{};
  if (request == nullptr) return binning;
  binning.key = request->key;
  binning.low = request->low;
  binning.high = request->high;
  binning.scale = request->scale;
  binning.count = request->bins;
  binning.bins = bins;
  return binning;
}

// Adds up the degrees of packed rows: both ends of every kept pair. Fills `degrees`, by rows of the
// input, where it is asked for.
std::uint64_t read_degrees(const kernels::class_rows& packed, const std::uint32_t* packed_degree,
                           std::size_t rows, std::vector<std::uint32_t>* degrees,
                           cudaStream_t stream) {
  const auto degree = zeroed<std::uint32_t>(rows, stream);
  const auto ends = zeroed<unsigned long long>(1, stream);
  kernels::launch_class_degrees(packed, packed_degree, degree.data(), ends.data(), stream);
  if (degrees != nullptr) {
    GPU_SIMILARITY_CUDA_CHECK(cudaMemcpyAsync(degrees->data(), degree.data(), degree.bytes(),
                                              cudaMemcpyDeviceToHost, stream));
  }
  unsigned long long both_ends = 0;
  read_back(&both_ends, ends, stream);
  return both_ends;
}

}  // namespace

std::optional<pair_engine::class_counts> pair_engine::count_by_classes(
    std::string_view stage, const detail::keep_range& keep, const detail::bin_request* request,
    std::vector<std::uint32_t>* degrees) {
  if (variant_ != pair_variant::hopper || !drops_zero(keep) || is_thin(area_) ||
      rows_->format().tile != kernels::pair_tile_kind::tensor_int8) {
    return std::nullopt;
  }
  if (request != nullptr && !kernels::counts_bins(info_.cols)) return std::nullopt;
  if (!share_->agree(rows_->resident() &&
                     ordered_classes::bytes(count(), info_.cols) <= budget_.left())) {
    return std::nullopt;
  }
  const area_sides sides = sides_of(area_, info_);
  const ordered_classes classes(*rows_, sides, stream());
  const class_layout& layout = classes.layout();
  const int depth = kernels::count_depth(info_.cols);
  const auto rows = static_cast<std::size_t>(count());
  const auto places = static_cast<std::size_t>(request == nullptr ? 0 : request->bins + 2);
  const std::size_t needed =
      ordered_classes::bytes(count(), info_.cols) + classed_rows::bytes(layout, depth) +
      (rows + static_cast<std::size_t>(layout.padded_rows())) * sizeof(std::uint32_t) +
      places * sizeof(std::uint64_t);
  const double most_growth = request == nullptr ? most_growth_counting : most_growth_binning;
  if (!share_->agree(is_worth(layout, sides.left + sides.right, most_growth) &&
                     needed <= budget_.left())) {
    return std::nullopt;
  }

  const classed_rows packed(classes, depth, stream());
  const auto packed_degree =
      zeroed<std::uint32_t>(static_cast<std::size_t>(layout.padded_rows()), stream());
  const auto bins = zeroed<unsigned long long>(places, stream());
  const kernels::bin_sink_args binning = binning_of(request, bins.data());
  class_counts out;
  const auto walk = walk_pairs(stage, layout.items());
  const bool complete = walk_items(*walk, layout.items(), [&](index_t first, index_t last) {
    const index_t step = request == nullptr ? last - first : most_binned_items * multiprocessors_;
    for (index_t begin = first; begin < last; begin += step) {
      kernels::launch_class_count(packed.rows(), info_.cols, keep.at_least, keep.at_most, binning,
                                  begin, std::min(begin + step, last), packed_degree.data(),
                                  multiprocessors_, stream());
    }
    const std::uint64_t pairs = layout.pairs(first, last);
    GPU_SIMILARITY_CUDA_CHECK(cudaStreamSynchronize(stream()));
    out.dropped += pairs;
    walk->advance(pairs);
    return slice_outcome::done;
  });
  if (!complete) return std::nullopt;

  out.kept = read_degrees(packed.rows(), packed_degree.data(), rows, degrees, stream()) / 2;
  out.bins.resize(places);
  GPU_SIMILARITY_CUDA_CHECK(cudaMemcpyAsync(out.bins.data(), bins.data(), bins.bytes(),
                                            cudaMemcpyDeviceToHost, stream()));
  GPU_SIMILARITY_CUDA_CHECK(cudaStreamSynchronize(stream()));
  out.dropped -= out.kept;
  return out;
}

}  // namespace gpu::cuda
