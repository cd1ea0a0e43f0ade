#include "cpu/pairs/ranks/classed_rows.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/parallel.hpp"
#include "stats/bins.hpp"
#include "stats/rank_squares.hpp"
#include "stats/statistic.hpp"

namespace gpu::cpu {
namespace {

// No sum of squares is larger.
constexpr index_t most_square_sum = stats::untied_rank_squares(most_classed_cols);
static_assert(most_square_sum < std::numeric_limits<std::int16_t>::max());

constexpr index_t rows_per_task = 512;
constexpr index_t most_steps = (most_classed_cols + step_bytes - 1) / step_bytes;

// Places `range` of the order: the same rows by their sums of squares.
void sort_by_class(std::span<const std::int64_t> square_sums, index_range range,
                   std::vector<node_id>& order) {
  if (range.empty()) return;
  const auto begin = static_cast<std::size_t>(range.begin);
  const auto end = static_cast<std::size_t>(range.end);
  std::vector<std::size_t> next(static_cast<std::size_t>(most_square_sum) + 2);
  next[0] = begin;
  for (std::size_t i = begin; i < end; ++i) ++next[static_cast<std::size_t>(square_sums[i]) + 1];
  for (std::size_t s = 1; s < next.size(); ++s) next[s] += next[s - 1];
  for (std::size_t i = begin; i < end; ++i) {
    order[next[static_cast<std::size_t>(square_sums[i])]++] = static_cast<node_id>(i);
  }
}

// What the kernel asks back about a tile.
struct tile_classes {
  double cut;
  const std::int32_t* of_class;  // sums of squares
  const std::int32_t* of_row;
  const std::int32_t* of_col;
  index_t bins;

  // The least sum, its sign treated, that a class and a column keep.
  [[nodiscard]] std::int32_t least(index_t row_class, index_t col) const {
    const auto x = std::int64_t{of_class[row_class]};
    const auto y = std::int64_t{of_col[col]};
    const auto keeps = [&](std::int64_t sum) { return detail::rho_of(sum, x, y) >= cut; };
    constexpr std::int64_t lowest = std::numeric_limits<std::int16_t>::min();
    auto sum = static_cast<std::int64_t>(std::ceil(cut * std::sqrt(static_cast<double>(x * y))));
    while (sum > lowest && keeps(sum - 1)) --sum;
    while (!keeps(sum)) ++sum;
    return static_cast<std::int32_t>(sum);
  }

  [[nodiscard]] index_t bin(index_t row, index_t col, std::int32_t sum) const {
    return detail::histogram_bin(detail::rho_of(sum, of_row[row], of_col[col]), bins);
  }
};

// A bit for each possible sum takes 30 us to look through, whatever the rows; few rows are sorted.
std::size_t count_different(const std::vector<std::int64_t>& square_sums) {
  constexpr std::size_t few_rows = 512;
  if (square_sums.size() <= few_rows) {
    std::vector<std::int64_t> sorted = square_sums;
    std::sort(sorted.begin(), sorted.end());
    return static_cast<std::size_t>(std::unique(sorted.begin(), sorted.end()) - sorted.begin());
  }
  std::vector<bool> is_there(static_cast<std::size_t>(most_square_sum) + 1);
  for (const std::int64_t sum : square_sums) is_there[static_cast<std::size_t>(sum)] = true;
  return static_cast<std::size_t>(std::count(is_there.begin(), is_there.end(), true));
}

}  // namespace

bool classed_rows::pays(index_t cols, const std::vector<std::int64_t>& square_sums) {
  if (cols > most_classed_cols || square_sums.empty()) return false;
  return 2 * count_different(square_sums) <= square_sums.size();
}

classed_rows::classed_rows(const pair_kernels& kernels, const std::int8_t* ranks, index_t cols,
                           const std::vector<std::int64_t>& square_sums, const row_layout& layout,
                           int threads)
    : count_(kernels.count_classes),
      columns_(packing::int8, static_cast<index_t>(square_sums.size()), cols, kernels.int8_chunk),
      order_(square_sums.size()),
      square_sums_(square_sums.size()),
      roots_(static_cast<std::size_t>(
          round_up(static_cast<index_t>(square_sums.size()), group_lanes * group_padding))),
      inverses_(roots_.size()) {
  std::iota(order_.begin(), order_.end(), node_id{0});
  const auto all = static_cast<index_t>(order_.size());
  sort_by_class(square_sums, {0, layout.asked.begin}, order_);
  sort_by_class(square_sums, {layout.asked.begin, layout.asked.end}, order_);
  sort_by_class(square_sums, {layout.asked.end, layout.first}, order_);
  sort_by_class(square_sums, {layout.second_begin(), all}, order_);
  const auto rows = static_cast<index_t>(order_.size());
  detail::parallel_for_each(rows, rows_per_task, threads, [&](index_t i, int) {
    const auto place = static_cast<std::size_t>(i);
    const node_id row = order_[place];
    columns_.store_row(i, ranks + index_t{row} * cols);
    square_sums_[place] = static_cast<std::int32_t>(square_sums[row]);
    const double root = std::sqrt(static_cast<double>(square_sums[row]));
    roots_[place] = static_cast<float>(root);
    inverses_[place] = static_cast<float>(1 / root);
  });
}

std::uint64_t classed_rows::count(const pair_tile& tile, double cut, cut_side side, float band,
                                  std::uint32_t* row_degree, std::uint32_t* col_degree,
                                  const pair_bins& bins) const {
  constexpr auto task_rows = static_cast<std::size_t>(pair_policy::task_rows);
  alignas(64) std::uint8_t row_steps[task_rows * most_steps * step_bytes];
  alignas(64) std::int16_t limits[task_rows * 2 * group_lanes];
  std::uint8_t class_of_row[task_rows];
  float class_cut[task_rows];
  std::int32_t class_sums[task_rows];
  const std::int32_t* sums = square_sums_.data() + tile.row_begin;
  index_t classes = 0;
  for (index_t i = 0; i < tile.rows(); ++i) {
    if (i == 0 || sums[i] != sums[i - 1]) {
      class_sums[classes] = sums[i];
      class_cut[classes] = static_cast<float>(cut * std::sqrt(static_cast<double>(sums[i])));
      ++classes;
    }
    class_of_row[i] = static_cast<std::uint8_t>(classes - 1);
  }
  const tile_classes sorted{.cut = cut,
                            .of_class = class_sums,
                            .of_row = sums,
                            .of_col = square_sums_.data() + tile.col_begin,
                            .bins = bins.count};
  const auto least = [&](index_t row_class, index_t col) noexcept {
    return sorted.least(row_class, col);
  };
  const auto bin = [&](index_t row, index_t col, std::int32_t sum) noexcept {
    return sorted.bin(row, col, sum);
  };
  const class_tile prepared{columns_.tile(tile, row_steps),
                            side,
                            class_of_row,
                            classes,
                            class_cut,
                            roots_.data() + tile.col_begin,
                            band,
                            least,
                            limits,
                            bins.count,
                            static_cast<double>(bins.count) / 2,
                            inverses_.data() + tile.row_begin,
                            inverses_.data() + tile.col_begin,
                            bin,
                            bins.histogram};
  return count_(prepared, row_degree, col_degree);
}

}  // namespace gpu::cpu
