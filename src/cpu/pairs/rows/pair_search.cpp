#include "cpu/pairs/rows/pair_search.hpp"

#include <cstddef>
#include <utility>

#include "stats/bins.hpp"

namespace gpu::cpu {

pair_hit* hit_buffer::room_for(index_t more) {
  const std::size_t needed = size_ + static_cast<std::size_t>(more);
  if (needed > data_.size()) {
    constexpr std::size_t least = 1024;
    aligned_buffer<pair_hit> larger(std::max({least, needed, 2 * data_.size()}));
    std::copy_n(data_.data(), size_, larger.data());
    data_ = std::move(larger);
  }
  return data_.data() + size_;
}

pair_scratch::pair_scratch(std::size_t kernel_bytes)
    : statistics(static_cast<std::size_t>(pair_policy::block_rows * pair_policy::block_cols)),
      kernel(kernel_bytes) {}

pair_scratch& pair_search::scratch(int thread) {
  auto& slot = scratch_[static_cast<std::size_t>(thread)];
  if (!slot) slot = std::make_unique<pair_scratch>(kernel_bytes());
  return *slot;
}

search_tally pair_search::tally() const {
  search_tally sum;
  for (const auto& slot : scratch_) {
    if (!slot) continue;
    sum.searched += slot->tally.searched;
    sum.candidates += slot->tally.candidates;
  }
  return sum;
}

void pair_search::clear_tallies() {
  for (const auto& slot : scratch_) {
    if (slot) slot->tally = {};
  }
}

void pair_search::take_scratch(pair_search& earlier) {
  const std::size_t threads = std::min(scratch_.size(), earlier.scratch_.size());
  std::move(earlier.scratch_.begin(),
            earlier.scratch_.begin() + static_cast<std::ptrdiff_t>(threads), scratch_.begin());
  clear_tallies();
}

void pair_search::matches(const pair_tile& tile, pair_scratch& scratch, hit_buffer& out) const {
  const detail::keep_range keep = task_.keep;
  for_each_upper_block(tile, [&](const pair_tile& block) {
    double* const values = scratch.statistics.data();
    upper_statistics(block, scratch, values);
    for (index_t i = block.row_begin; i < block.row_end; ++i) {
      const double* row = values + (i - block.row_begin) * pair_policy::block_cols;
      pair_hit* const hits = out.room_for(block.cols() + 1);
      index_t kept = 0;
      for (index_t j = first_upper_column(block, i); j < block.col_end; ++j) {
        const double r = row[j - block.col_begin];
        // Without a branch: the next one is written over what does not pass.
        hits[kept] = {static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(j), r};
        kept += keep.keeps(r) ? 1 : 0;
      }
      out.add(kept);
    }
  });
}

std::uint64_t pair_search::count(const pair_tile& tile, pair_scratch& scratch,
                                 std::uint32_t* row_degree, std::uint32_t* col_degree,
                                 const pair_bins& bins) const {
  const detail::keep_range keep = task_.keep;
  std::uint64_t kept = 0;
  for_each_upper_block(tile, [&](const pair_tile& block) {
    double* const values = scratch.statistics.data();
    upper_statistics(block, scratch, values);
    std::uint32_t* columns = col_degree + (block.col_begin - tile.col_begin);
    for (index_t i = block.row_begin; i < block.row_end; ++i) {
      const double* row = values + (i - block.row_begin) * pair_policy::block_cols;
      std::uint32_t degree = 0;
      for (index_t j = first_upper_column(block, i) - block.col_begin; j < block.cols(); ++j) {
        const std::uint32_t hit = keep.keeps(row[j]) ? 1 : 0;
        degree += hit;
        columns[j] += hit;
        if (bins.count > 0 && hit != 0) ++bins.histogram[detail::histogram_bin(row[j], bins.count)];
      }
      row_degree[i - tile.row_begin] += degree;
      kept += degree;
    }
  });
  return kept;
}

}  // namespace gpu::cpu
