#include "cpu/pairs/pairwise/row_masks.hpp"

#include <algorithm>
#include <bit>

namespace gpu::cpu {
namespace {

std::uint64_t hash_of(const std::uint64_t* row, index_t words) {
  std::uint64_t out = 0;
  for (index_t w = 0; w < words; ++w) {
    out = (out ^ row[w]) * 0x9e3779b97f4a7c15U;
    out ^= out >> 29U;
  }
  return out;
}

}  // namespace

row_masks::row_masks(const std::vector<std::uint64_t>& bits, index_t words, index_t most)
    : words_(words) {
  const auto rows = static_cast<index_t>(bits.size()) / words;
  std::vector<std::uint64_t> hashes;
  mask_of_.reserve(static_cast<std::size_t>(rows));
  for (index_t i = 0; i < rows; ++i) {
    const std::uint64_t* const row = bits.data() + i * words;
    const std::uint64_t own = hash_of(row, words);
    index_t mask = 0;
    while (mask < count_ && (hashes[static_cast<std::size_t>(mask)] != own ||
                             !std::equal(row, row + words, this->bits(mask)))) {
      ++mask;
    }
    if (mask == count_) {
      if (count_ == most) {
        *this = {};
        return;
      }
      ++count_;
      hashes.push_back(own);
      masks_.insert(masks_.end(), row, row + words);
    }
    mask_of_.push_back(static_cast<std::uint8_t>(mask));
  }
  shared_.resize(static_cast<std::size_t>(count_ * count_));
  for (index_t a = 0; a < count_; ++a) {
    for (index_t b = 0; b < count_; ++b) {
      index_t columns = 0;
      for (index_t w = 0; w < words; ++w) {
        columns += std::popcount(this->bits(a)[w] & this->bits(b)[w]);
      }
      shared_[static_cast<std::size_t>(a * count_ + b)] = columns;
    }
  }
}

}  // namespace gpu::cpu
