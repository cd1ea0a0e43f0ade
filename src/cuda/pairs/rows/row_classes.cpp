#include "cuda/pairs/rows/row_classes.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/round_up.hpp"
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

template <class T>
device_buffer<T> upload(const std::vector<T>& from, cudaStream_t stream) {
  device_buffer<T> out(from.size(), stream);
  GPU_SIMILARITY_CUDA_CHECK(
      cudaMemcpyAsync(out.data(), from.data(), out.bytes(), cudaMemcpyHostToDevice, stream));
  return out;
}

template <class T>
T download(const device_buffer<T>& from, cudaStream_t stream) {
  T out{};
  GPU_SIMILARITY_CUDA_CHECK(
      cudaMemcpyAsync(&out, from.data(), sizeof out, cudaMemcpyDeviceToHost, stream));
  GPU_SIMILARITY_CUDA_CHECK(cudaStreamSynchronize(stream));
  return out;
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
  const kernels::class_table met = download(table, stream);
  const index_t least_rows = kernels::policy::least_rows_of_mask_class * index_t{met.taken};
  if (met.taken > kernels::most_mask_classes || rows.count < least_rows) return;

  const class_numbers numbers(met);
  const std::size_t count = numbers.first_rows.size();
  const auto entries = row_count * count;
  const index_t pitch = round_up(rows.columns, class_piece);
  const std::size_t of_entry =
      ranks ? static_cast<std::size_t>(limbs * pitch) + sizeof(std::int64_t) + sizeof(float)
            : sizeof(double2) + sizeof(double);
  const index_t value_pitch = round_up(rows.columns, value_piece);
  const auto values = ranks ? 0 : row_count * static_cast<std::size_t>(value_pitch);
  const std::size_t bytes = entries * of_entry + values * sizeof(double) +
                            row_count * 2 * (sizeof(std::uint16_t) + sizeof(std::uint32_t)) +
                            (count + 1) * (count + 1) * 2 * sizeof(std::uint32_t);
  if (bytes > budget.left() / 4) return;
  budget.take(bytes, "rows by the columns that they have");

  of_row_ = {row_count, stream};
  order_ = {row_count, stream};
  begins_ = {count + 1, stream};
  places_ = {row_count, stream};
  const device_buffer<std::uint16_t> numbers_of_places = upload(numbers.of_place, stream);
  const device_buffer<std::uint32_t> representatives = upload(numbers.first_rows, stream);
  const device_buffer<std::uint32_t> sizes(count, stream);
  const device_buffer<unsigned> differs(1, stream);
  GPU_SIMILARITY_CUDA_CHECK(cudaMemsetAsync(sizes.data(), 0, sizes.bytes(), stream));
  GPU_SIMILARITY_CUDA_CHECK(cudaMemsetAsync(differs.data(), 0, differs.bytes(), stream));
  kernels::launch_list_rows(masks, {table.data(), places_of_rows.data(), numbers_of_places.data()},
                            static_cast<int>(count),
                            {.first = representatives.data(),
                             .of_row = of_row_.data(),
                             .order = order_.data(),
                             .begins = begins_.data(),
                             .sizes = sizes.data(),
                             .places = places_.data(),
                             .differs = differs.data()},
                            stream);
  if (download(differs, stream) != 0) return;

  shared_ = {count * count, stream};
  tables_ = {.count = static_cast<int>(count),
             .of_row = of_row_.data(),
             .shared = shared_.data(),
             .order = order_.data(),
             .begins = begins_.data(),
             .places = places_.data()};
  if (ranks) {
    squares_ = {entries, stream};
    roots_ = {entries, stream};
    ranks_ = {entries * static_cast<std::size_t>(limbs * pitch), stream};
    tables_.squares = squares_.data();
    tables_.roots = roots_.data();
    tables_.ranks = ranks_.data();
    tables_.limbs = limbs;
    tables_.pitch = pitch;
    kernels::launch_class_rank_rows(rows, representatives.data(), tables_, stream);
  } else {
    sums_ = {entries, stream};
    variances_ = {entries, stream};
    values_ = {values, stream};
    tables_.sums = sums_.data();
    tables_.variances = variances_.data();
    tables_.values = values_.data();
    tables_.value_pitch = value_pitch;
    tables_.on_tensor_cores = multiplies_doubles();
    kernels::launch_class_sums(rows, representatives.data(), tables_, stream);
  }
}

}  // namespace gpu::cuda
