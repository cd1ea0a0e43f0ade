#include "cpu/pair_engine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <string>
#include <utility>

#include <gpu/error.hpp>

#include "cpu/instruction_set.hpp"
#include "plan/fold_choice.hpp"
#include "plan/pair_variants.hpp"

namespace gpu::cpu {
namespace {

std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const auto colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "CPU";
}

std::string describe_device(int threads) {
  static const std::string name = processor_name();
  return fmt::format("{} ({}, {} thread{})", name, to_string(usable_instruction_set()), threads,
                     threads == 1 ? "" : "s");
}

// An edge that waits to be put in order, before and after.
constexpr std::size_t bytes_per_waiting_edge = sizeof(pair_hit) + sizeof(edge);
constexpr std::size_t least_waiting_edges = 1024;

// What a run takes whatever it keeps: packed rows, and scratch of each thread.
std::size_t fixed_bytes(detail::measure what, index_t rows, index_t cols, int threads) {
  // Rows, the form the kernels take, and the bytes of the screen.
  std::size_t per_element = sizeof(double) + sizeof(float) + 1;
  if (what == detail::measure::spearman) per_element = cols <= 128 ? 3 : (cols <= 32768 ? 5 : 8);
  const auto elements = static_cast<std::size_t>(rows) * static_cast<std::size_t>(cols);
  const auto block = static_cast<std::size_t>(pair_policy::block_rows * pair_policy::block_cols);
  const std::size_t per_thread =
      block * (sizeof(double) + sizeof(std::int32_t)) +
      static_cast<std::size_t>(pair_policy::task_rows * (cols + 1)) * sizeof(float);
  return elements * per_element + static_cast<std::size_t>(rows) * 4 * sizeof(double) +
         static_cast<std::size_t>(threads) * per_thread;
}

// Edges that may wait within the workspace limit; a limit of 0 is none.
std::size_t waiting_edges_within(std::size_t limit, std::size_t fixed) {
  if (limit == 0) return pair_policy::panel_edges;
  const std::size_t least = fixed + least_waiting_edges * bytes_per_waiting_edge;
  if (limit < least) {
    throw out_of_memory(
        fmt::format("execution.workspace_bytes: got {}, the rows and threads need at least {}",
                    limit, least),
        least);
  }
  return std::min(pair_policy::panel_edges, (limit - fixed) / bytes_per_waiting_edge);
}

index_t panel_rows_for(index_t rows, index_t cols) {
  const double per_row = static_cast<double>(rows) * static_cast<double>(cols) + 1;
  const double fitting = pair_policy::panel_work / per_row;
  if (fitting >= static_cast<double>(pair_policy::panel_rows)) return pair_policy::panel_rows;
  return std::max(pair_policy::block_rows, static_cast<index_t>(fitting) / pair_policy::block_rows *
                                               pair_policy::block_rows);
}

}  // namespace

std::uint64_t upper_pairs(index_t row_begin, index_t row_end, index_t rows) {
  const auto count = static_cast<std::uint64_t>(row_end - row_begin);
  const auto first = static_cast<std::uint64_t>(rows - 1 - row_begin);  // of the first row
  const auto last = static_cast<std::uint64_t>(rows - row_end);         // of the last row
  if (count == 0) return 0;
  // count * (first + last) / 2 without overflow: one factor is even.
  return count % 2 == 0 ? count / 2 * (first + last) : count * ((first + last) / 2);
}

pair_engine::pair_engine(detail::measure what, const detail::any_matrix_view& data,
                         const pair_options& options)
    : threads_(thread_count(options.exec.cpu_threads)),
      on_progress_(options.exec.on_progress),
      scratch_(static_cast<std::size_t>(threads_)) {
  const auto start = std::chrono::steady_clock::now();
  std::visit(
      [&](const auto& view) {
        info_.rows = view.rows();
        info_.cols = view.cols();
      },
      data);
  variant_ = detail::choose_pair_variant(backend::cpu, options.variant,
                                         {.what = what, .rows = info_.rows, .cols = info_.cols});
  // Here for Pearson, which cannot fold.
  (void)detail::looks_for_patterns(what, backend::cpu, variant_, info_.rows, options);
  panel_edges_ = waiting_edges_within(options.exec.workspace_bytes,
                                      fixed_bytes(what, info_.rows, info_.cols, threads_));
  detail::pair_progress meter(on_progress_, "prepare", static_cast<std::uint64_t>(info_.rows));
  row_preparation found = what == detail::measure::spearman
                              ? prepare_spearman_rows(data, options, variant_)
                              : prepare_pearson_rows(data, options, variant_);
  rows_ = std::move(found.rows);
  original_ = std::move(found.original);
  info_.constant_rows = std::move(found.constant_rows);
  info_.nan_rows = std::move(found.nan_rows);
  info_.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (found.patterns) fold_into(std::move(*found.patterns));
  meter.finish();
}

void pair_engine::fold_into(row_patterns patterns) {
  detail::prepared_rows folded{.rows = patterns.size(), .cols = info_.cols};
  folded_ = {.input = std::exchange(info_, std::move(folded)), .patterns = std::move(patterns)};
}

std::string pair_engine::device() const {
  return describe_device(threads_);
}

index_t pair_engine::panel_rows() const {
  return panel_rows_for(size(), info_.cols);
}

int pair_engine::team_for(const std::vector<pair_tile>& tiles) const {
  double pairs = 0;
  for (const pair_tile& tile : tiles) {
    pairs += static_cast<double>(tile.rows()) * static_cast<double>(tile.cols());
  }
  const double useful = 1 + pairs * static_cast<double>(info_.cols) / pair_policy::thread_work;
  return useful < threads_ ? static_cast<int>(useful) : threads_;
}

std::vector<pair_tile> pair_engine::upper_tiles(index_t row_begin, index_t row_end) const {
  std::vector<pair_tile> tiles;
  // Columns outside, so that threads that run side by side share the columns they read.
  const index_t first = row_begin / pair_policy::task_cols * pair_policy::task_cols;
  for (index_t j = first; j < size(); j += pair_policy::task_cols) {
    for (index_t i = row_begin; i < row_end; i += pair_policy::task_rows) {
      const pair_tile tile{.row_begin = i,
                           .row_end = std::min(i + pair_policy::task_rows, row_end),
                           .col_begin = j,
                           .col_end = std::min(j + pair_policy::task_cols, size())};
      if (tile.col_end > tile.row_begin + 1) tiles.push_back(tile);
    }
  }
  return tiles;
}

std::unique_ptr<detail::pair_engine> make_pair_engine(detail::measure what,
                                                      const detail::any_matrix_view& data,
                                                      const pair_options& options) {
  return std::make_unique<pair_engine>(what, data, options);
}

detail::engine_plan plan_pair_engine(detail::measure what, index_t rows, index_t cols,
                                     const pair_options& options) {
  const int threads = thread_count(options.exec.cpu_threads);
  const pair_variant variant = detail::choose_pair_variant(
      backend::cpu, options.variant, {.what = what, .rows = rows, .cols = cols});
  return {.device = describe_device(threads),
          .variant = variant,
          .tile_rows = pair_policy::task_rows,
          .tile_cols = pair_policy::task_cols,
          .workspace_bytes = fixed_bytes(what, rows, cols, threads) +
                             pair_policy::panel_edges * bytes_per_waiting_edge};
}

}  // namespace gpu::cpu
