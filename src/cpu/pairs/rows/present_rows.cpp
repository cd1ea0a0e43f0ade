#include "cpu/pairs/rows/present_rows.hpp"

#include <algorithm>
#include <bit>

namespace gpu::cpu {

void present_rows::number() {
  before_.assign(1, 0);
  for (std::size_t begin = 0; begin < words_.size(); begin += words_per_block) {
    const std::size_t end = std::min(begin + words_per_block, words_.size());
    index_t count = before_.back();
    for (std::size_t w = begin; w < end; ++w) count += std::popcount(words_[w]);
    before_.push_back(count);
  }
}

index_t present_rows::row_of(index_t place) const {
  const auto block = std::upper_bound(before_.begin(), before_.end(), place) - before_.begin() - 1;
  index_t left = place - before_[static_cast<std::size_t>(block)];
  std::size_t w = static_cast<std::size_t>(block) * words_per_block;
  for (; left >= std::popcount(words_[w]); ++w) left -= std::popcount(words_[w]);
  std::uint64_t word = words_[w];
  for (; left > 0; --left) word &= word - 1;
  return static_cast<index_t>(w) * 64 + std::countr_zero(word);
}

index_t present_rows::count_before(index_t row) const {
  const std::size_t block = std::min(word_of(row) / words_per_block, before_.size() - 1);
  index_t count = before_[block];
  for (std::size_t w = block * words_per_block; w < word_of(row); ++w) {
    count += std::popcount(words_[w]);
  }
  if (row % 64 == 0) return count;
  const std::uint64_t below = (std::uint64_t{1} << (row % 64)) - 1;
  return count + std::popcount(words_[word_of(row)] & below);
}

}  // namespace gpu::cpu
