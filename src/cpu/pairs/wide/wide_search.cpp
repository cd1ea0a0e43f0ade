#include "cpu/pairs/wide/wide_search.hpp"

#include <cmath>
#include <utility>

namespace gpu::cpu {
namespace {

// What rounding takes from a cut, about, before there are rounded rows.
constexpr double usual_error = 4e-4;

// key(x): what is compared with a cut on this side.
template <class Body>
void with_key(cut_side side, const Body& body) {
  switch (side) {
    case cut_side::magnitude:
      return body([](double x) { return std::abs(x); });
    case cut_side::positive:
      return body([](double x) { return x; });
    case cut_side::negative:
      return body([](double x) { return -x; });
  }
}

}  // namespace

wide_search::wide_search(const packed_form& form, const pair_task& task, int threads,
                         wide_search* earlier)
    : packed_search(form, task, threads, earlier) {
  if (earlier != nullptr) products_ = std::move(earlier->products_);
}

std::size_t wide_search::kernel_bytes() const {
  const bool may_be_screened =
      layout().has_kernel_groups() && cols() <= pair_policy::most_screened_cols;
  return may_be_screened ? row_screen::scratch_bytes(kernels(), cols()) : 0;
}

void wide_search::make_ready() {
  packed_search::make_ready();
  // Rows with a few large values are rounded worse than expected.
  if (way() == cpu_pair_way::search && search_error() > usual_error) packed_search::make_ready();
}

bool wide_search::searches() const {
  if (task().wanted == pair_task::output::above) return finds_above();
  return cut() && way() == cpu_pair_way::search;
}

void wide_search::pack_sums() {
  if (!searches()) {
    products_ = {};
    return;
  }
  if (products_.is_empty()) products_ = make_products();
}

double wide_search::search_error() const {
  return products_.is_empty() ? usual_error : products_.error();
}

void wide_search::search_sums(const pair_tile& tile, const kernel_cut& how, pair_scratch& scratch,
                              const exact_test& test) const {
  double* const sums = scratch.statistics.data();
  const double least = (how.cut - products_.error()) * products_.square_scale();
  with_key(how.side, [&](const auto& key) {
    for_each_upper_block(tile, [&](const pair_tile& block) {
      products_.upper_sums(block, sums);
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

// Pairs that pass for sure are not decided.
std::uint64_t wide_search::count(const pair_tile& tile, pair_scratch& scratch,
                                 std::uint32_t* row_degree, std::uint32_t* col_degree,
                                 const pair_bins& bins) const {
  if (!cut() || bins.count > 0 || way() != cpu_pair_way::search) {
    return packed_search::count(tile, scratch, row_degree, col_degree, bins);
  }
  if (keeps_none()) return 0;
  const detail::keep_range keep = task().keep;
  double* const sums = scratch.statistics.data();
  const double least = (cut()->cut - products_.error()) * products_.square_scale();
  const double sure = (cut()->cut + products_.error()) * products_.square_scale();
  std::uint64_t kept = 0;
  std::uint64_t decided = 0;
  with_key(cut()->side, [&](const auto& key) {
    for_each_upper_block(tile, [&](const pair_tile& block) {
      products_.upper_sums(block, sums);
      std::uint32_t* const columns = col_degree + (block.col_begin - tile.col_begin);
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
        decided += near;
        for (index_t j = first; near > 0; ++j) {
          const double x = key(row[j]);
          if (x > sure || !(x >= least)) continue;
          --near;
          if (!keep.keeps(exact(i, block.col_begin + j))) continue;
          ++degree;
          ++columns[j];
        }
        row_degree[i - tile.row_begin] += degree;
        kept += degree;
      }
    });
  });
  note_searched(tile, decided, scratch);
  return kept;
}

void wide_search::above(const pair_tile& tile, const double* bars, bool by_magnitude,
                        pair_scratch& scratch, pair_visitor visit) const {
  double* const sums = scratch.statistics.data();
  with_key(by_magnitude ? cut_side::magnitude : cut_side::positive, [&](const auto& key) {
    for_each_block(tile, [&](const pair_tile& block) {
      products_.sums(block, sums);
      for (index_t i = block.row_begin; i < block.row_end; ++i) {
        const double* const row = sums + (i - block.row_begin) * pair_policy::block_cols;
        const index_t from_first = i - tile.row_begin;
        const double least = (bars[from_first] - products_.error()) * products_.square_scale();
        for (index_t j = block.col_begin; j < block.col_end; ++j) {
          if (!(key(row[j - block.col_begin]) >= least)) continue;
          visit(from_first, j - tile.col_begin, exact(i, j));
        }
      }
    });
  });
}

}  // namespace gpu::cpu
