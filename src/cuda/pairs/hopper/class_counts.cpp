// Counts and bins of the CUDA pair engine on Hopper at cuts that keep many pairs: every pair is
// decided by the warpgroup tensor cores' exact sums.
#include <cstdint>

#include "cuda/pairs/engine.hpp"
#include "cuda/pairs/hopper/class_counting.hpp"
#include "cuda/pairs/hopper/classed_rows.hpp"
#include "cuda/pairs/team/walk_items.hpp"

namespace gpu::cuda {
namespace {

bool is_worth(const class_layout& layout, index_t rows, bool binned) {
  const auto padded = static_cast<double>(layout.padded_rows());
  const auto real = static_cast<double>(rows);
  return layout.padded_rows() <= always_padded_rows ||
         padded * padded <= most_class_growth(binned) * real * real;
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
    degrees->resize(rows);  // an engine that had nothing to do
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
  if (!share_->agree(is_worth(layout, sides.left + sides.right, request != nullptr) &&
                     needed <= budget_.left())) {
    return std::nullopt;
  }

  const classed_rows packed(classes, depth, stream());
  const auto packed_degree =
      zeroed<std::uint32_t>(static_cast<std::size_t>(layout.padded_rows()), stream());
  const auto bins = zeroed<unsigned long long>(places, stream());
  kernels::bin_sink_args binning{};
  if (request != nullptr) binning = binning_of(*request, bins.data());
  class_counts out;
  const auto walk = walk_pairs(stage, layout.items());
  const bool complete = walk_items(*walk, layout.items(), [&](index_t first, index_t last) {
    count_class_items(packed.rows(), info_.cols, keep, binning, first, last, packed_degree.data(),
                      multiprocessors_, stream());
    if (degrees != nullptr) degrees->resize(rows);  // while the device counts
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
