#include "cpu/pairs/rows/pair_rows.hpp"

#include <numeric>
#include <utility>

#include "stats/bins.hpp"

namespace gpu::cpu {

row_layout layout_of(const row_selection& selection, const std::vector<index_t>& section_rows) {
  const auto rows_before = [&](std::size_t section) {
    return std::accumulate(section_rows.begin(),
                           section_rows.begin() + static_cast<std::ptrdiff_t>(section), index_t{0});
  };
  const std::size_t own = selection.rows_section;
  row_layout out{.first = rows_before(section_rows.size()),
                 .asked = {rows_before(own), rows_before(own + 1)}};
  if (selection.is_across) {
    out.first = section_rows.front();
    out.second = section_rows.back();
    if (out.second == 0) out.asked = {};
  }
  if (selection.pattern_part.of > 1) {
    const detail::pair_area area = detail::area_of_patterns(
        out.first + out.second, out.first, selection.is_across, selection.pattern_part);
    if (!out.asked.is_empty()) out.asked = {area.rows.begin, area.rows.end};
  }
  return out;
}

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

void pair_rows::matches(const pair_tile& tile, const detail::keep_range& keep,
                        pair_scratch& scratch, hit_buffer& out) const {
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

std::uint64_t pair_rows::count(const pair_tile& tile, const detail::keep_range& keep,
                               pair_scratch& scratch, std::uint32_t* row_degree,
                               std::uint32_t* col_degree, const pair_bins& bins) const {
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

row_preparation prepare_rows(const detail::pair_tables& tables, const row_options& options) {
  switch (options.what.form) {
    case detail::row_form::ranks:
    case detail::row_form::signs:
      return prepare_rank_rows(tables, options);
    case detail::row_form::unit_values:
      return prepare_unit_rows(tables, options);
    case detail::row_form::shared_ranks:
    case detail::row_form::shared_values:
      return prepare_pairwise_rows(tables, options);
  }
  return {};
}

void keep_rows(const input_rows& input, const detail::measure_traits& what, pair_variant variant,
               int threads, kept_rows& out) {
  switch (what.form) {
    case detail::row_form::ranks:
    case detail::row_form::signs:
      return keep_rank_rows(input, variant, threads, out);
    case detail::row_form::unit_values:
      return keep_unit_rows(input, what, threads, out);
    case detail::row_form::shared_ranks:
    case detail::row_form::shared_values:
      return;  // refused by prepare_rows
  }
}

}  // namespace gpu::cpu
