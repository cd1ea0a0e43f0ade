#include "cuda/pairs/programs/group_search.hpp"

#include <algorithm>
#include <limits>

#include "cuda/pairs/rows/area_walk.hpp"
#include "plan/pair_variants.hpp"

namespace gpu::cuda {
namespace {

using detail::index_range;
using kernels::pair_tile_kind;

// Entries of the lists of all slices of a row.
constexpr index_t most_slice_entries = 2048;
// Groups of a slice: at least so many where the slices of all rows fill the device.
constexpr index_t groups_of_slice = 48;
constexpr index_t least_groups_of_slice = 8;
constexpr index_t warps_of_multiprocessor = 16;

// Rows as they are packed, each side a whole number of `multiple` rows.
kernels::neighbor_rows rows_of(const call_shape& shape, index_range rows, index_t multiple) {
  const bool values = shape.format.tile == pair_tile_kind::tensor_float;
  const index_t elements =
      values ? kernels::unit_row_layout(shape.format.cols).pitch() : shape.format.cols;
  return {.depth = kernels::neighbor_depth(elements),
          .rows = rows.size(),
          .padded_rows = (rows.size() + multiple - 1) / multiple * multiple,
          .tiles = nullptr,
          .first = rows.begin};
}

std::size_t bytes_of(const kernels::neighbor_rows& packed) {
  return static_cast<std::size_t>(packed.padded_rows * packed.depth);
}

// Elements from one row of maxima to the next: rows are read in whole pieces of 16 bytes. What
// stands behind the last group is never written; choice_kernel masks it.
index_t maxima_pitch(const kernels::neighbor_rows& right) {
  return (kernels::neighbor_groups(right) + 7) / 8 * 8;
}

}  // namespace

partner_way choose_partner_way(const call_shape& shape, index_t k) {
  const pair_tile_kind tile = shape.format.tile;
  const bool packs = tile == pair_tile_kind::tensor_int8 || tile == pair_tile_kind::tensor_float;
  if (!packs || shape.format.cols > kernels::neighbor_most_columns ||
      k > kernels::neighbor_most_listed) {
    return partner_way::statistics;
  }
  return has_few_rows(shape.area) ? partner_way::few_rows : partner_way::groups;
}

kernels::neighbor_query query_of(const detail::keep_range& keep, index_t k, neighbor_order order) {
  const double high = keep.at_least;
  const double low = keep.at_most;
  kernels::neighbor_query query{.key = detail::bin_key::value,
                                .k = k,
                                .at_least = high,
                                .at_most = low,
                                .certain = high,
                                .floor = high};
  constexpr double none = -std::numeric_limits<double>::infinity();
  if (high <= low) query.certain = query.floor = none;  // every statistic is kept
  if (order == neighbor_order::by_value) {
    if (low >= -1.0) query.floor = none;
    return query;
  }
  if (high <= low || (high <= 1.0 && low >= -1.0)) {
    query.key = detail::bin_key::magnitude;
    if (high > low) query.certain = std::max(high, -low), query.floor = std::min(high, -low);
    return query;
  }
  // One side alone: a magnitude is a value of that side, as long as it begins at 0 or beyond.
  if (low < -1.0 && high >= 0) return query;
  if (high > 1.0 && low <= 0) {
    query.key = detail::bin_key::negated_value;
    query.certain = query.floor = -low;
    return query;
  }
  query.key = detail::bin_key::magnitude;
  query.certain = std::numeric_limits<double>::infinity();
  query.floor = none;
  return query;
}

group_search::group_search(const call_shape& shape)
    : left_(rows_of(shape, shape.area.rows, unit)),
      right_(rows_of(shape, shape.area.cols, unit)),
      one_table_(shape.area.rows == shape.area.cols),
      pitch_(maxima_pitch(right_)) {
  const bool by_warpgroups =
      shape.has_warpgroup_products && detail::allows_warpgroups(shape.what, shape.variant);
  warpgroups_ = by_warpgroups ? shape.multiprocessors : 0;
}

std::size_t group_search::packed_bytes() const {
  return bytes_of(right_) + (one_table_ ? 0 : bytes_of(left_));
}

void group_search::take(index_t block_units, arena& memory) {
  auto* const tiles = memory.take<std::uint8_t>(packed_bytes());
  maxima_ = memory.take<std::uint16_t>(block_units * unit * pitch_);
  if (tiles == nullptr) return;
  right_.tiles = tiles;
  left_.tiles = one_table_ ? tiles : tiles + bytes_of(right_);
}

void group_search::pack(const kernels::pair_operand& source, cudaStream_t stream) const {
  kernels::launch_neighbor_pack(source, right_, stream);
  if (!one_table_) kernels::launch_neighbor_pack(source, left_, stream);
}

void group_search::run(const kernels::pair_operand& source, const kernels::neighbor_query& query,
                       index_t first, index_t count, const kernels::neighbor_result& lists,
                       cudaStream_t stream) const {
  const kernels::neighbor_block block{.left = left_,
                                      .first = first * unit,
                                      .count = count * unit,
                                      .maxima = maxima_,
                                      .pitch = pitch_};
  if (warpgroups_ > 0) {
    kernels::launch_neighbor_maxima(right_, block, query.key, warpgroups_, stream);
  } else {
    kernels::launch_neighbor_maxima_mma(right_, block, query.key, stream);
  }
  kernels::launch_neighbor_choice(source, right_, block, query, lists, stream);
}

thin_search::thin_search(const call_shape& shape, index_t k, arena& memory)
    : left_(rows_of(shape, shape.area.rows, kernels::neighbor_group_rows)),
      right_(rows_of(shape, shape.area.cols, kernels::neighbor_group_rows)),
      pitch_(maxima_pitch(right_)),
      multiprocessors_(shape.multiprocessors) {
  const index_t rows = left_.rows;
  const index_t groups = kernels::neighbor_groups(right_);
  const index_t filling = warps_of_multiprocessor * multiprocessors_ / std::max<index_t>(rows, 1);
  const index_t wanted =
      std::max(groups / groups_of_slice, std::min(groups / least_groups_of_slice, filling));
  slices_ = static_cast<int>(std::clamp<index_t>(std::min(most_slice_entries / k, wanted), 1,
                                                 kernels::neighbor_most_slices));
  maxima_ = memory.take<std::uint16_t>(rows * pitch_);
  bounds_ = memory.take<float>(rows);
  of_slices_ = {.index = memory.take<std::uint32_t>(rows * slices_ * k),
                .statistic = memory.take<double>(rows * slices_ * k),
                .count = memory.take<std::uint32_t>(rows * slices_)};
}

void thin_search::run(const kernels::pair_operand& source, const kernels::neighbor_query& query,
                      const kernels::neighbor_result& lists, cudaStream_t stream) const {
  const kernels::neighbor_block block{
      .left = left_, .first = 0, .count = left_.rows, .maxima = maxima_, .pitch = pitch_};
  kernels::launch_thin_maxima(source, right_, block, query, bounds_, multiprocessors_, stream);
  kernels::launch_neighbor_choice(source, right_, block, query, of_slices_, stream,
                                  {.bounds = bounds_, .count = slices_});
  kernels::launch_merge_slices(of_slices_, slices_, left_.rows, query, lists, stream);
}

}  // namespace gpu::cuda
