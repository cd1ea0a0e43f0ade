#include "cpu/pairs/search/wide_products.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "base/parallel.hpp"
#include "base/round_up.hpp"
#include "cpu/pairs/choice/policy.hpp"

namespace gpu::cpu {
namespace {

constexpr index_t step_values = 2;
constexpr index_t group_step = group_lanes * step_bytes;
// Columns of 16 rows that are packed at a time.
constexpr index_t packed_at_once = 512;

// Sums of rounded rows that are added in 32 bits, and the length that a piece of so many columns
// may have: the product of two pieces is at most its square.
constexpr index_t rounded_steps = 128;
constexpr index_t piece_cols = rounded_steps * step_values;
constexpr double piece_length = 46340;
constexpr double largest_integer = 32766;

struct row_extent {
  double largest = 0;  // magnitude
  double piece = 0;    // sum of squares of a piece of piece_cols
};

template <class T>
row_extent extent_of(const rounding_kernels<T>& rounding, const T* row, index_t cols) {
  row_extent out;
  for (index_t begin = 0; begin < cols; begin += piece_cols) {
    const index_t count = std::min(piece_cols, cols - begin);
    out.piece = std::max(out.piece, rounding.square_sum(row + begin, count, &out.largest));
  }
  return out;
}

void raise_to(std::atomic<double>& most, double value) {
  double seen = most.load(std::memory_order_relaxed);
  while (seen < value && !most.compare_exchange_weak(seen, value, std::memory_order_relaxed)) {
  }
}

}  // namespace

wide_products::wide_products(const pair_kernels& kernels, index_t rows, index_t cols,
                             index_t exact_steps)
    : kernels_(kernels),
      rows_(rows),
      cols_(cols),
      steps_((cols + step_values - 1) / step_values),
      exact_steps_(exact_steps),
      data_(static_cast<std::size_t>(round_up(rows, group_lanes * group_padding) / group_lanes *
                                     steps_ * group_step)) {}

template <class Fill>
void wide_products::pack(int threads, const Fill& fill) {
  const index_t groups = round_up(rows_, group_lanes * group_padding) / group_lanes;
  detail::parallel_for(groups, detail::thread_count(threads), [&](index_t group, int) {
    alignas(64) std::int16_t values[group_lanes][packed_at_once];
    std::uint8_t* const to = data_.data() + group * steps_ * group_step;
    for (index_t begin = 0; begin < cols_; begin += packed_at_once) {
      const index_t end = std::min(begin + packed_at_once, cols_);
      const index_t steps = (end - begin + 1) / step_values;
      for (index_t lane = 0; lane < group_lanes; ++lane) {
        const index_t row = group * group_lanes + lane;
        std::int16_t* const own = values[lane];
        if (row < rows_) {
          fill(row, begin, end, own);
        } else {
          std::fill_n(own, packed_at_once, std::int16_t{0});
        }
        if ((end - begin) % step_values != 0) own[end - begin] = 0;
      }
      std::uint8_t* at = to + begin / step_values * group_step;
      for (index_t step = 0; step < steps; ++step) {
        for (index_t lane = 0; lane < group_lanes; ++lane, at += step_bytes) {
          std::memcpy(at, values[lane] + step * step_values, step_bytes);
        }
      }
    }
  });
}

index_t wide_products::steps_of_ranks(index_t cols) {
  const auto largest = static_cast<double>(cols - 1);
  const double steps = std::numeric_limits<std::int32_t>::max() / (step_values * largest * largest);
  return std::max<index_t>(1, static_cast<index_t>(steps));
}

std::unique_ptr<wide_products> wide_products::of_ranks(const pair_kernels& kernels,
                                                       const std::int16_t* values, index_t rows,
                                                       index_t cols, int threads) {
  std::unique_ptr<wide_products> out(new wide_products(kernels, rows, cols, steps_of_ranks(cols)));
  out->pack(threads, [&](index_t row, index_t begin, index_t end, std::int16_t* to) {
    std::copy(values + row * cols + begin, values + row * cols + end, to);
  });
  return out;
}

template <class T>
std::unique_ptr<wide_products> wide_products::rounded(const pair_kernels& kernels, const T* values,
                                                      index_t rows, index_t cols, index_t stride,
                                                      const double* lengths, int threads) {
  const rounding_kernels<T>& rounding = rounding_of(kernels, values);
  std::unique_ptr<wide_products> out(new wide_products(kernels, rows, cols, rounded_steps));
  const auto length_of = [&](index_t row) { return lengths == nullptr ? 1.0 : lengths[row]; };
  std::atomic<double> largest = 0;
  std::atomic<double> piece = 0;
  detail::parallel_for(rows, detail::thread_count(threads), [&](index_t row, int) {
    const row_extent extent = extent_of(rounding, values + row * stride, cols);
    raise_to(largest, extent.largest / length_of(row));
    raise_to(piece, std::sqrt(extent.piece) / length_of(row));
  });
  // Rounding moves every element by at most a half. A little less, for the rounding of these lines.
  constexpr double slack = 1 - 1e-9;
  const double moved = std::sqrt(static_cast<double>(piece_cols)) / 2;
  double scale = 1;
  if (largest > 0) {
    scale =
        slack * std::min((piece_length - moved) / piece.load(), largest_integer / largest.load());
  }
  std::vector<double> lost(static_cast<std::size_t>(rows));  // of rows, which one thread packs
  out->pack(threads, [&](index_t row, index_t begin, index_t end, std::int16_t* to) {
    lost[static_cast<std::size_t>(row)] +=
        rounding.round(values + row * stride + begin, end - begin, scale / length_of(row), to);
  });
  const double most = rows > 0 ? *std::max_element(lost.begin(), lost.end()) : 0;
  const double distance = std::sqrt(most) * (1 + 1e-9) / scale;
  out->square_scale_ = scale * scale;
  // And the rounding of the statistic itself, and of what is compared.
  out->error_ = 2 * distance + 3 * distance * distance + 1e-9;
  return out;
}

void wide_products::sums(const pair_tile& block, index_t diagonal, double* out) const {
  const index_t padded = round_up(block.cols(), group_lanes * group_padding);
  for (index_t i = 0; i < block.rows(); ++i) {
    std::fill_n(out + i * pair_policy::block_cols, padded, 0.0);
  }
  const index_t group_bytes = steps_ * group_step;
  kernels_.add_products({.data = data_.data(),
                         .columns = data_.data() + block.col_begin / group_lanes * group_bytes,
                         .group_bytes = group_bytes,
                         .steps = steps_,
                         .exact_steps = exact_steps_,
                         .first_row = block.row_begin,
                         .rows = block.rows(),
                         .cols = block.cols(),
                         .diagonal = diagonal,
                         .out = out,
                         .out_stride = pair_policy::block_cols});
}

void wide_products::search(const pair_tile& tile, const pair_cut& cut, pair_scratch& scratch,
                           const exact_test& test) const {
  double* const sums = scratch.statistics.data();
  const double least = sum_at(cut.least, -error_);
  with_key(cut.side, [&](const auto& key) {
    for_each_upper_block(tile, [&](const pair_tile& block) {
      upper_sums(block, sums);
      for (index_t i = block.row_begin; i < block.row_end; ++i) {
        const double* const row = sums + (i - block.row_begin) * pair_policy::block_cols;
        for (index_t j = first_upper_column(block, i); j < block.col_end; ++j) {
          if (!(key(row[j - block.col_begin]) >= least)) continue;
          (void)test(i - tile.row_begin, j - tile.col_begin, 0);
        }
      }
    });
  });
}

void wide_products::above(const pair_tile& tile, const double* bars, bool by_magnitude,
                          pair_scratch& scratch, const exact_test& test) const {
  double* const out = scratch.statistics.data();
  with_key(by_magnitude ? cut_side::magnitude : cut_side::positive, [&](const auto& key) {
    for_each_block(tile, [&](const pair_tile& block) {
      sums(block, out);
      for (index_t i = block.row_begin; i < block.row_end; ++i) {
        const double* const row = out + (i - block.row_begin) * pair_policy::block_cols;
        const double least = sum_at(bars[i - tile.row_begin], -error_);
        for (index_t j = block.col_begin; j < block.col_end; ++j) {
          if (!(key(row[j - block.col_begin]) >= least)) continue;
          (void)test(i - tile.row_begin, j - tile.col_begin, 0);
        }
      }
    });
  });
}

std::uint64_t wide_products::count(const pair_tile& tile, const pair_cut& cut,
                                   pair_scratch& scratch, const exact_test& test,
                                   std::uint32_t* row_degree, std::uint32_t* col_degree) const {
  double* const sums = scratch.statistics.data();
  const double least = sum_at(cut.least, -error_);
  const double sure = sum_at(cut.least, error_);
  std::uint64_t kept = 0;
  with_key(cut.side, [&](const auto& key) {
    for_each_upper_block(tile, [&](const pair_tile& block) {
      upper_sums(block, sums);
      const index_t first_col = block.col_begin - tile.col_begin;
      std::uint32_t* const columns = col_degree + first_col;
      for (index_t i = block.row_begin; i < block.row_end; ++i) {
        const double* const row = sums + (i - block.row_begin) * pair_policy::block_cols;
        const index_t first = first_upper_column(block, i) - block.col_begin;
        std::uint32_t degree = 0;
        std::uint32_t near = 0;
        for (index_t j = first; j < block.cols(); ++j) {
          const double x = key(row[j]);
          const std::uint32_t passes = x > sure ? 1 : 0;
          near += x >= least ? 1 - passes : 0;
          degree += passes;
          columns[j] += passes;
        }
        for (index_t j = first; near > 0; ++j) {
          const double x = key(row[j]);
          if (x > sure || !(x >= least)) continue;
          --near;
          if (!test(i - tile.row_begin, first_col + j, 0)) continue;
          ++degree;
          ++columns[j];
        }
        row_degree[i - tile.row_begin] += degree;
        kept += degree;
      }
    });
  });
  return kept;
}

template std::unique_ptr<wide_products> wide_products::rounded(const pair_kernels&,
                                                               const std::int16_t*, index_t,
                                                               index_t, index_t, const double*,
                                                               int);
template std::unique_ptr<wide_products> wide_products::rounded(const pair_kernels&,
                                                               const std::int32_t*, index_t,
                                                               index_t, index_t, const double*,
                                                               int);
template std::unique_ptr<wide_products> wide_products::rounded(const pair_kernels&, const double*,
                                                               index_t, index_t, index_t,
                                                               const double*, int);

}  // namespace gpu::cpu
