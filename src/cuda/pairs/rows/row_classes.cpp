#include "cuda/pairs/rows/row_classes.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/round_up.hpp"
#include "cuda_runtime/cuda_check.hpp"
#include "cuda_runtime/device_code.hpp"
#include "cuda_runtime/device_limits.hpp"
#include "kernels/pairs/pairwise/kernels.hpp"
#include "plan/pair_policy.hpp"
#include "plan/products/product_choice.hpp"

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
  kernels::pair_operand some = rows;
  some.count = count;
  kernels::launch_gather_words(some, before, static_cast<index_t>(words), together.data(), stream);
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

// The masks that are known, by a hash of them: places are four times as many as masks.
class known_masks {
 public:
  explicit known_masks(const std::vector<std::uint64_t>& masks, index_t rows)
      : masks_(masks.data()), words_(masks.size() / static_cast<std::size_t>(rows)) {
    places_.fill(none);
  }

  // The class of a row; a new one where its mask is new. One more than most_mask_classes at most.
  [[nodiscard]] std::uint16_t class_of(std::uint32_t row, std::vector<std::uint32_t>& known) {
    std::size_t place = hash(row) % places_.size();
    while (places_[place] != none) {
      const std::uint16_t found = places_[place];
      if (std::equal(of(row), of(row) + words_, of(known[found]))) return found;
      place = (place + 1) % places_.size();
    }
    const auto next = static_cast<std::uint16_t>(known.size());
    places_[place] = next;
    known.push_back(row);
    return next;
  }

 private:
  static constexpr std::uint16_t none = 0xffff;

  [[nodiscard]] const std::uint64_t* of(std::uint32_t row) const {
    return masks_ + static_cast<std::size_t>(row) * words_;
  }
  [[nodiscard]] std::size_t hash(std::uint32_t row) const {
    std::uint64_t out = 0;
    for (std::size_t w = 0; w < words_; ++w) {
      out = (out ^ of(row)[w]) * 0x9e3779b97f4a7c15ULL;  // 2^64 over the golden ratio
      out ^= out >> 32U;
    }
    return static_cast<std::size_t>(out);
  }

  const std::uint64_t* masks_;
  std::size_t words_;
  std::array<std::uint16_t, 4 * kernels::most_mask_classes> places_;
};

// Nothing is in `representatives` where there are more than most_mask_classes masks.
grouping group(const std::vector<std::uint64_t>& masks, index_t count) {
  known_masks known(masks, count);
  grouping out;
  out.of_row.resize(static_cast<std::size_t>(count));
  for (std::size_t row = 0; row < out.of_row.size(); ++row) {
    out.of_row[row] = known.class_of(static_cast<std::uint32_t>(row), out.representatives);
    if (out.representatives.size() > kernels::most_mask_classes) return {};
  }
  return out;
}

// Whether this device and the code that it runs have fast products of doubles.
bool multiplies_doubles() {
  const device_limits& device = current_limits();
  return detail::has_double_products(device.compute_major * 10 + device.compute_minor,
                                     current_code().capability);
}

bool pays(const grouping& found, index_t rows) {
  const auto classes = static_cast<index_t>(found.representatives.size());
  return classes > 0 && rows >= kernels::policy::least_rows_of_mask_class * classes;
}

template <class T>
device_buffer<T> upload(const std::vector<T>& from, cudaStream_t stream) {
  device_buffer<T> out(from.size(), stream);
  GPU_SIMILARITY_CUDA_CHECK(
      cudaMemcpyAsync(out.data(), from.data(), out.bytes(), cudaMemcpyHostToDevice, stream));
  return out;
}

// Rows by class, ascending within each, where the classes begin, and where each row is.
struct class_order {
  std::vector<std::uint32_t> rows;
  std::vector<std::uint32_t> begins;
  std::vector<std::uint32_t> places;  // of each row

