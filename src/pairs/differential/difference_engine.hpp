#pragma once
// What finds pairs with a difference on a device: the statistics of both groups stay there, and
// only the pairs that a screen lets pass come back.

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <gpu/detail/any_view.hpp>
#include <gpu/execution.hpp>
#include <gpu/index.hpp>
#include <gpu/pair_options.hpp>

#include "base/cuda_function.hpp"
#include "base/index_range.hpp"
#include "pairs/measures/measures.hpp"
#include "stats/difference_screen.hpp"

namespace gpu::inline v0::detail {

/// A group of columns: a table in host memory that has them alone, or a table in device memory and
/// which of its columns they are.
struct column_group {
  any_table table;
  std::span<const index_t> columns = {};
};

/// Rows without a statistic, ascending, and what computed that.
struct rows_without_statistic {
  std::vector<index_t> constant = {};
  std::vector<index_t> with_nan = {};
  std::string device = {};
};

/// Pairs of some rows that a screen let pass: those of row rows.begin + i are [begin[i],
/// begin[i + 1]), with ascending columns.
struct screened_pairs {
  index_range rows;
  std::span<const std::uint64_t> begin;  ///< [rows + 1], from 0
  const node_id* cols;                   ///< The other row of the table.
  const double* first;                   ///< The statistic over the first group.
  const double* second;                  ///< The same over the second group.
};

/// Both groups of a table on one backend. What the members call, they call on the thread that
/// called them, one at a time.
class difference_engine {
 public:
  virtual ~difference_engine() = default;
  /// Of both groups.
  [[nodiscard]] virtual const std::array<rows_without_statistic, 2>& left_out() const = 0;

  /// take(pairs) for the pairs of `rows` with all later rows that `screen` may keep: rows
  /// ascending, each row whole. With `degrees`, [rows of the table], pairs that it surely keeps are
  /// counted there for both of their rows, and not given.
  using pair_taker = std::function<void(const screened_pairs&)>;
  virtual void find_later(index_range rows, const stats::difference_screen& screen,
                          std::vector<std::uint32_t>* degrees, const pair_taker& take) = 0;
  /// take(pairs, bars) for the pairs of `rows` with all other rows, once seen from each row of
  /// `rows`. `bars`, [pairs.rows], are the least ratios of these rows: at first screen.bar, from
  /// then on what take() has written there. A row may come several times, with higher columns.
  using partner_taker = std::function<void(const screened_pairs&, std::span<double> bars)>;
  virtual void find_partners(index_range rows, const stats::difference_screen& screen, index_t k,
                             const partner_taker& take) = 0;
};

}  // namespace gpu::inline v0::detail

namespace gpu::cuda {
/// The rows of both groups on the devices that `exec` names; a row with a NaN has no statistic.
/// Columns of a table in device memory are gathered there, once the caller's stream has passed.
/// @throw gpu::invalid_argument where such a table is on none of the devices.
GPU_SIMILARITY_CUDA_FUNCTION std::unique_ptr<detail::difference_engine> make_difference_engine(
    const detail::measure_traits& what, const std::array<detail::column_group, 2>& groups,
    pair_variant variant, const execution& exec) GPU_SIMILARITY_OR_THROW;
}  // namespace gpu::cuda
