#include "cpu/pairs/memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include <gpu/error.hpp>

#include "base/round_up.hpp"
#include "cpu/pairs/choice/policy.hpp"
#include "cpu/pairs/choice/row_form.hpp"
#include "cpu/pairs/loops/kernels.hpp"
#include "cpu/pairs/pairwise/pairwise_rows.hpp"
#include "cpu/pairs/rows/pair_rows.hpp"
#include "cpu/pairs/signs/kendall_rows.hpp"
#include "cpu/rank/centred_ranks.hpp"

namespace gpu::cpu {
namespace {

// An edge that waits to be put in order, before and after, and its share of what the threads find
// meanwhile.
constexpr std::size_t bytes_per_waiting_edge = sizeof(pair_hit) + sizeof(edge) + 8;
constexpr std::size_t least_waiting_bytes = 1024 * bytes_per_waiting_edge;

// Square sum, length and scale; number; the classes of sorted rows.
constexpr std::size_t bytes_beside = 48;

// Statistics and sums of a block of pairs.
constexpr std::size_t block_bytes =
    static_cast<std::size_t>(pair_policy::block_rows * pair_policy::block_cols) *
    (sizeof(double) + sizeof(std::int32_t));

// Kernels for tiles take whole ones of 64 bytes, doubles come in eights.
constexpr std::size_t padding_of(index_t cols) {
  return cols <= 16 ? 8 : 64;
}

std::size_t unit_row_bytes(index_t cols) {
  const bool has_floats = choose_cpu_unit_form(cols) == cpu_row_form::floats;
  const std::size_t rounded = has_floats ? sizeof(float) : sizeof(std::int16_t);
  return static_cast<std::size_t>(cols) * (sizeof(double) + rounded) + padding_of(cols) +
         bytes_beside;
}

std::size_t rank_row_bytes(index_t cols, bool has_int8_sums) {
  const auto elements = static_cast<std::size_t>(cols);
  const cpu_row_form form = choose_cpu_rank_form(cols, has_int8_sums);
  if (form == cpu_row_form::bytes) {
    return (cols <= 64 ? 2 * elements + 4 : elements + 128) + bytes_beside;
  }
  // Ranks, and 16 bits in columns.
  const std::size_t in_columns =
      elements * sizeof(std::int16_t) + (has_int8_sums ? padding_of(cols) : 4);
  return elements * static_cast<std::size_t>(cpu_rank_bytes(form, cols)) + in_columns +
         bytes_beside;
}

// What packed_search copies of a row of a task. Wide rows are read where they are; these are
// screened at most.
std::size_t row_step_bytes(bool is_wide, index_t cols) {
  if (!is_wide) return static_cast<std::size_t>(cols + 1) * sizeof(float);
  return cols <= pair_policy::most_screened_cols ? 2 * static_cast<std::size_t>(cols + 1) : 0;
}

// What rows of a form take.
struct row_needs {
  std::size_t row;    // packed, with the largest of the forms that kernels take: one at a time
  std::size_t plain;  // as it stands in a small window, without the forms for screen and search
  std::size_t masks;  // what may be kept of a row with missing values for all masks
  std::size_t task;   // what a thread keeps of the rows of a task
  std::size_t plain_task;
  std::size_t packing;  // what a thread takes to pack rows
};

// `cols` are those of the input.
row_needs needs_of(const detail::measure_traits& what, index_t cols, bool has_int8_sums) {
  constexpr auto rows = static_cast<std::size_t>(pair_policy::task_rows);
  const index_t packed_cols = what.packed_cols(cols);
  const auto plain = [&](index_t element_bytes) {
    return static_cast<std::size_t>(packed_cols * element_bytes) + padding_of(cols) + bytes_beside;
  };
  if (what.is_pairwise) {
    const pairwise_bytes bytes = pairwise_bytes_of(what, cols);
    return {.row = bytes.row,
            .plain = bytes.row,
            .masks = bytes.masks,
            .task = bytes.scratch,
            .plain_task = bytes.scratch,
            .packing = bytes.packing};
  }
  switch (what.form) {
    case detail::row_form::ranks: {
      const bool is_wide = choose_cpu_rank_form(packed_cols, has_int8_sums) == cpu_row_form::wide;
      return {.row = rank_row_bytes(packed_cols, has_int8_sums),
              .plain = plain(cpu_rank_bytes(cpu_row_form::wide, packed_cols)),
              .masks = 0,
              .task = rows * row_step_bytes(is_wide, packed_cols),
              .plain_task = 0,
              .packing = centred_ranks_bytes(cols)};
    }
    case detail::row_form::unit_values: {
      const bool is_wide = choose_cpu_unit_form(packed_cols) == cpu_row_form::wide;
      return {.row = unit_row_bytes(packed_cols),
              .plain = plain(sizeof(double)),
              .masks = 0,
              .task = rows * row_step_bytes(is_wide, packed_cols),
              .plain_task = 0,
              .packing = pairwise_bytes_of(what, cols).packing};
    }
    case detail::row_form::signs:
    case detail::row_form::bits:
      break;
  }
  const std::size_t row = kendall_row_bytes(cols) + bytes_beside;
  const std::size_t task = kendall_scratch_bytes(cols);
  return {.row = row,
          .plain = row,
          .masks = 0,
          .task = task,
          .plain_task = task,
          .packing = std::max(centred_ranks_bytes(cols), kendall_packing_bytes(cols))};
}

// Input rows that are prepared at a time: a few MiB.
constexpr index_t rows_per_piece(index_t cols) {
  constexpr index_t elements = index_t{1} << 20;
  return elements / cols + 64;
}

// A window with a limit has a share of its rows in addition, on the way to it.
constexpr index_t rows_per_window_piece = 4;

// A packed row with its share of those on the way.
constexpr std::size_t with_piece(std::size_t row_bytes) {
  return row_bytes + row_bytes / rows_per_window_piece + 1;
}

// How rows may stand in windows.
struct window_kind {
  std::size_t row_bytes;
  index_t least_rows;  // of a window
  index_t group;       // row_layout::group
  index_t padding;     // of what is packed: so many rows take as much as each number below
  std::size_t thread_bytes;

