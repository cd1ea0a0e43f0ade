#include "cpu/pairs/signs/packed_signs.hpp"

#include <algorithm>
#include <cmath>

#include "cpu/pairs/loops/kernels.hpp"
#include "cpu/pairs/signs/sign_kernels.hpp"

namespace gpu::cpu {
namespace {

constexpr index_t stride = pair_policy::block_cols;
constexpr index_t block_rows = pair_policy::block_rows;
constexpr index_t group_word = sign_planes * sign_lanes;

// Words of long rows that are counted at a time: those of a group of columns, 16 KiB, stay in the
// first level of the caches, those of 32 rows, 64 KiB, in the second.
constexpr index_t piece_words = 128;

index_t words_at_once(index_t words) {
  return std::min(words, piece_words);
}

}  // namespace

std::size_t packed_signs_bytes(index_t cols) {
  return static_cast<std::size_t>(sign_words(cols) * sign_planes) * sizeof(std::uint64_t) +
         sizeof(std::int32_t) + 2 * sizeof(double) + 1;
}

std::size_t packed_signs_scratch_bytes(index_t cols) {
  return static_cast<std::size_t>(block_rows * stride) * sizeof(std::int32_t) +
         static_cast<std::size_t>(block_rows * words_at_once(sign_words(cols)) * sign_planes) *
             sizeof(std::uint64_t);
}

packed_signs::packed_signs(index_t rows, index_t cols)
    : kendall_rows(rows, cols),
      words_(sign_words(cols)),
      planes_(static_cast<std::size_t>(round_up(rows, sign_lanes) * words_ * sign_planes)),
      group_is_tied_(static_cast<std::size_t>(round_up(rows, sign_lanes) / sign_lanes)),
      untied_(static_cast<std::size_t>(round_up(rows, sign_lanes))) {
  for (index_t row = rows; row < round_up(rows, sign_lanes); ++row) {
    for (index_t w = 0; w < words_; ++w) {
      *place_of(row, w) = 0;
      *(place_of(row, w) + sign_lanes) = 0;
    }
  }
}

std::size_t packed_signs::word_of(index_t row, index_t word) const {
  return static_cast<std::size_t>((row / sign_lanes * words_ + word) * group_word +
                                  row % sign_lanes);
}

void packed_signs::store(index_t i, const std::vector<std::uint32_t>& values,
                         const row_ties& ties) {
  thread_local std::vector<std::uint16_t> padded;
  thread_local std::vector<std::uint64_t> planes;
  padded.assign(values.begin(), values.end());
  padded.resize(values.size() + static_cast<std::size_t>(sign_value_padding));
  planes.assign(static_cast<std::size_t>(sign_planes * words_), 0);
  std::uint64_t* const differ = planes.data() + words_;
  usable_sign_kernels().pack_signs(padded.data(), cols(), planes.data(), differ);
  for (index_t w = 0; w < words_; ++w) {
    *place_of(i, w) = planes[static_cast<std::size_t>(w)];
    *(place_of(i, w) + sign_lanes) = differ[w];
  }
  set_ties(i, ties);
}

void packed_signs::finish() {
  for (index_t i = 0; i < size(); ++i) {
    if (ties_of(i).pairs > 0) group_is_tied_[static_cast<std::size_t>(i / sign_lanes)] = 1;
    untied_[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(untied(i));
    tied_pairs_.push_back(static_cast<double>(ties_of(i).pairs));
    tied_triples_.push_back(static_cast<double>(ties_of(i).triples));
  }
}

std::size_t packed_signs::kernel_bytes() const {
  return packed_signs_scratch_bytes(cols());
}

bool packed_signs::any_is_tied(const pair_tile& tile) const {
  for (index_t i = tile.row_begin; i < tile.row_end; ++i) {
    if (ties_of(i).pairs > 0) return true;
  }
  return false;
}

// What sign_kernels::add_sums asks for.
void packed_signs::begin_sums(const pair_tile& tile, std::int32_t* sums) const {
  const bool rows_are_tied = any_is_tied(tile);
  const index_t padded = round_up(tile.cols(), sign_lanes);
  for (index_t r = 0; r < tile.rows(); ++r) {
    std::int32_t* const row = sums + r * stride;
    if (!rows_are_tied) {
      std::copy_n(untied_.data() + tile.col_begin, padded, row);
      continue;
    }
    const std::int32_t own = untied_[static_cast<std::size_t>(tile.row_begin + r)];
    for (index_t c = 0; c < padded; c += sign_lanes) {
      const auto group = static_cast<std::size_t>((tile.col_begin + c) / sign_lanes);
      std::fill_n(row + c, sign_lanes, group_is_tied_[group] != 0 ? 0 : own);
    }
  }
}

void packed_signs::copy_rows(const pair_tile& tile, index_t first_word, index_t words,
                             std::uint64_t* out) const {
  for (index_t i = tile.row_begin; i < tile.row_end; ++i) {
    const std::uint64_t* from = planes_.data() + word_of(i, first_word);
    for (index_t w = 0; w < words; ++w, from += group_word) {
      *out++ = from[0];
      *out++ = from[sign_lanes];
    }
  }
}

void packed_signs::statistics(const pair_task& task, const pair_tile& tile, pair_scratch& scratch,
                              double* out) const {
  auto* const sums = reinterpret_cast<std::int32_t*>(scratch.kernel.data());
  auto* const rows = reinterpret_cast<std::uint64_t*>(sums + block_rows * stride);
  begin_sums(tile, sums);
  const index_t first_group = tile.col_begin / sign_lanes;
  for (index_t w = 0; w < words_; w += piece_words) {
    const index_t words = std::min(piece_words, words_ - w);
    copy_rows(tile, w, words, rows);
    usable_sign_kernels().add_sums({.columns = planes_.data() + word_of(tile.col_begin, w),
                                    .group_stride = words_ * group_word,
                                    .groups = round_up(tile.cols(), sign_lanes) / sign_lanes,
                                    .rows = rows,
                                    .row_count = tile.rows(),
                                    .words = words,
                                    .rows_are_tied = any_is_tied(tile),
                                    .group_is_tied = group_is_tied_.data() + first_group,
                                    .sums = sums,
                                    .stride = stride});
  }
  for (index_t r = 0; r < tile.rows(); ++r) {
    const index_t i = tile.row_begin + r;
    double* const to = out + r * stride;
    usable_pair_kernels().rho(sums + r * stride, static_cast<double>(untied(i)),
                              untied_.data() + tile.col_begin, tile.cols(), to);
    if (cut_of(task) != nullptr) take_row(task, i, tile, sums + r * stride, to);
  }
}

// Most pairs are dropped by S^2 alone.
void packed_signs::take_row(const pair_task& task, index_t i, const pair_tile& tile,
                            const std::int32_t* sums, double* out) const {
  const stats::kendall_cut& cut = *cut_of(task);
  const auto take = [&](index_t c) {
    out[c] = taken(task, i, tile.col_begin + c, sums[c], out[c]);
  };
  if (!cut.is_screened()) {
    for (index_t c = 0; c < tile.cols(); ++c) take(c);
    return;
  }
  double least[stride];
  std::uint8_t may_pass[stride] = {};
  cut.least_squares(ties_of(i), tied_pairs_.data() + tile.col_begin,
                    tied_triples_.data() + tile.col_begin, tile.cols(), least);
  const tail side = cut.side();
  const double sign = side == tail::less ? -1.0 : 1.0;
  const double instead = dropped(task);
  for (index_t c = 0; c < tile.cols(); ++c) {
    const double s = sign * sums[c];
    const double square = side == tail::two_sided ? s * s : s * std::abs(s);
    may_pass[c] = square >= least[c] ? 1 : 0;
  }
  for (index_t c = 0; c < tile.cols(); ++c) {
    if (may_pass[c] != 0) {
      take(c);
    } else {
      out[c] = instead;
    }
  }
}

}  // namespace gpu::cpu
