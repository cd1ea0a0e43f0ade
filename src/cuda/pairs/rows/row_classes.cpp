#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/round_up.hpp"
#include "cuda/pairs/rows/device_rows.hpp"
#include "cuda_runtime/arena.hpp"
#include "cuda_runtime/copies.hpp"
#include "cuda_runtime/cuda_check.hpp"
#include "cuda_runtime/device_code.hpp"
#include "cuda_runtime/device_limits.hpp"
#include "kernels/pairs/pairwise/class_lists.hpp"
#include "kernels/pairs/pairwise/kernels.hpp"
#include "plan/pair_policy.hpp"
#include "plan/products/product_choice.hpp"

namespace gpu::cuda {
namespace {

constexpr index_t class_piece = 64;  // columns: what a rank row is padded to
constexpr index_t value_piece = 16;  // and a row of values: a step of their products

kernels::mask_rows masks_of(const kernels::pair_operand& rows, kernels::pair_tile_kind tile) {
  const bool of_values = tile == kernels::pair_tile_kind::pairwise_values;
  const index_t before = of_values ? kernels::pairwise_value_layout{rows.columns}.mask() : 0;
  return {.first = static_cast<const std::uint64_t*>(rows.values) + before,
          .pitch = rows.pitch,
          .words = kernels::mask_words(rows.columns),
          .count = rows.count};
}

// Whether this device and the code that it runs have fast products of doubles.
bool multiplies_doubles() {
  const device_limits& device = current_limits();
  return detail::has_double_products(device.compute_major * 10 + device.compute_minor,
                                     current_code().capability);
}

// The classes of the places that are taken, by their first rows.
struct class_numbers {
  std::vector<std::uint16_t> of_place;
  std::vector<std::uint32_t> first_rows;

  explicit class_numbers(const kernels::class_table& table)
      : of_place(kernels::class_table::places) {
    for (const unsigned first : table.first) {
      if (first != no_row) first_rows.push_back(first);
    }
    std::sort(first_rows.begin(), first_rows.end());
    for (std::size_t place = 0; place < of_place.size(); ++place) {
      const auto found = std::lower_bound(first_rows.begin(), first_rows.end(), table.first[place]);
      of_place[place] = static_cast<std::uint16_t>(found - first_rows.begin());
    }
  }

  static constexpr unsigned no_row = ~0U;
};

}  // namespace

row_classes::row_classes(const kernels::pair_operand& rows, kernels::pair_tile_kind tile,
                         pair_budget& budget, cudaStream_t stream) {
  const bool ranks = tile == kernels::pair_tile_kind::pairwise_ranks;
  const int limbs = kernels::class_rank_limbs(rows.columns);
  if (rows.count == 0 || (ranks && limbs == 0)) return;
  const kernels::mask_rows masks = masks_of(rows, tile);
  const auto row_count = static_cast<std::size_t>(rows.count);
  const device_buffer<kernels::class_table> table(1, stream);
  const device_buffer<std::uint16_t> places_of_rows(row_count, stream);
  GPU_SIMILARITY_CUDA_CHECK(cudaMemsetAsync(table.data(), 0, table.bytes(), stream));
  GPU_SIMILARITY_CUDA_CHECK(
      cudaMemsetAsync(&table.data()->first, 0xff, sizeof(kernels::class_table::first), stream));
  const kernels::class_places found{table.data(), places_of_rows.data(), nullptr};
  kernels::launch_place_rows(masks, found, stream);
  const kernels::class_table met = read_back(table.data(), stream);
  const index_t least_rows = kernels::policy::least_rows_of_mask_class * index_t{met.taken};
  if (met.taken > kernels::most_mask_classes || rows.count < least_rows) return;

  const class_numbers numbers(met);
  const std::size_t count = numbers.first_rows.size();
  const std::size_t entries = row_count * count;
  kernels::row_lists lists{};
  const auto take = [&](arena& memory) {
    lists.of_row = memory.take<std::uint16_t>(row_count);
    lists.order = memory.take<std::uint32_t>(row_count);
    lists.begins = memory.take<std::uint32_t>(count + 1);
    lists.places = memory.take<std::uint32_t>(row_count);
    lists.sizes = memory.take<std::uint32_t>(count);
    lists.differs = memory.take<unsigned>(1);
    tables_ = {.count = static_cast<int>(count),
               .of_row = lists.of_row,
               .shared = memory.take<std::uint32_t>(count * count),
               .order = lists.order,
               .begins = lists.begins,
               .places = lists.places};
    if (ranks) {
      tables_.limbs = limbs;
      tables_.pitch = round_up(rows.columns, class_piece);
      tables_.squares = memory.take<std::int64_t>(entries);
      tables_.roots = memory.take<float>(entries);
      tables_.ranks = memory.take<std::int8_t>(
          entries * static_cast<std::size_t>(tables_.limbs * tables_.pitch));
    } else {
      tables_.on_tensor_cores = multiplies_doubles();
      tables_.value_pitch = round_up(rows.columns, value_piece);
      tables_.sums = memory.take<double2>(entries);
      tables_.variances = memory.take<double>(entries);
      tables_.values =
          memory.take<double>(row_count * static_cast<std::size_t>(tables_.value_pitch));
    }
    return memory.bytes();
  };
  const std::size_t bytes = bytes_taken(take);
  if (bytes > budget.left() / 4) {
    tables_ = {};
    return;
  }
  budget.take(bytes, "rows by the columns that they have");
  memory_ = {bytes, stream};
  arena pieces(memory_.data());
  take(pieces);

  const device_buffer<std::uint16_t> numbers_of_places =
      upload(std::span(numbers.of_place), stream);
  const device_buffer<std::uint32_t> representatives =
      upload(std::span(numbers.first_rows), stream);
  lists.first = representatives.data();
  GPU_SIMILARITY_CUDA_CHECK(cudaMemsetAsync(lists.sizes, 0, count * sizeof *lists.sizes, stream));
  GPU_SIMILARITY_CUDA_CHECK(cudaMemsetAsync(lists.differs, 0, sizeof *lists.differs, stream));
  kernels::launch_list_rows(masks, {table.data(), places_of_rows.data(), numbers_of_places.data()},
                            static_cast<int>(count), lists, stream);
  if (read_back(lists.differs, stream) != 0) {
    tables_ = {};
  } else if (ranks) {
    kernels::launch_class_rank_rows(rows, representatives.data(), tables_, stream);
  } else {
    kernels::launch_class_sums(rows, representatives.data(), tables_, stream);
  }
}

}  // namespace gpu::cuda
