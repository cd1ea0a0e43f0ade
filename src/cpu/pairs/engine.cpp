#include "cpu/pairs/engine.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include <gpu/error.hpp>

#include "base/round_up.hpp"
#include "cpu/pairs/memory.hpp"
#include "cpu/platform/description.hpp"
#include "cpu/platform/instruction_set.hpp"
#include "plan/fold_choice.hpp"
#include "plan/pair_variants.hpp"

namespace gpu::cpu {
namespace {

index_t panel_rows_for(index_t rows, index_t cols) {
  const double per_row = static_cast<double>(rows) * static_cast<double>(cols) + 1;
  const double fitting = pair_policy::panel_work / per_row;
  if (fitting >= static_cast<double>(pair_policy::panel_rows)) return pair_policy::panel_rows;
  // Whole tasks, or else whole blocks.
  const auto whole = static_cast<index_t>(fitting);
  const index_t step =
      whole >= pair_policy::task_rows ? pair_policy::task_rows : pair_policy::block_rows;
  return std::max(pair_policy::block_rows, whole / step * step);
}

// Columns of the smallest tasks, of rows of `cols` values: whole groups for every kernel.
index_t least_task_cols_for(index_t cols) {
  const double row_work = static_cast<double>(pair_policy::task_rows) * static_cast<double>(cols);
  const double worth = std::clamp(pair_policy::thread_work / row_work,
                                  static_cast<double>(pair_policy::least_task_cols),
                                  static_cast<double>(pair_policy::short_row_task_cols));
  const auto of_short_rows = round_up(static_cast<index_t>(worth), pair_policy::window_step);
  const auto fewest = static_cast<index_t>(std::clamp(
      pair_policy::long_row_work / row_work, static_cast<double>(pair_policy::long_row_task_cols),
      static_cast<double>(of_short_rows)));
  return round_up(fewest, pair_policy::window_step);
}

// Which rows of the input its area needs.
row_selection select_rows(const detail::pair_input& input) {
  const detail::pair_area& area = input.area;
  if (area.is_against()) {
    return {.sections = {area.rows, area.cols}, .is_across = true, .rows_section = 0};
  }
  if (area.rows == area.cols) return {.sections = {area.rows}};
  if (input.pairs_above) return {.sections = {area.rows, {area.rows.end, area.cols.end}}};
  return {.sections = {{0, area.rows.begin}, area.rows, {area.rows.end, area.cols.end}},
          .rows_section = 1};
}

pair_memory plan_memory(const detail::measure_traits& what, const detail::pair_input& input,
                        int threads, std::size_t limit) {
  return plan_pair_memory(what, select_rows(input).places(), input.cols(),
                          usable_pair_kernels().int8.search != nullptr, threads, limit,
                          double_scratch_bytes(what, input.cols()));
}

// Rows of a table that has as many pairs a row as the area: finding patterns costs by rows, and
// saves by pairs.
index_t rows_to_fold(const detail::pair_input& input, const row_selection& selection) {
  if (input.area.is_whole_table()) return input.rows();
  const double pairs = static_cast<double>(detail::pairs_in(input.area));
  return static_cast<index_t>(2 * pairs /
                              static_cast<double>(std::max<index_t>(selection.rows(), 1)));
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

cpu_engine::cpu_engine(const detail::measure_traits& what, const detail::pair_input& input)
    : threads_(detail::thread_count(input.exec.cpu_threads)),
      on_progress_(input.exec.on_progress),
      is_across_(input.area.is_against()) {
  const auto start = std::chrono::steady_clock::now();
  info_.rows = input.rows();
  info_.cols = input.cols();
  packed_cols_ = what.packed_cols(info_.cols);
  const detail::prepared_table* const kept = input.tables.prepared_y.get();
  variant_ =
      detail::choose_pair_variant(backend::cpu, kept != nullptr ? kept->variant : input.variant,
                                  {.rows = info_.rows, .cols = info_.cols});
  const row_selection selection = select_rows(input);
  const pair_memory memory = plan_memory(what, input, threads_, input.exec.workspace_bytes);
  threads_ = memory.threads;
  group_ = memory.group;
  panel_edges_ = memory.waiting_edges;
  if (input.exec.workspace_bytes == 0) most_matrix_rows_ = pair_policy::most_matrix_rows;
  detail::pair_progress meter(on_progress_, "prepare", static_cast<std::uint64_t>(info_.rows));
  const detail::poll_scope polled(&meter);
  const row_options how{
      .what = what,
      .variant = variant_,
      .in_windows = memory.is_windowed,
      .looks_for_patterns =
          kept == nullptr &&
          detail::looks_for_patterns(what, backend::cpu, variant_,
                                     {rows_to_fold(input, selection), info_.cols, input.folds}),
      .most_pattern_share = detail::most_pattern_share(input.folds, backend::cpu, variant_),
      .refuses_nan = input.refuses_nan,
      .mask_bytes = memory.mask_bytes,
      .selection = selection,
      .group = group_,
      .threads = threads_,
      .piece_rows = memory.piece_rows};
  row_preparation found = prepare_rows(input.tables, how);
  info_.constant_rows = std::move(found.constant_rows);
  info_.nan_rows = std::move(found.nan_rows);
  take_rows(input, selection, memory, std::move(found));
  info_.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (folded_) folded_->input.seconds = info_.seconds;
  meter.finish();
}

void cpu_engine::take_rows(const detail::pair_input& input, const row_selection& selection,
                           const pair_memory& memory, row_preparation found) {
  rows_ = std::move(found.rows);
  source_ = std::move(found.source);
  original_ = std::move(found.original);
  const row_layout layout = layout_of(selection, found.section_rows);
  size_ = layout.first + layout.second;
  asked_ = area_rows_ = layout.asked;
  first_ = {0, layout.first};
  second_ = {layout.first, size_};
  area_cols_ = is_across_ ? second_ : first_;
  // Patterns are numbered as they are packed.
  row_base_ = found.patterns ? area_rows_.begin : input.area.rows.begin;
  col_base_ = found.patterns ? area_cols_.begin : input.area.cols.begin;
  index_t window = memory.window_rows;
  if (found.patterns) {
    // Numbers of rows and of their patterns, begins and weights.
    const auto patterns = static_cast<std::size_t>(size_);
    window = window_rows_beside(memory, static_cast<std::size_t>(info_.rows) * 8 + patterns * 12);
  }
  half_window_ = window / 2;
  if (source_ && (layout.places() <= window || area_rows_.is_empty())) {
    // Fewer rows than there seemed.
    if (!area_rows_.is_empty()) load(first_, second_, area_rows_);
    source_ = nullptr;
  }
  if (found.patterns) fold_into(std::move(*found.patterns));
}

void cpu_engine::fold_into(detail::row_patterns patterns) {
  detail::row_info folded{.rows = patterns.size(), .cols = info_.cols};
  folded_ = {.input = std::exchange(info_, std::move(folded)), .patterns = std::move(patterns)};
}

std::string cpu_engine::device() const {
  return describe_device(threads_);
}

index_t cpu_engine::panel_rows() const {
  return panel_rows_for(window_cols(), packed_cols_);
}

index_t cpu_engine::panel_rows_at(index_t begin) const {
  const index_t most = pair_policy::panel_growth * (begin - asked_.begin);
  return std::min(std::max(most, pair_policy::first_panel_rows), panel_rows());
}

void cpu_engine::load(row_range first, row_range second, row_range asked) {
  search_ = nullptr;  // before the next ones take memory
  rows_ = nullptr;
  rows_ = source_->pack(first, second, asked, original_);
  first_ = first;
  second_ = second;
  asked_ = asked;
}

pair_search& cpu_engine::search(const pair_task& task) {
  search_ = rows_->search(task, threads_, std::move(search_));
  return *search_;
}

index_t cpu_engine::load_beside(row_range rows, index_t begin, index_t end) {
  const index_t room = 2 * half_window_ - second_begin(rows.size());
  const index_t last = std::min(begin + room, end);
  load(rows, {begin, last}, {0, rows.size()});
  return last;
}

index_t cpu_engine::range_rows() const {
  if (!is_across_) return half_window_;
  const index_t room = 2 * half_window_ - second_begin(area_cols_.size());
  return std::max(half_window_, room / group_ * group_);
}

std::uint64_t cpu_engine::pairs_of(row_range rows) const {
  if (!is_across_) return upper_pairs(rows.begin, rows.end, area_cols_.end);
  return static_cast<std::uint64_t>(rows.size()) * static_cast<std::uint64_t>(area_cols_.size());
}

// In a whole table each pair is computed twice and counted once.
std::uint64_t cpu_engine::meetings() const {
  if (area_rows_ == area_cols_) return pairs_of(area_rows_);
  return static_cast<std::uint64_t>(area_rows_.size()) *
         static_cast<std::uint64_t>(area_cols_.size());
}

std::uint64_t cpu_engine::meetings_of(const pair_tile& area) const {
  if (area_rows_ == area_cols_ && second_.is_empty()) return pairs_in(area.row_begin, area.row_end);
  const auto pairs = static_cast<std::uint64_t>(area.rows() * area.cols());
  return area_rows_ == area_cols_ ? pairs / 2 : pairs;
}

std::uint64_t cpu_engine::pairs_in(index_t row_begin, index_t row_end) const {
  if (second_.is_empty()) return upper_pairs(row_begin, row_end, first_.size());
  return static_cast<std::uint64_t>(row_end - row_begin) *
         static_cast<std::uint64_t>(second_.size());
}

int cpu_engine::team() const {
  const double work = static_cast<double>(pairs_of(area_rows_)) * static_cast<double>(packed_cols_);
  const double useful = 1 + work / pair_policy::thread_work;
  return useful < threads_ ? static_cast<int>(useful) : threads_;
}

index_t cpu_engine::shared_task_cols(index_t rows, index_t most) const {
  const index_t tasks_of_rows = (rows + pair_policy::task_rows - 1) / pair_policy::task_rows;
  const index_t tasks = pair_policy::tasks_per_thread * index_t{team()};
  const index_t strips = (tasks + tasks_of_rows - 1) / std::max<index_t>(tasks_of_rows, 1);
  const index_t fitting = window_cols() / std::max<index_t>(strips, 1);
  const index_t least = std::min(least_task_cols_for(packed_cols_), most);
  return std::clamp(fitting / least * least, least, most);
}

std::vector<pair_tile> cpu_engine::upper_tiles(index_t row_begin, index_t row_end,
                                               index_t most_cols) const {
  const index_t task_cols = shared_task_cols(row_end - row_begin, most_cols);
  const index_t first =
      second_.is_empty() ? row_begin / task_cols * task_cols : second_begin(first_.size());
  std::vector<pair_tile> tiles = tiles_of({row_begin, row_end, first, window_size()}, task_cols);
  std::erase_if(tiles, [](const pair_tile& tile) { return tile.col_end <= tile.row_begin + 1; });
  return tiles;
}

std::vector<pair_tile> cpu_engine::tiles_of(const pair_tile& area, index_t task_cols) {
  std::vector<pair_tile> tiles;
  for_each_strip_of_cols(area, task_cols, [&](const pair_tile& strip) {
    for_each_strip_of_rows(strip, pair_policy::task_rows,
                           [&](const pair_tile& tile) { tiles.push_back(tile); });
  });
  return tiles;
}

detail::made_engine make_pair_engine(const detail::measure_traits& what,
                                     const detail::pair_input& input) {
  auto engine = std::make_unique<cpu_engine>(what, input);
  std::optional<detail::folded_rows> folded = engine->take_folded();
  return {.engine = std::move(engine), .folded = std::move(folded)};
}

detail::engine_plan plan_pair_engine(const detail::measure_traits& what,
                                     const detail::pair_input& input) {
  const int threads = detail::thread_count(input.exec.cpu_threads);
  const pair_variant variant = detail::choose_pair_variant(
      backend::cpu, input.variant, {.rows = input.rows(), .cols = input.cols()});
  return {.device = describe_device(threads),
          .variant = variant,
          .tile_rows = pair_policy::task_rows,
          .tile_cols = pair_policy::task_cols,
          .workspace_bytes = plan_memory(what, input, threads, 0).bytes};
}

}  // namespace gpu::cpu