  [[nodiscard]] std::size_t bytes_of(index_t rows) const {
    return static_cast<std::size_t>(round_up(rows, padding)) * row_bytes;
  }
  // Two halves of whole groups of columns.
  [[nodiscard]] index_t whole_window(std::size_t rows) const {
    const index_t step = 2 * group;
    return std::max(least_rows, static_cast<index_t>(rows) / step * step);
  }
  // Of the smallest window of a table of so many rows.
  [[nodiscard]] std::size_t least_bytes(index_t rows) const {
    return bytes_of(std::min(rows, least_rows));
  }
};

// Without the forms that the kernels screen and search.
window_kind small_windows(const row_needs& needs, std::size_t double_bytes) {
  return {.row_bytes = with_piece(needs.plain),
          .least_rows = pair_policy::least_small_window,
          .group = pair_policy::small_window_step,
          .padding = pair_policy::small_window_step,
          .thread_bytes = std::max(block_bytes + needs.plain_task + double_bytes, needs.packing)};
}

// Rows of a table, and what packs and searches them.
struct pair_job {
  std::size_t row_masks;
  index_t rows;
  index_t cols;
  int threads;
};

pair_memory divide(const pair_job& job, const window_kind& kind, index_t window, index_t piece_rows,
                   std::size_t waiting, std::size_t masks) {
  return {.window_rows = window,
          // Small ones have a source, also where all rows are one of them.
          .is_windowed = window < job.rows || kind.group != pair_policy::window_step,
          .least_window = kind.least_rows,
          .group = kind.group,
          .row_bytes = kind.row_bytes,
          .piece_rows = piece_rows,
          .waiting_edges = waiting,
          .mask_bytes = masks,
          .threads = job.threads,
          .bytes = kind.bytes_of(window) + masks +
                   static_cast<std::size_t>(job.threads) * kind.thread_bytes +
                   waiting * bytes_per_waiting_edge};
}

pair_memory plan_without_limit(const pair_job& job, const window_kind& kind) {
  const std::size_t all_masks = static_cast<std::size_t>(job.rows) * job.row_masks;
  const std::size_t all = static_cast<std::size_t>(job.rows) * kind.row_bytes;
  const std::size_t scratch = static_cast<std::size_t>(job.threads) * kind.thread_bytes;
  const auto finished = [&](index_t window, std::size_t waiting, std::size_t masks) {
    return divide(job, kind, window, rows_per_piece(job.cols), waiting, masks);
  };
  const std::size_t of_long_rows = std::min(
      static_cast<std::size_t>(std::min(job.rows, pair_policy::long_row_window)) * kind.row_bytes,
      pair_policy::long_row_bytes);
  const std::size_t more = of_long_rows - std::min(of_long_rows, pair_policy::packed_bytes / 2);
  const std::size_t budget = pair_policy::memory_bytes + more;
  const std::size_t left = budget - std::min(scratch, budget / 2);
  const std::size_t packed = left - (pair_policy::memory_bytes - pair_policy::packed_bytes);
  if (all <= packed) {
    const std::size_t masks = std::min(packed - all, all_masks);
    return finished(
        job.rows, std::min(pair_policy::panel_edges, (left - all - masks) / bytes_per_waiting_edge),
        masks);
  }
  // Smaller windows meet more often; two thirds of their memory for masks cost little of that.
  const std::size_t for_rows = left - pair_policy::panel_edges * bytes_per_waiting_edge;
  const std::size_t of_row = std::min(job.row_masks, 2 * kind.row_bytes);
  const index_t window =
      std::min(job.rows, kind.whole_window(for_rows / (kind.row_bytes + of_row)));
  const std::size_t masks = static_cast<std::size_t>(window) * of_row;
  const bool fits = static_cast<std::size_t>(window) * kind.row_bytes + masks <= for_rows;
  return finished(window, pair_policy::panel_edges, fits ? masks : 0);
}

pair_memory plan_within(pair_job job, const window_kind& kind, std::size_t limit) {
  const std::size_t least_rows = kind.least_bytes(job.rows);
  const std::size_t least = least_rows + least_waiting_bytes + kind.thread_bytes;
  if (limit < least) {
    throw out_of_memory(fmt::format("execution.workspace_bytes: got {}, rows of {} columns need at "
                                    "least {}, with one thread",
                                    limit, job.cols, least),
                        least);
  }
  const std::size_t fitting = (limit - least_rows - least_waiting_bytes) / kind.thread_bytes;
  job.threads = static_cast<int>(std::min(static_cast<std::size_t>(job.threads), fitting));
  const std::size_t left = limit - static_cast<std::size_t>(job.threads) * kind.thread_bytes;
  const auto finished = [&](index_t window, std::size_t waiting, std::size_t masks) {
    const index_t share = std::max<index_t>(1, window / rows_per_window_piece);
    return divide(job, kind, window, std::min(rows_per_piece(job.cols), share),
                  waiting / bytes_per_waiting_edge, masks);
  };
  constexpr std::size_t most_waiting = pair_policy::panel_edges * bytes_per_waiting_edge;
  const std::size_t all = kind.bytes_of(job.rows);
  if (all + least_waiting_bytes <= left) {
    const std::size_t all_masks = static_cast<std::size_t>(job.rows) * job.row_masks;
    const std::size_t masks = std::min((left - all - least_waiting_bytes) / 2, all_masks);
    return finished(job.rows, std::min(most_waiting, left - all - masks), masks);
  }
  const std::size_t waiting =
      std::max(least_waiting_bytes, std::min({left - least_rows, left / 4, most_waiting}));
  return finished(std::min(job.rows, kind.whole_window((left - waiting) / kind.row_bytes)), waiting,
                  0);
}

}  // namespace

index_t window_rows_beside(const pair_memory& memory, std::size_t bytes) {
  const auto rows = static_cast<std::size_t>(memory.window_rows);
  const window_kind kind{.row_bytes = memory.row_bytes,
                         .least_rows = memory.least_window,
                         .group = memory.group,
                         .padding = 1,
                         .thread_bytes = 0};
  return kind.whole_window(rows - std::min(bytes / memory.row_bytes, rows / 4 * 3));
}

pair_memory plan_pair_memory(const detail::measure_traits& what, index_t rows, index_t cols,
                             bool has_int8_sums, int threads, std::size_t limit,
                             std::size_t double_bytes) {
  const row_needs needs = needs_of(what, cols, has_int8_sums);
  const pair_job job{.row_masks = needs.masks, .rows = rows, .cols = cols, .threads = threads};
  window_kind kind{.row_bytes = needs.row,
                   .least_rows = pair_policy::least_window_rows,
                   .group = pair_policy::window_step,
                   .padding = 1,
                   .thread_bytes = block_bytes + needs.task + double_bytes};
  if (limit == 0) return plan_without_limit(job, kind);
  kind.row_bytes = with_piece(kind.row_bytes);
  kind.padding = group_lanes * group_padding;
  kind.thread_bytes = std::max(kind.thread_bytes, needs.packing);
  if (kind.row_bytes <= pair_policy::limited_row_bytes) return plan_within(job, kind, limit);
  kind.least_rows = pair_policy::least_limited_rows;
  const std::size_t least = kind.least_bytes(rows) + least_waiting_bytes +
                            static_cast<std::size_t>(threads) * kind.thread_bytes;
  return plan_within(job, limit < least ? small_windows(needs, double_bytes) : kind, limit);
}

}  // namespace gpu::cpu
