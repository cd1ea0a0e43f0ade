#include "cpu/pairs/search/row_screen.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/parallel.hpp"

namespace gpu::cpu {
namespace {

constexpr index_t elements_per_task = index_t{1} << 17;

// Lanes side by side, so that the compiler may vectorise what it must not reorder.
constexpr index_t lanes = 8;

template <class T>
T largest_of(const T* values, index_t count) {
  T largest[lanes] = {};
  const auto take = [&](T value, index_t lane) {
    const T magnitude = value < 0 ? static_cast<T>(-value) : value;
    largest[lane] = magnitude > largest[lane] ? magnitude : largest[lane];
  };
  index_t k = 0;
  for (; k + lanes <= count; k += lanes) {
    for (index_t l = 0; l < lanes; ++l) take(values[k + l], l);
  }
  for (; k < count; ++k) take(values[k], 0);
  return *std::max_element(largest, largest + lanes);
}

// Rounds values * scale to bytes; returns the sum of the squares of what rounding took.
float quantise(const std::int8_t* values, index_t count, float scale, std::int8_t* out) {
  constexpr float to_integer = 0x1.8p23f;  // added and taken away again: rounds to nearest
  float lost[lanes] = {};
  const auto take = [&](index_t k, index_t lane) {
    const float exact = static_cast<float>(values[k]) * scale;
    const float rounded = (exact + to_integer) - to_integer;
    out[k] = static_cast<std::int8_t>(static_cast<int>(rounded));
    lost[lane] += (exact - rounded) * (exact - rounded);
  };
  index_t k = 0;
  for (; k + lanes <= count; k += lanes) {
    for (index_t l = 0; l < lanes; ++l) take(k + l, l);
  }
  for (; k < count; ++k) take(k, 0);
  return std::accumulate(lost, lost + lanes, 0.0f);
}

// The same of longer values, by the kernels' rounding to 16 bits, `room` for as many.
template <class T>
double quantise(const pair_kernels& kernels, const T* values, index_t count, double scale,
                std::vector<std::int16_t>& room, std::int8_t* out) {
  if constexpr (sizeof(T) == 1) {
    return quantise(values, count, static_cast<float>(scale), out);
  } else {
    room.resize(static_cast<std::size_t>(count));
    const double lost = rounding_of(kernels, values).round(values, count, scale, room.data());
    std::transform(room.begin(), room.end(), out,
                   [](std::int16_t value) { return static_cast<std::int8_t>(value); });
    return lost;
  }
}

// Of bytes of which so many fit 32 bits many times over.
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
  const auto for_each_row = [&](const auto& body) {
    detail::parallel_for_ranges(
        count, rows_per_task, detail::thread_count(threads), [&](detail::index_range some, int) {
          std::vector<std::int8_t> bytes(static_cast<std::size_t>(cols));
          std::vector<std::int16_t> room;
          double largest = 0;
          for (index_t i = some.begin; i < some.end; ++i) {
            const double length = lengths == nullptr ? 1.0 : lengths[i];
            largest = std::max(largest, body(i, values + i * stride, length, bytes.data(), room));
          }
          parts[static_cast<std::size_t>(some.begin / rows_per_task)].value = largest;
        });
    return largest_value(parts);
  };

  const double largest = for_each_row([&](index_t, const T* row, double length, auto&&...) {
    return static_cast<double>(largest_of(row, cols)) / length;
  });
  const bool has_short_sums = kernels.screen.columns == packing::byte_pairs;
  // A little less, so that rounding never leaves the bytes.
  const double most = (has_short_sums ? byte_pair_offset : 127) - 0.001;
  scale_ = largest > 0 ? most / largest : 1.0;
  // Rounding moves every element by at most a half.
  if (has_short_sums) {
    scale_ = std::min(scale_, byte_pair_length - std::sqrt(static_cast<double>(cols)) / 2);
  }

  const double lost = for_each_row([&](index_t i, const T* row, double length, std::int8_t* bytes,
                                       std::vector<std::int16_t>& room) {
    const double sum = quantise(kernels, row, cols, scale_ / length, room, bytes);
    columns_.store_row(i, bytes);
    sums_[static_cast<std::size_t>(i)] = sum_of(bytes, cols);
    return sum;
  });
  // Of each element, float arithmetic loses at most 127 * 3 * 2^-24; of a sum of positive terms,
  // `cols` additions and a product each at most (cols + 3) * 2^-24 of it.
  const double count_of = static_cast<double>(cols);
  const double sum = lost * (1 + (count_of + 4) * 0x1p-23);
  error_ = (std::sqrt(sum) + 127 * 4 * 0x1p-24 * std::sqrt(count_of)) / scale_;
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
  screen_tile out{.columns = columns_.group_of(tile.col_begin),
                  .steps = columns_.steps(),
                  .rows = tile.rows(),
                  .cols = tile.cols(),
                  .diagonal = tile.col_begin - tile.row_begin};
  if (cut.side == cut_side::magnitude) {
    // x <= -threshold wraps around, -threshold < x < threshold stays below the limit.
    out.bias = static_cast<std::int32_t>(threshold - 1);
    out.limit = 2 * threshold - 1;
  } else {
    const std::uint32_t sign = kernel_->columns == packing::byte_pairs ? 0x8000u : 0x80000000u;
    out.bias = static_cast<std::int32_t>(sign);
    out.limit = sign + threshold;
  }
  auto* steps = reinterpret_cast<std::uint8_t*>(scratch.kernel.data());
  const index_t row_bytes = columns_.steps() * step_bytes;
  columns_.copy_row_steps(tile.row_begin, tile.row_end, steps);
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
  out.row_steps = steps;
  out.row_bias = biases;
  kernel_->search(out, test);
}

}  // namespace gpu::cpu
