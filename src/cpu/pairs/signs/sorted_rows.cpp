#include "cpu/pairs/signs/sorted_rows.hpp"

#include <algorithm>
#include <utility>

#include "stats/statistic.hpp"

namespace gpu::cpu {
namespace {

constexpr index_t sorted_run = 4;  // sorted by insertion
constexpr int sign_shift = 63;     // leaves -1 of a negative number, else 0

// Sorts a run; the pairs of it that were in falling order.
std::int64_t insertion_sort(std::uint32_t* values, index_t count) {
  std::int64_t falling = 0;
  for (index_t k = 1; k < count; ++k) {
    const std::uint32_t own = values[k];
    index_t to = k;
    for (; to > 0 && values[to - 1] > own; --to) values[to] = values[to - 1];
    values[to] = own;
    falling += k - to;
  }
  return falling;
}

// Merges two sorted runs; the pairs of them that were in falling order. Arithmetic takes the place
// of branches on values, which would be guessed wrong every other time.
std::int64_t merge(const std::uint32_t* from, index_t middle, index_t end, std::uint32_t* to) {
  std::int64_t falling = 0;
  index_t a = 0;
  index_t b = middle;
  while (a < middle && b < end) {
    const index_t first{from[a]};
    const index_t rise = index_t{from[b]} - first;
    const index_t is_less = rise >> sign_shift;
    *to++ = static_cast<std::uint32_t>(first + (rise & is_less));
    falling += is_less & (middle - a);
    b -= is_less;
    a += 1 + is_less;
  }
  to = std::copy(from + a, from + middle, to);
  std::copy(from + b, from + end, to);
  return falling;
}

// The same of two runs of one length, from both ends: two chains of steps, none of which can run
// out of values. A value of the second run falls behind the values of the first one that are left,
// or that the other end has taken.
std::int64_t merge_both_ends(const std::uint32_t* from, index_t length, std::uint32_t* to) {
  std::int64_t falling = 0;
  index_t a = 0;
  index_t b = length;
  index_t last_a = length - 1;
  index_t last_b = 2 * length - 1;
  for (index_t k = 0; k < length; ++k) {
    const index_t first{from[a]};
    const index_t rise = index_t{from[b]} - first;
    const index_t takes_b = rise >> sign_shift;
    to[k] = static_cast<std::uint32_t>(first + (rise & takes_b));
    falling += takes_b & (length - a);
    b -= takes_b;
    a += 1 + takes_b;
    const index_t last{from[last_b]};
    const index_t last_rise = last - index_t{from[last_a]};
    const index_t takes_a = last_rise >> sign_shift;
    to[2 * length - 1 - k] = static_cast<std::uint32_t>(last - (last_rise & takes_a));
    falling += ~takes_a & (length - 1 - last_a);
    last_a += takes_a;
    last_b -= 1 + takes_a;
  }
  return falling;
}

// Pairs of equal values of a sorted run.
std::int64_t equal_pairs(const std::uint32_t* values, index_t count) {
  std::int64_t pairs = 0;
  std::int64_t before = 0;
  for (index_t k = 1; k < count; ++k) {
    before = values[k] == values[k - 1] ? before + 1 : 0;
    pairs += before;
  }
  return pairs;
}

}  // namespace

std::int64_t sort_group(std::uint32_t* values, index_t count) {
  std::sort(values, values + count);
  return equal_pairs(values, count);
}

std::int64_t falling_pairs(std::uint32_t* values, index_t count, std::uint32_t* memory) {
  std::int64_t falling = 0;
  for (index_t begin = 0; begin < count; begin += sorted_run) {
    falling += insertion_sort(values + begin, std::min(sorted_run, count - begin));
  }
  for (index_t width = sorted_run; width < count; width *= 2) {
    for (index_t begin = 0; begin < count; begin += 2 * width) {
      const index_t all = std::min(2 * width, count - begin);
      falling += all == 2 * width
                     ? merge_both_ends(values + begin, width, memory + begin)
                     : merge(values + begin, std::min(width, all), all, memory + begin);
    }
    std::swap(values, memory);
  }
  return falling;
}

std::size_t sorted_row_bytes(index_t cols) {
  return static_cast<std::size_t>(cols) * 2 * sizeof(std::uint32_t);
}

std::size_t sorted_scratch_bytes(index_t cols) {
  return static_cast<std::size_t>(cols) * 2 * sizeof(std::uint32_t);
}

std::size_t sorted_packing_bytes(index_t cols) {
  return static_cast<std::size_t>(cols + 1) * sizeof(std::uint32_t);
}

sorted_rows::sorted_rows(index_t rows, index_t cols)
    : kendall_rows(rows, cols),
      values_(static_cast<std::size_t>(rows * cols)),
      order_(static_cast<std::size_t>(rows * cols)) {}

void sorted_rows::store(index_t i, const std::vector<std::uint32_t>& values, const row_ties& ties,
                        store_scratch& scratch) {
  std::copy(values.begin(), values.end(), values_.data() + i * cols());
  std::vector<std::uint32_t>& next = scratch.next;
  next.assign(values.size() + 1, 0);
  for (const std::uint32_t value : values) ++next[value + 1];
  for (std::size_t k = 1; k < next.size(); ++k) next[k] += next[k - 1];
  std::uint32_t* const order = order_.data() + i * cols();
  for (std::size_t k = 0; k < values.size(); ++k) {
    order[next[values[k]]++] = static_cast<std::uint32_t>(k);
  }
  set_ties(i, ties);
}

std::size_t sorted_rows::kernel_bytes() const {
  return sorted_scratch_bytes(cols());
}

std::int64_t sorted_rows::sum(index_t i, index_t j, std::uint32_t* memory) const {
  const std::uint32_t* const order = order_.data() + i * cols();
  const std::uint32_t* const x = values_.data() + i * cols();
  const std::uint32_t* const y = values_.data() + j * cols();
  std::uint32_t* const sorted = memory + cols();
  for (index_t k = 0; k < cols(); ++k) memory[k] = y[order[k]];
  std::int64_t tied_in_both = 0;
  for (index_t begin = 0, end = 0; ties_of(i).pairs > 0 && begin < cols(); begin = end) {
    while (end < cols() && x[order[end]] == x[order[begin]]) ++end;
    if (end - begin == 1) continue;
    tied_in_both += sort_group(memory + begin, end - begin);
  }
  const std::int64_t discordant = falling_pairs(memory, cols(), sorted);
  return untied(i) - ties_of(j).pairs + tied_in_both - 2 * discordant;
}

void sorted_rows::statistics(const pair_task& task, const pair_tile& tile, pair_scratch& scratch,
                             double* out) const {
  auto* const memory = reinterpret_cast<std::uint32_t*>(scratch.kernel.data());
  for (index_t i = tile.row_begin; i < tile.row_end; ++i) {
    double* const row = out + (i - tile.row_begin) * pair_policy::block_cols;
    for (index_t j = tile.col_begin; j < tile.col_end; ++j) {
      const std::int64_t s = sum(i, j, memory);
      row[j - tile.col_begin] = taken(task, i, j, s, detail::rho_of(s, untied(i), untied(j)));
    }
  }
}

}  // namespace gpu::cpu
