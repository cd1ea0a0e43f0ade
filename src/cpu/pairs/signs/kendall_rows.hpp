#pragma once
// Rows of Kendall's tau-b: S of a pair is an exact integer, from packed signs or by sorting.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <gpu/p_value.hpp>

#include "cpu/pairs/rows/decided_rows.hpp"
#include "cpu/pairs/rows/ordinary_ranks.hpp"
#include "stats/significance/kendall_test.hpp"

namespace gpu::cpu {

/// What all rows of Kendall's tau share once S of a pair is known.
class kendall_rows : public decided_rows {
 public:
  [[nodiscard]] index_t size() const override { return static_cast<index_t>(ties_.size()); }

 protected:
  kendall_rows(index_t rows, index_t cols);

  [[nodiscard]] index_t cols() const { return test_.observations(); }
  [[nodiscard]] const row_ties& ties_of(index_t i) const {
    return ties_[static_cast<std::size_t>(i)];
  }
  void set_ties(index_t i, const row_ties& ties) { ties_[static_cast<std::size_t>(i)] = ties; }
  /// Pairs of columns that are not tied in row i: S with itself.
  [[nodiscard]] std::int64_t untied(index_t i) const { return test_.pairs() - ties_of(i).pairs; }
  /// What stands for tau of a pair: p where that is asked for, NaN where the cut drops the pair.
  [[nodiscard]] double taken(const pair_task& task, index_t i, index_t j, std::int64_t s,
                             double tau) const;
  /// The cut on p that says what it is; null where it is tau itself.
  [[nodiscard]] static const stats::kendall_cut* cut_of(const pair_task& task) {
    if (task.tied_tests.kendall != nullptr) return task.tied_tests.kendall;
    return task.tied != nullptr ? task.tied->p : nullptr;
  }
  /// What it is of a pair that this cut drops.
  [[nodiscard]] static double dropped(const pair_task& task);

 private:
  stats::kendall_test test_;
  std::vector<row_ties> ties_;
};

/// Whether rows are short enough for signs; longer ones are sorted pair by pair.
[[nodiscard]] bool takes_signs(index_t cols);

/// Bytes of a packed row of so many columns; of what a thread needs for pairs, and to pack rows.
std::size_t kendall_row_bytes(index_t cols);
std::size_t kendall_scratch_bytes(index_t cols);
std::size_t kendall_packing_bytes(index_t cols);

/// Packs ranks: by signs where takes_signs() and not `is_naive`, else to be sorted pair by pair.
template <class Integer>
std::unique_ptr<pair_rows> make_kendall_rows(ordinary_ranks<Integer> ranks, bool is_naive,
                                             int threads);

}  // namespace gpu::cpu
