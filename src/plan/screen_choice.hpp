#pragma once
// Whether a cut is strict enough to screen for, and by what: one visible pure function.

#include <optional>

#include <gpu/detail/all_pairs.hpp>
#include <gpu/index.hpp>

#include "base/keep_range.hpp"
#include "plan/screen_policy.hpp"

namespace gpu::detail {

struct screen_choice {
  kernels::screen_operand operand;
  int depth;   ///< Bytes of a packed row.
  double cut;  ///< Pairs below this magnitude are dropped.
  /// Candidates per pair from which on it does not pay: then the tiles that decide every pair are
  /// faster.
  double most_share;
  double least_judged_pairs;  ///< A share says little before this many pairs.
};

/// How to screen pairs of rows of `cols` observations for `keep`, or nothing where too many pairs
/// would pass for the screen to pay.
std::optional<screen_choice> choose_screen(measure what, const keep_range& keep, index_t cols);

/// Bytes of a packed row of exact ranks; at most 128 columns.
int screen_depth(index_t cols);
/// Bytes of a packed row of rounded values.
int rounded_depth(index_t cols);

}  // namespace gpu::detail
