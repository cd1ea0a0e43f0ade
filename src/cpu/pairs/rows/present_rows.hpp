#pragma once
// Which rows of an input are packed, and which of them is the i-th: a bit a row.

#include <cstddef>
#include <cstdint>
#include <vector>

#include <gpu/index.hpp>

namespace gpu::cpu {

class present_rows {
 public:
  present_rows() = default;
  /// Of `rows` rows, none yet.
  explicit present_rows(index_t rows) : words_(static_cast<std::size_t>((rows + 63) / 64)) {}

  void add(index_t row) { words_[word_of(row)] |= std::uint64_t{1} << (row % 64); }
  /// To be called once all rows are there, before size() and row_of().
  void number();

  [[nodiscard]] bool contains(index_t row) const {
    return (words_[word_of(row)] >> (row % 64) & 1) != 0;
  }
  [[nodiscard]] index_t size() const { return before_.empty() ? 0 : before_.back(); }
  /// The row with `place` present rows before it; place < size().
  [[nodiscard]] index_t row_of(index_t place) const;
  /// Present rows before `row`, which may be one past the last.
  [[nodiscard]] index_t count_before(index_t row) const;

 private:
  static constexpr std::size_t words_per_block = 8;
  static std::size_t word_of(index_t row) { return static_cast<std::size_t>(row) / 64; }

  std::vector<std::uint64_t> words_;
  std::vector<index_t> before_;  // [blocks + 1]: present rows before each block of words
};

}  // namespace gpu::cpu
