#pragma once
/// @file
/// Matrices of bits: column j of row i is bit j % 32, least significant first, of word j / 32 of
/// the row. In +1/-1 products bit 1 is +1 and bit 0 is -1. Bits past the last column are ignored.

#include <concepts>
#include <cstdint>
#include <type_traits>

#include <gpu/export.hpp>
#include <gpu/index.hpp>
#include <gpu/matrix.hpp>
#include <gpu/matrix_view.hpp>

namespace gpu {
inline namespace v0 {

/// Words of 32 bits that hold `cols` bits.
[[nodiscard]] constexpr index_t bit_words(index_t cols) noexcept {
  return cols / 32 + (cols % 32 != 0 ? 1 : 0);
}

namespace detail {
template <class Word>
concept bit_word = std::same_as<std::remove_const_t<Word>, std::uint32_t>;

/// Throws gpu::invalid_argument unless rows >= 0, cols >= 0, row_words >= bit_words(cols) and words
/// is not null where there are elements.
GPU_SIMILARITY_EXPORT void check_bit_matrix_extents(const void* words, index_t rows, index_t cols,
                                                    index_t row_words);
}  // namespace detail

/// A matrix of bits [rows, cols] in `Space`; row i starts at `words()[i * row_words()]`. `Word` is
/// std::uint32_t or const std::uint32_t.
template <detail::bit_word Word, memory_space Space>
class basic_bit_matrix_view {
 public:
  /// Where the words are.
  static constexpr memory_space space = Space;

  /// An empty view, [0, 0].
  constexpr basic_bit_matrix_view() noexcept = default;

  /// Rows that follow each other without a gap.
  /// @throw gpu::invalid_argument for negative extents, or null words of a non-empty matrix.
  basic_bit_matrix_view(Word* words, index_t rows, index_t cols)
      : basic_bit_matrix_view(words, rows, cols, bit_words(cols)) {}

  /// Rows that start `row_words` words apart.
  /// @throw gpu::invalid_argument as above, or for row_words < bit_words(cols).
  basic_bit_matrix_view(Word* words, index_t rows, index_t cols, index_t row_words)
      : words_(words), rows_(rows), cols_(cols), row_words_(row_words) {
    detail::check_bit_matrix_extents(words, rows, cols, row_words);
  }

  /// From mutable to const words; never between memory spaces.
  template <detail::gains_const_as<Word> Other>
  constexpr basic_bit_matrix_view(basic_bit_matrix_view<Other, Space> other) noexcept
      : words_(other.words()),
        rows_(other.rows()),
        cols_(other.cols()),
        row_words_(other.row_words()) {}

  /// The first word of row 0.
  [[nodiscard]] constexpr Word* words() const noexcept { return words_; }
  /// Number of rows.
  [[nodiscard]] constexpr index_t rows() const noexcept { return rows_; }
  /// Number of columns: bits of a row that count.
  [[nodiscard]] constexpr index_t cols() const noexcept { return cols_; }
  /// Words from the start of one row to the start of the next.
  [[nodiscard]] constexpr index_t row_words() const noexcept { return row_words_; }
  /// Whether there is no bit.
  [[nodiscard]] constexpr bool empty() const noexcept { return rows_ == 0 || cols_ == 0; }
  /// Start of row i; no range check.
  [[nodiscard]] constexpr Word* row(index_t i) const noexcept { return words_ + i * row_words_; }

 private:
  Word* words_ = nullptr;
  index_t rows_ = 0;
  index_t cols_ = 0;
  index_t row_words_ = 0;
};

/// Bits in host memory, read only.
using bit_matrix_view = basic_bit_matrix_view<const std::uint32_t, memory_space::host>;
/// Bits in host memory, writable.
using mutable_bit_matrix_view = basic_bit_matrix_view<std::uint32_t, memory_space::host>;
/// Bits in device memory, read only.
using device_bit_matrix_view = basic_bit_matrix_view<const std::uint32_t, memory_space::device>;
/// Bits in device memory, writable.
using mutable_device_bit_matrix_view = basic_bit_matrix_view<std::uint32_t, memory_space::device>;

/// Owns a matrix of bits [rows, cols] on the host, rows without a gap. Uninitialised.
class bit_matrix {
 public:
  /// An empty matrix, [0, 0].
  bit_matrix() noexcept = default;
  /// @throw gpu::invalid_argument for negative extents; gpu::out_of_memory where it does not fit.
  bit_matrix(index_t rows, index_t cols)
      : words_(rows, cols < 0 ? cols : bit_words(cols)), cols_(cols) {}

  /// Number of rows.
  [[nodiscard]] index_t rows() const noexcept { return words_.rows(); }
  /// Number of columns.
  [[nodiscard]] index_t cols() const noexcept { return cols_; }
  /// Words of a row.
  [[nodiscard]] index_t row_words() const noexcept { return words_.cols(); }
  /// The first word of row 0.
  [[nodiscard]] std::uint32_t* words() noexcept { return words_.data(); }
  /// The first word of row 0.
  [[nodiscard]] const std::uint32_t* words() const noexcept { return words_.data(); }
  /// Bit (i, j); no range check.
  [[nodiscard]] bool operator()(index_t i, index_t j) const noexcept {
    return ((words_(i, j / 32) >> (j % 32)) & 1U) != 0;
  }
  /// The whole matrix, read only.
  [[nodiscard]] bit_matrix_view view() const noexcept {
    return {words_.data(), rows(), cols_, row_words()};
  }
  /// The whole matrix.
  [[nodiscard]] mutable_bit_matrix_view view() noexcept {
    return {words_.data(), rows(), cols_, row_words()};
  }
  /// The whole matrix, read only, where a call takes a view. Valid as long as the matrix.
  operator bit_matrix_view() const noexcept { return view(); }

 private:
  matrix<std::uint32_t> words_;
  index_t cols_ = 0;
};

}  // namespace v0
}  // namespace gpu
