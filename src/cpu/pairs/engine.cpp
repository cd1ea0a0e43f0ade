#include "cpu/pairs/engine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <string>
#include <utility>

#include <gpu/error.hpp>

#include "cpu/pairs/memory.hpp"
#include "cpu/platform/instruction_set.hpp"
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

pair_engine::pair_engine(detail::measure what, const detail::pair_input& input,
                         const pair_options& options)
    : threads_(thread_count(options.exec.cpu_threads)),
      on_progress_(options.exec.on_progress),
      scratch_(static_cast<std::size_t>(threads_)) {
  const auto start = std::chrono::steady_clock::now();
  if (!input.area.is_whole_table()) throw unsupported("x against y and parts: not on the CPU yet");
  const detail::any_matrix_view& data = input.tables.x;
  info_.rows = input.rows();
  info_.cols = input.cols();
  variant_ = detail::choose_pair_variant(backend::cpu, options.variant,
                                         {.what = what, .rows = info_.rows, .cols = info_.cols});
  const bool looks_for_patterns =
      detail::looks_for_patterns(what, backend::cpu, variant_, info_.rows, options);
  const pair_memory memory =
      plan_pair_memory(what, info_.rows, info_.cols, usable_pair_kernels().int8.search != nullptr,
                       threads_, options.exec.workspace_bytes);
  panel_edges_ = memory.waiting_edges;
  detail::pair_progress meter(on_progress_, "prepare", static_cast<std::uint64_t>(info_.rows));
  const row_options how{
      .variant = variant_,
      .in_windows = memory.is_windowed,
      .looks_for_patterns = looks_for_patterns,
      .most_pattern_share = detail::most_pattern_share(options.fold, backend::cpu, variant_),
      .nans = options.nans,
      .threads = threads_};
  row_preparation found = what == detail::measure::spearman ? prepare_spearman_rows(data, how)
                                                            : prepare_pearson_rows(data, how);
  rows_ = std::move(found.rows);
  source_ = std::move(found.source);
  original_ = std::move(found.original);
  size_ = source_ ? source_->size() : rows_->size();
  first_ = {0, size_};
  index_t window = memory.window_rows;
  if (found.patterns) {
    // Numbers of rows and of their patterns, begins and weights.
    const auto patterns = static_cast<std::size_t>(size_);
    window = window_rows_beside(memory, static_cast<std::size_t>(info_.rows) * 8 + patterns * 12);
  }
  half_window_ = window / 2;
  if (source_ && size_ <= window) {
    load(first_, {});  // fewer rows than there seemed
    source_ = nullptr;
  }
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
  return panel_rows_for(window_size(), info_.cols);
}

void pair_engine::load(row_range first, row_range second) {
  rows_ = nullptr;  // before the next ones take memory
  rows_ = source_->pack(first, second, original_);
  first_ = first;
  second_ = second;
}

std::uint64_t pair_engine::pairs_in(index_t row_begin, index_t row_end) const {
  if (second_.is_empty()) return upper_pairs(row_begin, row_end, window_size());
  return static_cast<std::uint64_t>(row_end - row_begin) *
         static_cast<std::uint64_t>(second_.size());
}

int pair_engine::team_for(const std::vector<pair_tile>& tiles) const {
  double pairs = 0;
  for (const pair_tile& tile : tiles) {
    pairs += static_cast<double>(tile.rows()) * static_cast<double>(tile.cols());
  }
  const double useful = 1 + pairs * static_cast<double>(info_.cols) / pair_policy::thread_work;
  return useful < threads_ ? static_cast<int>(useful) : threads_;
}

std::vector<pair_tile> pair_engine::upper_tiles(index_t row_begin, index_t row_end,
                                                index_t task_cols) const {
  std::vector<pair_tile> tiles;
  // Columns outside, so that threads that run side by side share the columns they read.
  const index_t cols = window_size();
  const index_t first = second_.is_empty() ? row_begin / task_cols * task_cols : first_.size();
  for (index_t j = first; j < cols; j += task_cols) {
    for (index_t i = row_begin; i < row_end; i += pair_policy::task_rows) {
      const pair_tile tile{.row_begin = i,
                           .row_end = std::min(i + pair_policy::task_rows, row_end),
                           .col_begin = j,
                           .col_end = std::min(j + task_cols, cols)};
      if (tile.col_end > tile.row_begin + 1) tiles.push_back(tile);
    }
  }
  return tiles;
}

std::unique_ptr<detail::pair_engine> make_pair_engine(detail::measure what,
                                                      const detail::pair_input& input,
                                                      const pair_options& options) {
  return std::make_unique<pair_engine>(what, input, options);
}

detail::engine_plan plan_pair_engine(detail::measure what, const detail::pair_input& input,
                                     const pair_options& options) {
  const index_t rows = input.rows();
  const index_t cols = input.cols();
  const int threads = thread_count(options.exec.cpu_threads);
  const pair_variant variant = detail::choose_pair_variant(
      backend::cpu, options.variant, {.what = what, .rows = rows, .cols = cols});
  return {
      .device = describe_device(threads),
      .variant = variant,
      .tile_rows = pair_policy::task_rows,
      .tile_cols = pair_policy::task_cols,
      .workspace_bytes = plan_pair_memory(what, rows, cols,
                                          usable_pair_kernels().int8.search != nullptr, threads, 0)
                             .bytes};
}

}  // namespace gpu::cpu
