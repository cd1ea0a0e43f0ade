#include "cpu/pairs/search/row_screen.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <vector>

#include "base/parallel.hpp"

namespace gpu::cpu {
namespace {

constexpr index_t elements_per_task = index_t{1} << 17;

// The sum of bytes, so few that it fits 32 bits many times over.
std::int32_t sum_of(const std::int8_t* bytes, index_t count) {
  std::int32_t sum = 0;
  for (index_t k = 0; k < count; ++k) sum += bytes[k];
  return sum;
}

struct alignas(64) task_largest {
  double value = 0;
};

double largest_value(const std::vector<task_largest>& parts) {
  double largest = 0;
  for (const task_largest& part : parts) largest = std::max(largest, part.value);
  return largest;
}

}  // namespace

template <class T>
row_screen::row_screen(const pair_kernels& kernels, const T* values, index_t count, index_t cols,
                       index_t stride, const double* lengths, int threads)
    : kernel_(&kernels.screen),
      columns_(kernels.screen.columns, count, cols, kernels.int8_chunk),
      sums_(static_cast<std::size_t>(count)) {
  // Whole groups of columns, few enough of long rows that every thread has some.
  const index_t rows_per_task = round_up(
      std::clamp<index_t>(elements_per_task / std::max<index_t>(cols, 1), 1, 512), group_lanes);
  const index_t tasks = (count + rows_per_task - 1) / rows_per_task;
  std::vector<task_largest> parts(static_cast<std::size_t>(tasks));
  // The kernels round rows of 16 bits and doubles.
  using element = std::conditional_t<sizeof(T) == 1, std::int16_t, T>;
  const auto for_each_row = [&](const auto& body) {
    detail::parallel_for_ranges(
        count, rows_per_task, detail::thread_count(threads), [&](detail::index_range some, int) {
          std::vector<std::int16_t> room(static_cast<std::size_t>(cols));
          std::vector<std::int8_t> bytes(room.size());
          double largest = 0;
          for (index_t i = some.begin; i < some.end; ++i) {
            const T* const own = values + i * stride;
            const element* row = nullptr;
            if constexpr (sizeof(T) == 1) {
              std::copy_n(own, cols, room.data());
              row = room.data();
            } else {
              row = own;
            }
            const double length = lengths == nullptr ? 1.0 : lengths[i];
            largest = std::max(largest, body(i, row, length, room, bytes.data()));
          }
          parts[static_cast<std::size_t>(some.begin / rows_per_task)].value = largest;
        });
    return largest_value(parts);
  };

  const rounding_kernels<element>& rounding = rounding_of(kernels, static_cast<element*>(nullptr));
  const double largest = for_each_row([&](index_t, const element* row, double length, auto&&...) {
    double of_row = 0;
    (void)rounding.square_sum(row, cols, &of_row);
    return of_row / length;
  });
  const bool has_short_sums = kernels.screen.columns == packing::byte_pairs;
  // A little less, so that rounding never leaves the bytes.
  const double most = (has_short_sums ? byte_pair_offset : 127) - 0.001;
  scale_ = largest > 0 ? most / largest : 1.0;
  // Rounding moves every element by at most a half.
  if (has_short_sums) {
    scale_ = std::min(scale_, byte_pair_length - std::sqrt(static_cast<double>(cols)) / 2);
  }

  const double lost = for_each_row([&](index_t i, const element* row, double length,
                                       std::vector<std::int16_t>& rounded, std::int8_t* bytes) {
    const double sum = rounding.round(row, cols, scale_ / length, rounded.data());
    std::transform(rounded.begin(), rounded.end(), bytes,
                   [](std::int16_t value) { return static_cast<std::int8_t>(value); });
    columns_.store_row(i, bytes);
    sums_[static_cast<std::size_t>(i)] = sum_of(bytes, cols);
    return sum;
  });
  error_ = std::sqrt(lost) * (1 + 1e-9) / scale_;
}

template row_screen::row_screen(const pair_kernels&, const std::int8_t*, index_t, index_t, index_t,
                                const double*, int);
template row_screen::row_screen(const pair_kernels&, const std::int16_t*, index_t, index_t, index_t,
                                const double*, int);
template row_screen::row_screen(const pair_kernels&, const double*, index_t, index_t, index_t,
                                const double*, int);

std::size_t row_screen::scratch_bytes(const pair_kernels& kernels, index_t cols) {
  const index_t steps = packed_columns::steps_of(kernels.screen.columns, cols, kernels.int8_chunk);
  return static_cast<std::size_t>(
      pair_policy::task_rows * (steps * step_bytes + static_cast<index_t>(sizeof(std::int32_t))));
}

void row_screen::search(const pair_tile& tile, const pair_cut& cut, pair_scratch& scratch,
                        const exact_test& test) const {
  // Rounding of q^2 and of the exact statistic, and down to an integer.
  const double least = std::floor(scale_ * scale_ * weakest(cut.least) * (1 - 1e-9));
  const auto threshold = static_cast<std::uint32_t>(std::max(1.0, least));
  auto* steps = reinterpret_cast<std::uint8_t*>(scratch.kernel.data());
  screen_tile out{columns_.tile(tile, steps)};
  if (cut.side == cut_side::magnitude) {
    // x <= -threshold wraps around, -threshold < x < threshold stays below the limit.
    out.bias = static_cast<std::int32_t>(threshold - 1);
    out.limit = 2 * threshold - 1;
  } else {
    const std::uint32_t sign = kernel_->columns == packing::byte_pairs ? 0x8000u : 0x80000000u;
    out.bias = static_cast<std::int32_t>(sign);
    out.limit = sign + threshold;
  }
  const index_t row_bytes = columns_.steps() * step_bytes;
  auto* values = reinterpret_cast<std::int8_t*>(steps);
  if (cut.side == cut_side::negative) {  // what is negative is positive with the other row
    std::transform(values, values + tile.rows() * row_bytes, values,
                   [](std::int8_t value) { return static_cast<std::int8_t>(-value); });
  }
  auto* biases = reinterpret_cast<std::int32_t*>(steps + pair_policy::task_rows * row_bytes);
  const std::int32_t sign = cut.side == cut_side::negative ? -1 : 1;
  for (index_t i = 0; i < round_up(tile.rows(), row_padding); ++i) {
    const std::int32_t sum =
        i < tile.rows() ? sign * sums_[static_cast<std::size_t>(tile.row_begin + i)] : 0;
    biases[i] = static_cast<std::int32_t>(static_cast<std::uint32_t>(out.bias) -
                                          static_cast<std::uint32_t>(columns_.offset()) *
                                              static_cast<std::uint32_t>(sum));
  }
  out.row_bias = biases;
  kernel_->search(out, test);
}

}  // namespace gpu::cpu
