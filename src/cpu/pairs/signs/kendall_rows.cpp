#include "cpu/pairs/signs/kendall_rows.hpp"

#include <algorithm>
#include <utility>

#include "base/parallel.hpp"
#include "cpu/pairs/signs/packed_signs.hpp"
#include "cpu/pairs/signs/sign_kernels.hpp"
#include "cpu/pairs/signs/sorted_rows.hpp"
#include "stats/shared_columns.hpp"

namespace gpu::cpu {
namespace {

// Calls store(row, values, ties, scratch) for every row of ranks, by several threads: `values` are
// its ranks numbered from 0 on without gaps.
template <class Scratch, class Integer, class Store>
void number_rows(const ordinary_ranks<Integer>& ranks, int threads, const Store& store) {
  constexpr index_t values_per_task = index_t{1} << 15;
  const index_t cols = ranks.stride;
  const index_t at_once = std::max<index_t>(1, values_per_task / cols);
  detail::parallel_for_ranges(
      ranks.size(), at_once, detail::thread_count(threads), [&](detail::index_range some, int) {
        std::vector<std::uint32_t> count(static_cast<std::size_t>(2 * cols));
        std::vector<std::uint32_t> values(static_cast<std::size_t>(cols));
        Scratch scratch;
        for (index_t i = some.begin; i < some.end; ++i) {
          const auto place = [&](index_t k) {
            return static_cast<std::size_t>(index_t{ranks.row(i)[k]} + cols);
          };
          std::fill(count.begin(), count.end(), 0U);
          for (index_t k = 0; k < cols; ++k) ++count[place(k)];
          row_ties ties;
          std::uint32_t number = 0;
          for (std::uint32_t& each : count) {
            if (each == 0) continue;
            stats::add_group(ties, each);
            each = number++;
          }
          for (index_t k = 0; k < cols; ++k) values[static_cast<std::size_t>(k)] = count[place(k)];
          store(i, values, ties, scratch);
        }
      });
}

}  // namespace

bool takes_signs(index_t cols) {
  return cols <= usable_sign_kernels().most_cols;
}

kendall_rows::kendall_rows(index_t rows, index_t cols)
    : test_(cols), ties_(static_cast<std::size_t>(rows)) {}

double kendall_rows::taken(const pair_task& task, index_t i, index_t j, std::int64_t s,
                           double tau) const {
  const stats::kendall_cut* const tests = task.tied_tests.kendall;
  if (tests != nullptr) return tests->p_within(s, ties_of(i), ties_of(j));
  if (task.tied == nullptr) return tau;
  const bool is_kept = task.tied->keep.keeps(tau) && task.tied->p->keeps(s, ties_of(i), ties_of(j));
  return is_kept ? tau : detail::no_statistic;
}

double kendall_rows::dropped(const pair_task& task) {
  return task.tied_tests.kendall != nullptr ? 1.0 : detail::no_statistic;
}

std::size_t kendall_row_bytes(index_t cols) {
  const std::size_t of_ranks = static_cast<std::size_t>(cols) * sizeof(std::int32_t);
  return of_ranks + (takes_signs(cols) ? packed_signs_bytes(cols) : sorted_row_bytes(cols)) +
         sizeof(row_ties);
}

std::size_t kendall_scratch_bytes(index_t cols) {
  return takes_signs(cols) ? sign_scratch_bytes(cols) : sorted_scratch_bytes(cols);
}

std::size_t kendall_packing_bytes(index_t cols) {
  const std::size_t of_numbers = 3 * static_cast<std::size_t>(cols) * sizeof(std::uint32_t);
  return of_numbers + (takes_signs(cols) ? sign_packing_bytes(cols) : sorted_packing_bytes(cols));
}

template <class Integer>
std::unique_ptr<pair_rows> make_kendall_rows(ordinary_ranks<Integer> ranks, bool is_naive,
                                             int threads) {
  const index_t rows = ranks.size();
  const index_t cols = ranks.stride;
  const auto filled = [&](auto made) -> std::unique_ptr<pair_rows> {
    using scratch_type = typename decltype(made)::element_type::store_scratch;
    number_rows<scratch_type>(
        ranks, threads,
        [&](index_t i, const std::vector<std::uint32_t>& values, const row_ties& ties,
            scratch_type& scratch) { made->store(i, values, ties, scratch); });
    made->finish();
    return made;
  };
  if (is_naive || !takes_signs(cols)) return filled(std::make_unique<sorted_rows>(rows, cols));
  return filled(std::make_unique<packed_signs>(rows, cols));
}

template std::unique_ptr<pair_rows> make_kendall_rows(ordinary_ranks<std::int8_t>, bool, int);
template std::unique_ptr<pair_rows> make_kendall_rows(ordinary_ranks<std::int16_t>, bool, int);
template std::unique_ptr<pair_rows> make_kendall_rows(ordinary_ranks<std::int32_t>, bool, int);

}  // namespace gpu::cpu
