// Counts of the CUDA pair engine over unit rows (Pearson) on Hopper: half-precision products decide
// nearly every pair, and the exact test the rest.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "cuda/pairs/engine.hpp"
#include "cuda/pairs/hopper/unit_packing.hpp"
#include "cuda/pairs/team/walk_items.hpp"
#include "kernels/pairs/unit_counts/kernels.hpp"

namespace gpu::cuda {
namespace {

template <class T>
T read_one(const device_buffer<T>& from, cudaStream_t stream) {
  T out{};
  GPU_SIMILARITY_CUDA_CHECK(
      cudaMemcpyAsync(&out, from.data(), sizeof out, cudaMemcpyDeviceToHost, stream));
  GPU_SIMILARITY_CUDA_CHECK(cudaStreamSynchronize(stream));
  return out;
}

// Rows in single precision are made only where many pairs are undecided and there is memory.
bool takes_unit_floats(index_t elements, std::size_t bytes, std::size_t left) {
  return !kernels::unit_rows_are_corrected(elements) && bytes <= left / 2;
}

// Degrees by rows of the input, and the kept pairs.
std::uint64_t read_counts(const kernels::unit_count& work, std::vector<std::uint32_t>& degrees,
                          cudaStream_t stream) {
  const auto degree = zeroed<std::uint32_t>(degrees.size(), stream);
  const auto ends = zeroed<unsigned long long>(1, stream);
  kernels::launch_unit_degrees(work, degree.data(), ends.data(), stream);
  GPU_SIMILARITY_CUDA_CHECK(cudaMemcpyAsync(degrees.data(), degree.data(), degree.bytes(),
                                            cudaMemcpyDeviceToHost, stream));
  return read_one(ends, stream) / 2;
}

}  // namespace

bool pair_engine::count_by_products(const detail::count_request& request, pair_counts& out) {
  const kernels::pair_operand source = rows_->all();
  if (!has_warpgroup_products_ || !request.weights.empty() ||
      rows_->format().tile != kernels::pair_tile_kind::tensor_float ||
      source.unit_pitch > kernels::unit_count_most_elements || is_thin(area_)) {
    return false;
  }
  kernels::unit_count work{.packed = unit_rows_of(area_, source.unit_pitch),
                           .cut = nullptr,
                           .symmetric = estimate_cut(request.keep, 0).middle == 0,
                           .degree = nullptr,
                           .undecided = nullptr,
                           .capacity = least_undecided,
                           .found = nullptr,
                           .floats = nullptr};
  const auto padded = static_cast<std::size_t>(work.packed.padded_rows());
  const std::size_t tile_bytes = unit_tile_bytes(work.packed);
  const auto rows = static_cast<std::size_t>(count());
  const std::size_t needed = tile_bytes + (padded + rows) * sizeof(std::uint32_t) +
                             least_undecided * sizeof(kernels::undecided_pairs);
  if (!share_->agree(rows_->resident() && needed <= budget_.left())) return false;

  const std::size_t left = budget_.left() - needed;
  const auto float_pitch = static_cast<std::size_t>(kernels::unit_float_pitch(source.unit_pitch));
  const std::size_t float_bytes = rows * float_pitch * sizeof(float);
  const bool takes_floats = takes_unit_floats(source.unit_pitch, float_bytes, left);
  const std::uint64_t more =
      (takes_floats ? left - float_bytes : left) / sizeof(kernels::undecided_pairs);
  const std::uint64_t pairs = this->pairs();
  work.capacity = std::min(undecided_wanted(pairs), least_undecided + more);
  const device_buffer<std::uint8_t> tiles(tile_bytes, stream());
  const device_buffer<kernels::unit_cut> cut(1, stream());
  const auto packed_degree = zeroed<std::uint32_t>(padded, stream());
  const device_buffer<kernels::undecided_pairs> undecided(work.capacity, stream());
  const device_buffer<float> floats(takes_floats ? rows * float_pitch : 0, stream());
  const auto found = zeroed<unsigned long long>(1, stream());
  pack_unit_rows(source, tiles.data(), work.packed, stream());
  if (takes_floats) kernels::launch_unit_floats(source, floats.data(), stream());
  kernels::launch_unit_cut(source, request.keep, cut.data(), stream());
  work.cut = cut.data();
  work.degree = packed_degree.data();
  work.undecided = undecided.data();
  work.found = found.data();
  work.floats = floats.data();

  const index_t items = kernels::unit_count_items(work.packed);
  const double pairs_of_item = static_cast<double>(pairs) / static_cast<double>(items);
  const auto walk = walk_pairs("pairs", items);
  const bool complete = walk_items(*walk, items, [&](index_t first, index_t last) {
    count_unit_items(source, work, first, last, multiprocessors_, stream());
    out.degree.resize(rows);  // while the device counts
    GPU_SIMILARITY_CUDA_CHECK(cudaStreamSynchronize(stream()));
    walk->advance(static_cast<std::uint64_t>(static_cast<double>(last - first) * pairs_of_item));
    return slice_outcome::done;
  });
  if (!complete) return false;

  out.degree.resize(rows);  // an engine that had nothing to do
  out.kept = read_counts(work, out.degree, stream());
  return true;
}

}  // namespace gpu::cuda
