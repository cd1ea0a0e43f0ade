#pragma once
// Ranked rows sorted by class: rows of the same sum of squares. For two classes the cut is one
// least sum of products, an integer, so that loose cuts are counted by integers alone.

#include <cstdint>
#include <span>
#include <vector>

#include <gpu/index.hpp>

#include "cpu/pairs/loops/kernels.hpp"
#include "cpu/pairs/rows/input_rows.hpp"
#include "cpu/pairs/rows/pair_rows.hpp"
#include "cpu/pairs/search/packed_columns.hpp"

namespace gpu::cpu {

class classed_rows {
 public:
  classed_rows() = default;
  /// Rows of `cols` <= most_classed_cols centred doubled ranks, not constant, that stand as
  /// `layout` says. The rows of each of its ranges are sorted by themselves, and stay apart.
  classed_rows(const pair_kernels& kernels, const std::int8_t* ranks, index_t cols,
               const std::vector<std::int64_t>& square_sums, const row_layout& layout, int threads);

  /// Whether rows of `cols` ranks can be counted so, and share classes enough for what each costs.
  static bool pays(index_t cols, const std::vector<std::int64_t>& square_sums);

  [[nodiscard]] bool is_empty() const { return columns_.is_empty(); }
  /// The row that stands at each place of the order by classes.
  [[nodiscard]] std::span<const node_id> order() const { return order_; }

  /// As pair_search::count, of a tile in the order by classes. Keeps rho of at least `cut` of the
  /// `side`; a float product of two roots and the cut is off by less than `band`.
  std::uint64_t count(const pair_tile& tile, double cut, cut_side side, float band,
                      std::uint32_t* row_degree, std::uint32_t* col_degree,
                      const pair_bins& bins) const;

 private:
  std::uint64_t (*count_)(const class_tile&, std::uint32_t*, std::uint32_t*) = nullptr;
  packed_columns columns_;
  std::vector<node_id> order_;
  std::vector<std::int32_t> square_sums_;  // in order, as all below
  std::vector<float> roots_;               // padded
  std::vector<float> inverses_;            // 1 / root, padded
};

}  // namespace gpu::cpu
