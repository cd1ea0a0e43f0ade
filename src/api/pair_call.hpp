#pragma once
// An all-pairs call as its engine takes it: the descriptor of its measure and its tables, of rows
// with missing values or with covariates and weights where the options say so.

#include <memory>
#include <optional>

#include <gpu/detail/all_pairs.hpp>

#include "pairs/columns/column_model.hpp"
#include "pairs/columns/column_rows.hpp"
#include "pairs/measures/measures.hpp"

namespace gpu::inline v0::detail {

/// What a sink does with p: whether it has p of single pairs, which may be by permutations.
enum class p_use { of_pairs, none };

class pair_call {
 public:
  /// Checks what it uses of the options. The tables' data outlives it.
  pair_call(measure what, const pair_tables& tables, const pair_options& options,
            p_use use = p_use::of_pairs);
  pair_call(const pair_call&) = delete;
  pair_call& operator=(const pair_call&) = delete;

  [[nodiscard]] const measure_traits& what() const { return what_; }
  [[nodiscard]] const pair_tables& tables() const { return tables_; }
  /// Covariates and weights, or null.
  [[nodiscard]] const std::shared_ptr<const column_model>& columns() const { return columns_; }

 private:
  std::shared_ptr<const column_model> columns_;
  measure_traits what_;
  std::optional<column_rows> x_;
  std::optional<column_rows> y_;
  pair_tables tables_;
};

/// The use that a sink makes of p.
template <class Sink>
inline constexpr p_use p_use_of = p_use::of_pairs;
template <class Value>
inline constexpr p_use p_use_of<basic_dense_sink<Value>> = p_use::none;
template <>
inline constexpr p_use p_use_of<connectivity_sink> = p_use::none;

/// Refuses covariates and weights of columns where `where` does not take them.
/// Refuses covariates, weights of columns and effective observations where `where` does not take
/// them.
void refuse_columns(const pair_options& options, const char* where);

}  // namespace gpu::inline v0::detail
