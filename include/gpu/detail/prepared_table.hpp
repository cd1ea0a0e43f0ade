#pragma once
/// @file
/// What a gpu::prepared_rows refers to: a table that a backend has prepared for all pairs.

#include <memory>
#include <string>
#include <vector>

#include <gpu/detail/all_pairs.hpp>
#include <gpu/detail/any_view.hpp>
#include <gpu/execution.hpp>
#include <gpu/export.hpp>
#include <gpu/index.hpp>
#include <gpu/p_value.hpp>
#include <gpu/pair_options.hpp>

namespace gpu {
inline namespace v0 {
namespace detail {

class column_model;

/// A prepared table. Backends add what they prepared; nothing of it changes afterwards.
class prepared_table {
 public:
  prepared_table() = default;
  virtual ~prepared_table() = default;
  prepared_table(const prepared_table&) = delete;
  prepared_table& operator=(const prepared_table&) = delete;

  measure what = measure::spearman;                ///< Of which measure.
  index_t rows = 0;                                ///< Rows of the table.
  index_t cols = 0;                                ///< Observations.
  std::vector<index_t> constant_rows = {};         ///< Ascending.
  std::vector<index_t> nan_rows = {};              ///< Ascending.
  std::vector<index_t> infinite_rows = {};         ///< Ascending; not in constant_rows.
  backend where = backend::cpu;                    ///< Whose rows they are.
  pair_variant variant = pair_variant::automatic;  ///< What they are packed for.
  std::string device = {};                         ///< Device name or "cpu".
  double seconds = 0;                              ///< That preparing them took.
  std::vector<row_ties> ties = {};                 ///< Of the rows, of signs on CUDA.
  /// Covariates and weights that the rows were prepared with; null: none.
  std::shared_ptr<const column_model> columns = {};
};

/// Prepares a table, x, for calls of the same measure.
GPU_SIMILARITY_EXPORT std::shared_ptr<const prepared_table> prepare_table(
    measure what, const pair_tables& data, const pair_options& options);

}  // namespace detail
}  // namespace v0
}  // namespace gpu