  explicit class_order(const grouping& found)
      : rows(found.of_row.size()),
        begins(found.representatives.size() + 1),
        places(found.of_row.size()) {
    for (const std::uint16_t own : found.of_row) ++begins[own + std::size_t{1}];
    for (std::size_t c = 1; c < begins.size(); ++c) begins[c] += begins[c - 1];
    std::vector<std::uint32_t> next(begins.begin(), begins.end() - 1);
    for (std::size_t row = 0; row < found.of_row.size(); ++row) {
      const std::uint32_t place = next[found.of_row[row]]++;
      rows[place] = static_cast<std::uint32_t>(row);
      places[row] = place;
    }
  }
};

}  // namespace

struct row_classes::host_lists {
  grouping found;
  std::optional<class_order> by_class;
};

row_classes::row_classes(const kernels::pair_operand& rows, kernels::pair_tile_kind tile,
                         pair_budget& budget, cudaStream_t stream) {
  // Ties, medians and weights are of pairs.
  if (tile == kernels::pair_tile_kind::pairwise_signs ||
      tile == kernels::pair_tile_kind::pairwise_biweight) {
    return;
  }
  const bool ranks = tile == kernels::pair_tile_kind::pairwise_ranks;
  const int limbs = kernels::class_rank_limbs(rows.columns);
  if (rows.count == 0 || (ranks && limbs == 0)) return;
  // A look at some rows first: where holes are scattered, they all differ.
  const index_t sampled = std::min(rows.count, sampled_rows);
  if (!pays(group(read_masks(rows, tile, sampled, stream), sampled), rows.count)) return;
  auto lists = std::make_shared<host_lists>();
  lists->found = group(read_masks(rows, tile, rows.count, stream), rows.count);
  const grouping& found = lists->found;
  if (!pays(found, rows.count)) return;

  const auto count = found.representatives.size();
  const auto entries = static_cast<std::size_t>(rows.count) * count;
  const index_t pitch = round_up(rows.columns, class_piece);
  const std::size_t of_entry =
      ranks ? static_cast<std::size_t>(limbs * pitch) + sizeof(std::int64_t) + sizeof(float)
            : sizeof(double2) + sizeof(double);
  const std::size_t bytes =
      entries * of_entry +
      static_cast<std::size_t>(rows.count) * (sizeof(std::uint16_t) + 2 * sizeof(std::uint32_t)) +
      (count + 1) * (count + 1) * 2 * sizeof(std::uint32_t);
  if (bytes > budget.left() / 4) return;
  budget.take(bytes, "rows by the columns that they have");

  of_row_ = upload(found.of_row, stream);
  shared_ = {count * count, stream};
  const device_buffer<std::uint32_t> representatives = upload(found.representatives, stream);
  tables_ = {.count = static_cast<int>(count), .of_row = of_row_.data(), .shared = shared_.data()};
  if (ranks) {
    const class_order& by_class = lists->by_class.emplace(found);
    order_ = upload(by_class.rows, stream);
    begins_ = upload(by_class.begins, stream);
    places_ = upload(by_class.places, stream);
    squares_ = {entries, stream};
    roots_ = {entries, stream};
    ranks_ = {entries * static_cast<std::size_t>(limbs * pitch), stream};
    tables_.order = order_.data();
    tables_.begins = begins_.data();
    tables_.places = places_.data();
    tables_.squares = squares_.data();
    tables_.roots = roots_.data();
    tables_.ranks = ranks_.data();
    tables_.limbs = limbs;
    tables_.pitch = pitch;
    kernels::launch_class_rank_rows(rows, representatives.data(), tables_, stream);
  } else {
    sums_ = {entries, stream};
    variances_ = {entries, stream};
    tables_.sums = sums_.data();
    tables_.variances = variances_.data();
    tables_.on_tensor_cores = multiplies_doubles();
    kernels::launch_class_sums(rows, representatives.data(), tables_, stream);
  }
  lists_ = std::move(lists);
}

}  // namespace gpu::cuda
