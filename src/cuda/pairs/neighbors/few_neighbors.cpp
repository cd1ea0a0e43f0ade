// Top-k of few rows against many columns: nothing is packed, the columns are read once as they are
// prepared, and many warps share the groups of a row.
#include <algorithm>

#include "cuda/pairs/engine.hpp"
#include "cuda/pairs/neighbor_query.hpp"
#include "cuda/pairs/neighbors/neighbors.hpp"
#include "kernels/pairs/neighbors/kernels.hpp"

namespace gpu::cuda {
namespace {

// From so many rows on the tensor cores are faster, packing included.
constexpr index_t most_few_rows = 128;
constexpr index_t least_few_ratio = 16;
// Entries of the lists of all slices of a row.
constexpr index_t most_slice_entries = 2048;
constexpr index_t groups_of_slice = 256;  // at least, and at most 32 slices of fewer

}  // namespace

bool has_few_rows(const detail::pair_area& area) {
  return !area.is_whole_table() && area.rows.size() <= most_few_rows &&
         area.cols.size() >= least_few_ratio * area.rows.size();
}

bool pair_engine::top_k_of_few_rows(const detail::top_k_request& request, neighbor_table& out) {
  const index_t k = request.k;
  const index_t rows = area_.rows.size();
  const index_t groups =
      (area_.cols.size() + kernels::neighbor_group_rows - 1) / kernels::neighbor_group_rows;
  const index_t pitch = maxima_pitch(groups);
  const auto slices = static_cast<int>(
      std::clamp<index_t>(std::min(most_slice_entries / k, groups / groups_of_slice), 1,
                          kernels::neighbor_most_slices));
  const std::size_t needed = static_cast<std::size_t>(rows * pitch) * sizeof(std::uint16_t) +
                             list_table::bytes(rows, k) + list_table::bytes(rows * slices, k) +
                             static_cast<std::size_t>(rows) * sizeof(float);
  if (!share_->agree(rows_->resident() && needed <= budget_.left())) return false;
  const auto walk = walk_pairs("pairs", 1);
  if (!walk->take([](index_t) { return index_t{1}; }).empty()) {
    const kernels::pair_operand source = rows_->all();
    const kernels::neighbor_rows right{.depth = kernels::neighbor_depth(info_.cols),
                                       .rows = area_.cols.size(),
                                       .padded_rows = groups * kernels::neighbor_group_rows,
                                       .tiles = nullptr,
                                       .first = area_.cols.begin};
    kernels::neighbor_rows left = right;
    left.rows = rows;
    left.first = area_.rows.begin;
    const device_buffer<std::uint16_t> maxima(static_cast<std::size_t>(rows * pitch), stream());
    const device_buffer<float> bounds(static_cast<std::size_t>(rows), stream());
    const list_table of_slices(rows * slices, k, stream());
    list_table table(rows, k, stream());
    table.rows = {0, rows};
    const kernels::neighbor_block block{
        .left = left, .first = 0, .count = rows, .maxima = maxima.data(), .pitch = pitch};
    const kernels::neighbor_query query = make_query(request);
    kernels::launch_thin_maxima(source, right, block, query, bounds.data(), multiprocessors_,
                                stream());
    kernels::launch_neighbor_choice(source, right, block, query, of_slices.result(), stream(),
                                    {.bounds = bounds.data(), .count = slices});
    kernels::launch_merge_slices(of_slices.result(), slices, rows, query, table.result(), stream());
    GPU_SIMILARITY_CUDA_CHECK(cudaEventRecord(table.ready.get(), stream()));
    table.deliver(k, stream(), out);
    walk->advance(pairs());
  }
  walk->finish();
  return true;
}

}  // namespace gpu::cuda
