#include "cpu/pairs/signs/sign_matrix.hpp"

#include <algorithm>
#include <bit>

#include "cpu/pairs/loops/kernels.hpp"

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

// Values as pack_signs takes them.
void pad(const std::vector<std::uint32_t>& values, std::vector<std::uint16_t>& out) {
  out.assign(values.begin(), values.end());
  out.resize(values.size() + static_cast<std::size_t>(sign_value_padding));
}

}  // namespace

std::size_t sign_row_bytes(index_t cols) {
  return static_cast<std::size_t>(sign_words(cols) * sign_planes) * sizeof(std::uint64_t) +
         sizeof(std::int32_t) + 1;
}

std::size_t sign_scratch_bytes(index_t cols) {
  return static_cast<std::size_t>(block_rows * stride) * sizeof(std::int32_t) +
         static_cast<std::size_t>(block_rows * words_at_once(sign_words(cols)) * sign_planes) *
             sizeof(std::uint64_t);
}

std::size_t sign_packing_bytes(index_t cols) {
  return static_cast<std::size_t>(cols + sign_value_padding) * sizeof(std::uint16_t) +
         static_cast<std::size_t>(2 * sign_planes * sign_words(cols)) * sizeof(std::uint64_t);
}

sign_matrix::sign_matrix(index_t rows, index_t cols)
    : rows_(rows),
      cols_(cols),
      words_(sign_words(cols)),
      planes_(static_cast<std::size_t>(round_up(rows, sign_lanes) * words_ * sign_planes)),
      group_has_zeros_(static_cast<std::size_t>(round_up(rows, sign_lanes) / sign_lanes)),
      others_(static_cast<std::size_t>(round_up(rows, sign_lanes))) {
  for (index_t row = rows; row < round_up(rows, sign_lanes); ++row) {
    for (index_t w = 0; w < words_; ++w) {
      *place_of(row, w) = 0;
      *(place_of(row, w) + sign_lanes) = 0;
    }
  }
}

std::size_t sign_matrix::word_of(index_t row, index_t word) const {
  return static_cast<std::size_t>((row / sign_lanes * words_ + word) * group_word +
                                  row % sign_lanes);
}

void sign_matrix::store(index_t i, const std::vector<std::uint32_t>& values, store_scratch& scratch,
                        const std::vector<std::uint32_t>& missing) {
  auto& [padded, planes] = scratch;
  pad(values, padded);
  planes.assign(static_cast<std::size_t>(2 * sign_planes * words_), 0);
  std::uint64_t* const less = planes.data();
  std::uint64_t* const differ = less + words_;
  std::uint64_t* const one_is_missing = differ + 2 * words_;
  usable_sign_kernels().pack_signs(padded.data(), cols_, less, differ);
  if (!missing.empty()) {
    // Two missing values are equal ones, like two values that are there.
    pad(missing, padded);
    usable_sign_kernels().pack_signs(padded.data(), cols_, differ + words_, one_is_missing);
  }
  std::int32_t others = 0;
  for (index_t w = 0; w < words_; ++w) {
    const std::uint64_t zeros = one_is_missing[w];
    *place_of(i, w) = less[w] & ~zeros;
    *(place_of(i, w) + sign_lanes) = differ[w] & ~zeros;
    others += std::popcount(differ[w] & ~zeros);
  }
  others_[static_cast<std::size_t>(i)] = others;
}

void sign_matrix::finish() {
  for (index_t i = 0; i < rows_; ++i) {
    if (has_zeros(i)) group_has_zeros_[static_cast<std::size_t>(i / sign_lanes)] = 1;
  }
}

bool sign_matrix::any_has_zeros(const pair_tile& tile) const {
  for (index_t i = tile.row_begin; i < tile.row_end; ++i) {
    if (has_zeros(i)) return true;
  }
  return false;
}

// What sign_kernels::add_sums asks for.
void sign_matrix::begin_sums(const pair_tile& tile, bool rows_have_zeros,
                             std::int32_t* sums) const {
  const index_t padded = round_up(tile.cols(), sign_lanes);
  for (index_t r = 0; r < tile.rows(); ++r) {
    std::int32_t* const row = sums + r * stride;
    if (!rows_have_zeros) {
      std::copy_n(others_.data() + tile.col_begin, padded, row);
      continue;
    }
    const std::int32_t own = others_[static_cast<std::size_t>(tile.row_begin + r)];
    for (index_t c = 0; c < padded; c += sign_lanes) {
      const auto group = static_cast<std::size_t>((tile.col_begin + c) / sign_lanes);
      std::fill_n(row + c, sign_lanes, group_has_zeros_[group] != 0 ? 0 : own);
    }
  }
}

void sign_matrix::copy_rows(const pair_tile& tile, index_t first_word, index_t words,
                            std::uint64_t* out) const {
  for (index_t i = tile.row_begin; i < tile.row_end; ++i) {
    const std::uint64_t* from = planes_.data() + word_of(i, first_word);
    for (index_t w = 0; w < words; ++w, from += group_word) {
      *out++ = from[0];
      *out++ = from[sign_lanes];
    }
  }
}

const std::int32_t* sign_matrix::sums(const pair_tile& tile, std::byte* memory) const {
  auto* const sums = reinterpret_cast<std::int32_t*>(memory);
  auto* const rows = reinterpret_cast<std::uint64_t*>(sums + block_rows * stride);
  const bool rows_have_zeros = any_has_zeros(tile);
  begin_sums(tile, rows_have_zeros, sums);
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
                                    .rows_are_tied = rows_have_zeros,
                                    .group_is_tied = group_has_zeros_.data() + first_group,
                                    .sums = sums,
                                    .stride = stride});
  }
  return sums;
}

}  // namespace gpu::cpu
