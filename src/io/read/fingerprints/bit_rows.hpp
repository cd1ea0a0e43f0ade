#pragma once
// Rows of bits that come one by one.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include <gpu/bit_matrix.hpp>
#include <gpu/index.hpp>

namespace gpu::io {

/// Grows by pieces of some megabytes, which take() joins.
class bit_rows {
 public:
  explicit bit_rows(index_t cols)
      : cols_(cols), words_(static_cast<std::size_t>(bit_words(cols))) {}

  [[nodiscard]] index_t cols() const noexcept { return cols_; }
  [[nodiscard]] index_t rows() const noexcept { return rows_; }

  /// The words of the next row, all 0. Valid as long as this.
  std::uint32_t* add() {
    ++rows_;
    if (words_ == 0) return nullptr;
    if (pieces_.empty() || pieces_.back().size() + words_ > pieces_.back().capacity()) {
      pieces_.emplace_back().reserve(std::max(words_, piece_words / words_ * words_));
    }
    std::vector<std::uint32_t>& piece = pieces_.back();
    piece.resize(piece.size() + words_);
    return piece.data() + (piece.size() - words_);
  }

  [[nodiscard]] bit_matrix take() {
    bit_matrix out(rows_, cols_);
    std::uint32_t* at = out.words();
    for (; !pieces_.empty(); pieces_.pop_front()) {
      at = std::copy(pieces_.front().begin(), pieces_.front().end(), at);
    }
    return out;
  }

 private:
  static constexpr std::size_t piece_words = std::size_t{1} << 20;
  index_t cols_;
  std::size_t words_;
  index_t rows_ = 0;
  std::deque<std::vector<std::uint32_t>> pieces_;
};

}  // namespace gpu::io
