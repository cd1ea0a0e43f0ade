#pragma once
// Whether a cut is strict enough to screen for, and by what: one visible pure function.

#include <optional>

#include <gpu/index.hpp>

#include "correlation/screen_policy.hpp"
#include "plan/pair_engine.hpp"

namespace gpu::detail {

struct screen_choice {
  kernels::screen_operand operand;
  int depth;   ///< Bytes of a packed row.
  double cut;  ///< Pairs below this magnitude are dropped.
};

/// How to screen Spearman pairs of `cols` observations for `keep`, or nothing where too many pairs
/// would pass for the screen to pay.
std::optional<screen_choice> choose_screen(const keep_range& keep, index_t cols);

/// Bytes of a packed row of exact ranks; at most 128 columns.
int screen_depth(index_t cols);

/// Candidates per pair from which on it does not pay: then the tiles that decide every pair are
/// faster.
inline constexpr double most_screened_share = 1e-4;

}  // namespace gpu::detail
