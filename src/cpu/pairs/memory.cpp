#include "cpu/pairs/memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include <gpu/error.hpp>

#include "cpu/pairs/choice/policy.hpp"
#include "cpu/pairs/choice/row_form.hpp"
#include "cpu/pairs/pairwise/pairwise_rows.hpp"
#include "cpu/pairs/rows/pair_rows.hpp"
#include "cpu/pairs/signs/kendall_rows.hpp"

namespace gpu::cpu {
namespace {

// An edge that waits to be put in order, before and after.
constexpr std::size_t bytes_per_waiting_edge = sizeof(pair_hit) + sizeof(edge);
constexpr std::size_t least_waiting_edges = 1024;

// Square sum, length and scale; number; classes of which sorted rows are.
constexpr std::size_t bytes_beside = 48;

// Kernels for tiles take whole ones of 64 bytes, doubles come in eights.
constexpr std::size_t padding_of(index_t cols) {
  return cols <= 16 ? 8 : 64;
}

std::size_t unit_row_bytes(index_t cols) {
  const bool has_floats = choose_cpu_unit_form(cols) == cpu_unit_form::floats;
  const std::size_t rounded = has_floats ? sizeof(float) : sizeof(std::int16_t);
  return static_cast<std::size_t>(cols) * (sizeof(double) + rounded) + padding_of(cols) +
         bytes_beside;
}

std::size_t rank_row_bytes(index_t cols, bool has_int8_sums) {
  const auto elements = static_cast<std::size_t>(cols);
  const cpu_rank_form form = choose_cpu_rank_form(cols, has_int8_sums);
  if (form == cpu_rank_form::bytes) {
    return (cols <= 64 ? 2 * elements + 4 : elements + 128) + bytes_beside;
  }
  // Ranks, and 16 bits in columns.
  const std::size_t in_columns =
      elements * sizeof(std::int16_t) + (has_int8_sums ? padding_of(cols) : 4);
  return elements * static_cast<std::size_t>(cpu_rank_bytes(form, cols)) + in_columns +
         bytes_beside;
}

// A packed row, and the largest of the forms that kernels take: one at a time. `cols` are those of
// the input.
std::size_t row_bytes(const detail::measure_traits& what, index_t cols, bool has_int8_sums) {
  switch (what.form) {
    case detail::row_form::ranks:
      return rank_row_bytes(what.packed_cols(cols), has_int8_sums);
    case detail::row_form::unit_values:
      return unit_row_bytes(what.packed_cols(cols));
    case detail::row_form::signs:
      return kendall_row_bytes(cols) + bytes_beside;
    case detail::row_form::shared_ranks:
    case detail::row_form::shared_values:
    case detail::row_form::shared_signs:
      break;
  }
  return pairwise_row_bytes(what, cols);
}

// What may be kept of a row with missing values for all masks; 0 for other rows.
std::size_t row_mask_bytes(const detail::measure_traits& what, index_t cols) {
  switch (what.form) {
    case detail::row_form::shared_ranks:
    case detail::row_form::shared_values:
      return pairwise_mask_bytes(what, cols);
    case detail::row_form::ranks:
    case detail::row_form::unit_values:
    case detail::row_form::signs:
    case detail::row_form::shared_signs:
      break;
  }
  return 0;
}

// What packed_rows copies of a row of a task. Rounded rows and blocks of products are read where
// they are; these are screened at most.
std::size_t row_step_bytes(bool is_rounded, index_t cols) {
  if (!is_rounded) return static_cast<std::size_t>(cols + 1) * sizeof(float);
  return cols <= pair_policy::most_screened_cols ? 2 * static_cast<std::size_t>(cols + 1) : 0;
}

// What a thread keeps of the rows of a task.
std::size_t task_bytes(const detail::measure_traits& what, index_t cols, bool has_int8_sums) {
  constexpr auto rows = static_cast<std::size_t>(pair_policy::task_rows);
  const index_t packed_cols = what.packed_cols(cols);
  switch (what.form) {
    case detail::row_form::ranks: {
      const cpu_rank_form form = choose_cpu_rank_form(packed_cols, has_int8_sums);
      return rows * row_step_bytes(form >= cpu_rank_form::products, packed_cols);
    }
    case detail::row_form::unit_values: {
      const cpu_unit_form form = choose_cpu_unit_form(packed_cols);
      return rows * row_step_bytes(form == cpu_unit_form::rounded, packed_cols);
    }
    case detail::row_form::signs:
      return kendall_scratch_bytes(cols);
    case detail::row_form::shared_ranks:
    case detail::row_form::shared_values:
    case detail::row_form::shared_signs:
      break;
  }
  return pairwise_scratch_bytes(what, cols);
}

std::size_t scratch_bytes(const detail::measure_traits& what, index_t cols, bool has_int8_sums,
                          int threads, std::size_t double_bytes) {
  const auto block = static_cast<std::size_t>(pair_policy::block_rows * pair_policy::block_cols);
  const std::size_t per_thread = block * (sizeof(double) + sizeof(std::int32_t)) +
                                 task_bytes(what, cols, has_int8_sums) + double_bytes;
  return static_cast<std::size_t>(threads) * per_thread;
}

// Input rows that are prepared at a time: a few MiB.
constexpr index_t rows_per_piece(index_t cols) {
  constexpr index_t elements = index_t{1} << 20;
  return elements / cols + 64;
}

// A window with a limit has a share of its rows in addition, on the way to it.
constexpr index_t rows_per_window_piece = 4;

// Two halves of whole groups of columns.
index_t whole_window(std::size_t rows, index_t least) {
  constexpr index_t step = 2 * pair_policy::window_step;
  return std::max(least, static_cast<index_t>(rows) / step * step);
}

// The rows of the smallest window.
index_t least_window(std::size_t limit, std::size_t per_row) {
  const bool is_short_of = limit != 0 && per_row > pair_policy::limited_row_bytes;
  return is_short_of ? pair_policy::least_limited_rows : pair_policy::least_window_rows;
}

}  // namespace

index_t window_rows_beside(const pair_memory& memory, std::size_t bytes) {
  const auto rows = static_cast<std::size_t>(memory.window_rows);
  return whole_window(rows - std::min(bytes / memory.row_bytes, rows / 4 * 3), memory.least_window);
}

pair_memory plan_pair_memory(const detail::measure_traits& what, index_t rows, index_t cols,
                             bool has_int8_sums, int threads, std::size_t limit,
                             std::size_t double_bytes) {
  const std::size_t packed_row = row_bytes(what, cols, has_int8_sums);
  const std::size_t per_row =
      limit == 0 ? packed_row : packed_row + packed_row / rows_per_window_piece + 1;
  const std::size_t scratch = scratch_bytes(what, cols, has_int8_sums, threads, double_bytes);
  const std::size_t all = static_cast<std::size_t>(rows) * per_row;
  const index_t least_window_rows = least_window(limit, per_row);
  const std::size_t row_masks = row_mask_bytes(what, cols);
  const std::size_t all_masks = static_cast<std::size_t>(rows) * row_masks;
  const auto finished = [&](index_t window, std::size_t waiting, std::size_t masks) {
    return pair_memory{
        .window_rows = window,
        .is_windowed = window < rows,
        .least_window = least_window_rows,
        .row_bytes = per_row,
        .piece_rows = limit == 0 ? rows_per_piece(cols)
                                 : std::min(rows_per_piece(cols),
                                            std::max<index_t>(1, window / rows_per_window_piece)),
        .waiting_edges = waiting,
        .mask_bytes = masks,
        .bytes = static_cast<std::size_t>(window) * per_row + masks + scratch +
                 waiting * bytes_per_waiting_edge};
  };
  if (limit == 0) {
    const std::size_t of_long_rows =
        std::min(static_cast<std::size_t>(std::min(rows, pair_policy::long_row_window)) * per_row,
                 pair_policy::long_row_bytes);
    const std::size_t more = of_long_rows - std::min(of_long_rows, pair_policy::packed_bytes / 2);
    const std::size_t budget = pair_policy::memory_bytes + more;
    const std::size_t left = budget - std::min(scratch, budget / 2);
    const std::size_t packed = left - (pair_policy::memory_bytes - pair_policy::packed_bytes);
    if (all <= packed) {
      const std::size_t masks = std::min(packed - all, all_masks);
      return finished(
          rows, std::min(pair_policy::panel_edges, (left - all - masks) / bytes_per_waiting_edge),
          masks);
    }
    // Smaller windows meet more often; two thirds of their memory for masks cost little of that.
    const std::size_t for_rows = left - pair_policy::panel_edges * bytes_per_waiting_edge;
    const std::size_t of_row = std::min(row_masks, 2 * per_row);
    const index_t window =
        std::min(rows, whole_window(for_rows / (per_row + of_row), least_window_rows));
    const std::size_t masks = static_cast<std::size_t>(window) * of_row;
    const bool fits = static_cast<std::size_t>(window) * per_row + masks <= for_rows;
    return finished(window, pair_policy::panel_edges, fits ? masks : 0);
  }
  const std::size_t least_waiting = least_waiting_edges * bytes_per_waiting_edge;
  const std::size_t least_rows =
      static_cast<std::size_t>(std::min(rows, least_window_rows)) * per_row;
  const std::size_t least = scratch + least_rows + least_waiting;
  if (limit < least) {
    throw out_of_memory(
        fmt::format("execution.workspace_bytes: got {}, the rows and threads need at least {}",
                    limit, least),
        least);
  }
  const std::size_t left = limit - scratch;
  if (all + least_waiting <= left) {
    const std::size_t masks = std::min((left - all - least_waiting) / 2, all_masks);
    return finished(
        rows, std::min(pair_policy::panel_edges, (left - all - masks) / bytes_per_waiting_edge),
        masks);
  }
  const std::size_t waiting = std::max(
      least_waiting,
      std::min({left - least_rows, left / 4, pair_policy::panel_edges * bytes_per_waiting_edge}));
  return finished(std::min(rows, whole_window((left - waiting) / per_row, least_window_rows)),
                  waiting / bytes_per_waiting_edge, 0);
}

}  // namespace gpu::cpu
