#include "cuda/pairs/rows/row_classes.hpp"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/round_up.hpp"
#include "cuda_runtime/cuda_check.hpp"
#include "kernels/pairs/pairwise/kernels.hpp"
#include "plan/pairwise_choice.hpp"

namespace gpu::cuda {
namespace {

constexpr index_t sampled_rows = 1024;
constexpr index_t class_piece = 64;  // columns: what a rank row is padded to

// The masks of rows [0, count), one behind the other.
std::vector<std::uint64_t> read_masks(const kernels::pair_operand& rows,
                                      kernels::pair_tile_kind tile, index_t count,
                                      cudaStream_t stream) {
  const auto words = static_cast<std::size_t>((rows.columns + 63) / 64);
  const index_t before = tile == kernels::pair_tile_kind::pairwise_values ? 2 * rows.columns : 0;
  const auto size = words * static_cast<std::size_t>(count);
  const device_buffer<std::uint64_t> together(size, stream);
  std::vector<std::uint64_t> out(size);
  GPU_SIMILARITY_CUDA_CHECK(cudaMemcpy2DAsync(
      together.data(), words * sizeof(std::uint64_t),
      static_cast<const std::uint64_t*>(rows.values) + before,
      static_cast<std::size_t>(rows.pitch) * sizeof(std::uint64_t), words * sizeof(std::uint64_t),
      static_cast<std::size_t>(count), cudaMemcpyDeviceToDevice, stream));
  GPU_SIMILARITY_CUDA_CHECK(cudaMemcpyAsync(out.data(), together.data(), together.bytes(),
                                            cudaMemcpyDeviceToHost, stream));
  GPU_SIMILARITY_CUDA_CHECK(cudaStreamSynchronize(stream));
  return out;
}

// Rows by their masks.
struct grouping {
  std::vector<std::uint16_t> of_row;
  std::vector<std::uint32_t> representatives;
};

// Nothing is in `representatives` where there are more than most_mask_classes masks.
grouping group(const std::vector<std::uint64_t>& masks, index_t count) {
  const std::size_t bytes = masks.size() * sizeof(std::uint64_t) / static_cast<std::size_t>(count);
  const auto* const data = reinterpret_cast<const char*>(masks.data());
  grouping out;
  out.of_row.reserve(static_cast<std::size_t>(count));
  std::unordered_map<std::string_view, std::uint16_t> known;
  for (index_t row = 0; row < count; ++row) {
    const std::string_view mask(data + static_cast<std::size_t>(row) * bytes, bytes);
    const auto [at, is_new] = known.try_emplace(mask, static_cast<std::uint16_t>(known.size()));
    if (is_new) {
      if (known.size() > kernels::most_mask_classes) return {};
      out.representatives.push_back(static_cast<std::uint32_t>(row));
    }
    out.of_row.push_back(at->second);
  }
  return out;
}

bool pays(const grouping& found, index_t rows) {
  return !found.representatives.empty() &&
         detail::takes_mask_classes(rows, static_cast<index_t>(found.representatives.size()));
}

template <class T>
device_buffer<T> upload(const std::vector<T>& from, cudaStream_t stream) {
  device_buffer<T> out(from.size(), stream);
  GPU_SIMILARITY_CUDA_CHECK(
      cudaMemcpyAsync(out.data(), from.data(), out.bytes(), cudaMemcpyHostToDevice, stream));
  return out;
}

// Rows by class, ascending within each, and where the classes begin.
struct class_order {
  std::vector<std::uint32_t> rows;
  std::vector<std::uint32_t> begins;

  explicit class_order(const grouping& found)
      : rows(found.of_row.size()), begins(found.representatives.size() + 1) {
    for (const std::uint16_t own : found.of_row) ++begins[own + std::size_t{1}];
    for (std::size_t c = 1; c < begins.size(); ++c) begins[c] += begins[c - 1];
    std::vector<std::uint32_t> next(begins.begin(), begins.end() - 1);
    for (std::size_t row = 0; row < found.of_row.size(); ++row) {
      rows[next[found.of_row[row]]++] = static_cast<std::uint32_t>(row);
    }
  }
};

}  // namespace

row_classes::row_classes(const kernels::pair_operand& rows, kernels::pair_tile_kind tile,
                         pair_budget& budget, cudaStream_t stream) {
  const bool ranks = tile == kernels::pair_tile_kind::pairwise_ranks;
  const int limbs = kernels::class_rank_limbs(rows.columns);
  if (rows.count == 0 || (ranks && limbs == 0)) return;
  // A look at some rows first: where holes are scattered, they all differ.
  const index_t sampled = std::min(rows.count, sampled_rows);
  if (!pays(group(read_masks(rows, tile, sampled, stream), sampled), rows.count)) return;
  const grouping found = group(read_masks(rows, tile, rows.count, stream), rows.count);
  if (!pays(found, rows.count)) return;

  const auto count = found.representatives.size();
  const auto entries = static_cast<std::size_t>(rows.count) * count;
  const index_t pitch = round_up(rows.columns, class_piece);
  const std::size_t of_entry =
      ranks ? static_cast<std::size_t>(limbs * pitch) + sizeof(std::int64_t) : sizeof(double2);
  const std::size_t bytes =
      entries * of_entry +
      static_cast<std::size_t>(rows.count) * (sizeof(std::uint16_t) + sizeof(std::uint32_t)) +
      kernels::mask_class_work(static_cast<int>(count)) * 2 * sizeof(std::uint32_t);
  if (bytes > budget.left() / 4) return;
  budget.take(bytes, "rows by the columns that they have");

  of_row_ = upload(found.of_row, stream);
  shared_ = {count * count, stream};
  const device_buffer<std::uint32_t> representatives = upload(found.representatives, stream);
  tables_ = {.count = static_cast<int>(count), .of_row = of_row_.data(), .shared = shared_.data()};
  if (ranks) {
    const class_order by_class(found);
    order_ = upload(by_class.rows, stream);
    begins_ = upload(by_class.begins, stream);
    work_ = {kernels::mask_class_work(static_cast<int>(count)), stream};
    squares_ = {entries, stream};
    ranks_ = {entries * static_cast<std::size_t>(limbs * pitch), stream};
    tables_.order = order_.data();
    tables_.begins = begins_.data();
    tables_.work = work_.data();
    tables_.squares = squares_.data();
    tables_.ranks = ranks_.data();
    tables_.limbs = limbs;
    tables_.pitch = pitch;
    kernels::launch_class_rank_rows(rows, representatives.data(), tables_, stream);
  } else {
    sums_ = {entries, stream};
    tables_.sums = sums_.data();
    kernels::launch_class_sums(rows, representatives.data(), tables_, stream);
  }
  // What was uploaded lies in vectors of this function.
  GPU_SIMILARITY_CUDA_CHECK(cudaStreamSynchronize(stream));
}

}  // namespace gpu::cuda
