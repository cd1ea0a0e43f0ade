// Counts of the CUDA pair engine over unit rows (Pearson) on Hopper: half-precision products decide
// nearly every pair, and the exact test the rest.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "cuda/pairs/engine.hpp"
#include "cuda/pairs/team/walk_items.hpp"
#include "kernels/pairs/unit_counts/kernels.hpp"

namespace gpu::cuda {
namespace {

// Undecided pairs that a launch may leave to the exact test, 8 bytes each: at least
// least_undecided, and one for each pairs_of_undecided pairs of the call. A block counts 13 million
// pairs in a launch, an H200 1.7e9: most_undecided has room for one in a hundred, which is more
// than a cut near 0 leaves of 96 columns.
constexpr std::uint64_t most_undecided = std::uint64_t{1} << 24;
constexpr std::uint64_t least_undecided = std::uint64_t{1} << 16;
constexpr std::uint64_t pairs_of_undecided = 64;
// Of the products: covers the roundings of the comparison in single precision.
constexpr double comparison_error = 2e-6;

template <class T>
T read_one(const device_buffer<T>& from, cudaStream_t stream) {
  T out{};
  GPU_SIMILARITY_CUDA_CHECK(
      cudaMemcpyAsync(&out, from.data(), sizeof out, cudaMemcpyDeviceToHost, stream));
  GPU_SIMILARITY_CUDA_CHECK(cudaStreamSynchronize(stream));
  return out;
}

// Largest error of a product. A row x is its rounded form plus a rest of length at most e, so that
// |x y - (its rounded form)| <= 2 e + e^2.
double product_error(const kernels::pair_operand& source, cudaStream_t stream) {
  const device_buffer<float> largest(1, stream);
  kernels::launch_unit_rounding(source, largest.data(), stream);
  const double rest = read_one(largest, stream);
  return 2 * rest + rest * rest + kernels::unit_sum_error(source.unit_pitch) + comparison_error;
}

// The rows of both sides, which are to be packed.
kernels::unit_count_rows rows_to_pack(const kernels::row_sides& sides, index_t elements) {
  constexpr index_t unit = kernels::neighbor_row_multiple;
  const auto rows = [&](index_t begin, index_t end) {
    return kernels::neighbor_rows{.depth = kernels::neighbor_depth(elements),
                                  .rows = end - begin,
                                  .padded_rows = (end - begin + unit - 1) / unit * unit,
                                  .tiles = nullptr,
                                  .first = begin};
  };
  return {.left = rows(sides.left_begin, sides.left_end),
          .right = rows(sides.right_begin, sides.right_end),
          .within = sides.within};
}

// Packs both sides into `tiles`, one behind the other.
void pack(const kernels::pair_operand& source, std::uint8_t* tiles, kernels::unit_count_rows& rows,
          cudaStream_t stream) {
  rows.left.tiles = tiles;
  rows.right.tiles = tiles + rows.left.padded_rows * rows.left.depth;
  kernels::launch_neighbor_pack(source, rows.left, stream);
  kernels::launch_neighbor_pack(source, rows.right, stream);
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
  kernels::unit_count work{.packed = rows_to_pack(sides_of(area_, {}).rows, source.unit_pitch),
                           .degree = nullptr,
                           .undecided = nullptr,
                           .capacity = least_undecided,
                           .found = nullptr};
  const auto padded = static_cast<std::size_t>(work.packed.padded_rows());
  const auto depth = static_cast<std::size_t>(work.packed.left.depth);
  const auto rows = static_cast<std::size_t>(count());
  const std::size_t needed = padded * depth + (padded + rows) * sizeof(std::uint32_t) +
                             least_undecided * sizeof(kernels::undecided_pair);
  if (!share_->agree(rows_->resident() && needed <= budget_.left())) return false;

  const std::uint64_t more = (budget_.left() - needed) / sizeof(kernels::undecided_pair);
  const std::uint64_t pairs = this->pairs();
  work.capacity = least_undecided + std::min({most_undecided, more, pairs / pairs_of_undecided});
  const device_buffer<std::uint8_t> tiles(padded * depth, stream());
  const auto packed_degree = zeroed<std::uint32_t>(padded, stream());
  const device_buffer<kernels::undecided_pair> undecided(work.capacity, stream());
  const auto found = zeroed<unsigned long long>(1, stream());
  pack(source, tiles.data(), work.packed, stream());
  work.degree = packed_degree.data();
  work.undecided = undecided.data();
  work.found = found.data();
  const kernels::cut_estimate cut = estimate_cut(request.keep, product_error(source, stream()));

  const index_t items = kernels::unit_count_items(work.packed);
  const double pairs_of_item = static_cast<double>(pairs) / static_cast<double>(items);
  const auto walk = walk_pairs("pairs", items);
  const bool complete = walk_items(*walk, items, [&](index_t first, index_t last) {
    for (index_t begin = first; begin < last; begin += multiprocessors_) {
      kernels::launch_unit_count(source, work, cut, begin,
                                 std::min<index_t>(begin + multiprocessors_, last),
                                 multiprocessors_, stream());
    }
    GPU_SIMILARITY_CUDA_CHECK(cudaStreamSynchronize(stream()));
    walk->advance(static_cast<std::uint64_t>(static_cast<double>(last - first) * pairs_of_item));
    return slice_outcome::done;
  });
  if (!complete) return false;

  out.kept = read_counts(work, out.degree, stream());
  return true;
}

}  // namespace gpu::cuda
