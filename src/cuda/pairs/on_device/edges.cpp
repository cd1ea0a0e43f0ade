// Edges in the caller's device memory. Of few pairs they are selected from a matrix of all
// statistics. Of many they are found by a screen or by tiles, decided and put in order as those of
// host results, all in one queue. kernels/pairs/on_device/edges.cu says what becomes of a
// screen or a queue that overflows.
#include <algorithm>
#include <memory>
#include <optional>

#include "base/round_up.hpp"
#include "cuda/pairs/on_device/sinks.hpp"
#include "cuda/pairs/programs/candidate_queue.hpp"
#include "cuda/pairs/programs/edge_matrix.hpp"
#include "cuda/pairs/rows/memory_sizes.hpp"
#include "cuda_runtime/cuda_check.hpp"
#include "kernels/pairs/edges/kernels.hpp"
#include "pairs/adjustment.hpp"
#include "pairs/area.hpp"
#include "plan/screen_choice.hpp"
#include "stats/significance/significance.hpp"

namespace gpu::cuda {

using kernels::pair_tile_kind;

namespace {

// Pairs that a slice of a screen looks at, and slices at most.
constexpr double pairs_of_slice = 8e9;
constexpr double most_slices = 64;

// The cut of a filter as far as extents tell: Bonferroni's is for all pairs.
detail::keep_range expected_cut(const call_shape& shape, const pair_filter& filter,
                                std::uint64_t pairs) {
  const bool is_adjusted = filter.adjust == adjustment::bonferroni;
  const double max_p = is_adjusted
                           ? filter.max_p / static_cast<double>(std::max<std::uint64_t>(pairs, 1))
                           : filter.max_p;
  return detail::cut_at(shape.what, max_p, filter, shape.format.cols).keep;
}

// The screen that is expected to take the least time, if the rows are independent.
std::optional<detail::screen_choice> choose_screen(const call_shape& shape,
                                                   const device_edge_sink& sink,
                                                   std::uint64_t pairs) {
  if (!shape.has_room || !screen_search::takes(shape)) return std::nullopt;
  const auto use = detail::screen_use::edges;
  const index_t cols = shape.format.cols;
  if (!shape.is_never_short &&
      detail::is_short_for_screens(shape.what, cols, use, static_cast<double>(pairs),
                                   shape.machine)) {
    return std::nullopt;
  }
  return detail::choose_screen(shape.what, expected_cut(shape, sink.keep, pairs), cols, use, {},
                               shape.machine);
}

// All rows of an area: which of them have a statistic only the device knows.
area_sides all_sides(const detail::pair_area& area) {
  area_sides sides = sides_of(area, {});
  sides.rows.keeps_invalid = true;
  return sides;
}

// A list of edges of a given capacity, of few pairs.
class stream_edge_matrix final : public stream_sink {
 public:
  stream_edge_matrix(const call_shape& shape, const device_edge_sink& sink, arena& memory)
      : stream_sink(row_extra::none),
        shape_(shape),
        sink_(sink),
        matrix_(shape.area, shape.format.ready, memory),
        table_(stats::p_table_for(shape.what.info.test, shape.format.cols)),
        room_(memory.take<stats::p_table>(1)) {}
  [[nodiscard]] kernels::zeroed_words zeros() const override { return matrix_.zeros(); }
  void run(const stream_rows& rows, const detail::keep_range& keep,
           cudaStream_t stream) const override {
    static_assert(sizeof(unsigned long long) == sizeof *sink_.found.data());
    auto* const found = reinterpret_cast<unsigned long long*>(sink_.found.data());
    const detail::pair_area& area = shape_.area;
    if (area.rows.empty() || area.cols.empty()) {
      GPU_SIMILARITY_CUDA_CHECK(cudaMemsetAsync(found, 0, sizeof *found, stream));
      return;
    }
    edge_matrix matrix = matrix_;
    if (shape_.format.ready) {
      matrix.read(rows.statistics());
    } else {
      rows.launch(dense_step(shape_.format.exact_tile(), matrix.statistics(), area.cols.size(),
                             area.rows.begin, area.cols.begin),
                  area.rows, kernels::pair_region::whole, stream);
    }
    matrix.select(keep, {table_on_device(*table_, room_, stream), sink_.keep.side}, sink_.edges,
                  found, stream);
  }

 private:
  const call_shape& shape_;
  const device_edge_sink& sink_;
  edge_matrix matrix_;
  std::shared_ptr<const stats::p_table> table_;
  stats::p_table* room_;  // where the table does not stay on the device
};

// The same of many.
class stream_edges final : public stream_sink {
 public:
  stream_edges(const call_shape& shape, const device_edge_sink& sink, arena& memory);
  [[nodiscard]] kernels::zeroed_words zeros() const override {
    return {reinterpret_cast<std::uint64_t*>(state_), zero_words_};
  }
  void run(const stream_rows& rows, const detail::keep_range& keep,
           cudaStream_t stream) const override;

 private:
  // Finds all edges where their candidates fit, which only the device knows; false where no screen
  // takes this cut.
  bool screen(const stream_rows& rows, const detail::keep_range& keep, cudaStream_t stream) const;
  // Fills the queue, with the edges that come first where not all fit; with nothing where a screen
  // has found them.
  void find(const stream_rows& rows, const detail::keep_range& keep, bool is_screened,
            cudaStream_t stream) const;

  const call_shape& shape_;
  const device_edge_sink& sink_;
  std::uint64_t pairs_;
  std::uint64_t capacity_;  // of a queue
  std::shared_ptr<const stats::p_table> table_;
  stats::p_table* room_;
  // Zeros before the first pair is found, up to the end of per_row_.
  kernels::edge_state* state_;
  kernels::screen_state* screen_state_;
  unsigned long long* per_row_;
  index_t zero_words_;
  candidate_places queues_[2];
  std::optional<screen_search> screen_;
  kernels::screen_candidates candidates_{};
  kernels::screened_edges screened_{};
  unsigned long long* sums_;
  sort_scratch scratch_;  // also of the sums
};

stream_edges::stream_edges(const call_shape& shape, const device_edge_sink& sink, arena& memory)
    : stream_sink(row_extra::screens),
      shape_(shape),
      sink_(sink),
      pairs_(detail::pairs_in(shape.area)),
      capacity_(std::min(pairs_, static_cast<std::uint64_t>(sink.edges.size()) +
                                     static_cast<std::uint64_t>(shape.area.cols.size()))),
      table_(stats::p_table_for(shape.what.info.test, shape.format.cols)) {
  const bool may_overflow = capacity_ < pairs_;
  const auto rows = static_cast<std::size_t>(may_overflow ? shape.rows : 0);
  room_ = memory.take<stats::p_table>(1);
  state_ = memory.take<kernels::edge_state>(1);
  screen_state_ = memory.take<kernels::screen_state>(1);
  per_row_ = memory.take<unsigned long long>(rows);
  zero_words_ = state_ == nullptr ? 0
                                  : per_row_ - reinterpret_cast<unsigned long long*>(state_) +
                                        static_cast<index_t>(rows);
  for (candidate_places& queue : queues_) queue = candidate_places::in(memory, capacity_);
  if (const auto choice = choose_screen(shape, sink, pairs_)) {
    screen_.emplace(shape.rows, all_sides(shape.area), *choice, memory);
    const std::uint64_t places =
        std::clamp(pairs_ / memory_sizes::pairs_per_screened_of_device_result,
                   memory_sizes::least_screened_of_device_result,
                   memory_sizes::most_screened_of_device_result);
    const bool is_there = state_ != nullptr;  // else the arena counts bytes
    candidates_ = {.list = memory.take<kernels::screen_candidate>(places),
                   .capacity = places,
                   .count = is_there ? &screen_state_->candidates : nullptr,
                   .stops = true};
    screened_ = {.list = memory.take<kernels::screened_edge>(capacity_),
                 .capacity = capacity_,
                 .kept = is_there ? &screen_state_->kept : nullptr};
  }
  sums_ = memory.take<unsigned long long>(rows);
  scratch_.bytes = kernels::sort_scratch_bytes(capacity_);
  if (may_overflow) {
    scratch_.bytes = std::max(scratch_.bytes, kernels::limit_scratch_bytes(shape.rows));
  }
  scratch_.data = memory.take<std::byte>(scratch_.bytes);
}

bool stream_edges::screen(const stream_rows& rows, const detail::keep_range& keep,
                          cudaStream_t stream) const {
  if (!screen_) return false;
  // Of the cut as it is.
  const detail::screen_choice& expected = screen_->choice();
  const auto screens = detail::screens_for(shape_.what, keep, shape_.format.cols,
                                           detail::screen_use::edges, shape_.machine);
  const auto found = std::find_if(screens.begin(), screens.end(), [&](const auto& possible) {
    return possible.screen.operand == expected.operand && possible.screen.depth == expected.depth;
  });
  if (found == screens.end()) return false;
  const screen_origin from = rows.screened(expected.operand);
  screen_->pack(from, stream);
  const auto slices =
      static_cast<index_t>(std::clamp(screen_->pairs() / pairs_of_slice, 1.0, most_slices));
  const index_t items = screen_->items();
  const index_t step = ceil_div(std::max<index_t>(items, 1), slices);
  for (index_t first = 0; first < items; first += step) {
    screen_->find(found->screen.cut, first, std::min(first + step, items), candidates_,
                  shape_.multiprocessors, stream);
    screen_->refine(from, detail::pair_cut::of(keep), candidates_, screened_, stream);
    kernels::launch_next_slice(screen_state_, candidates_.capacity, stream);
  }
  kernels::launch_note_screened(screen_state_, capacity_, shape_.rows, state_, stream);
  return true;
}

void stream_edges::find(const stream_rows& rows, const detail::keep_range& keep, bool is_screened,
                        cudaStream_t stream) const {
  const pair_tile_kind tile = deciding_tile_of(shape_.format, extra());
  kernels::candidate_sink_args args = queues_[0].sink(
      kernels::estimate_cut(keep, estimate_error(shape_.format, tile)), &state_->queued);
  args.content = kernels::queue_content::kept;
  if (is_screened) args.end_row = &state_->end_row;
  const auto pass = [&] {
    rows.launch(tile_step<kernels::candidate_sink_args>{tile, args}, shape_.area.rows,
                kernels::pair_region::above_diagonal, stream);
  };
  pass();
  kernels::launch_note_found(state_, is_screened ? screen_state_ : nullptr, capacity_, shape_.rows,
                             stream);
  if (capacity_ == pairs_) return;
  args.end_row = &state_->end_row;
  args.per_row = per_row_;
  pass();
  kernels::launch_limit_rows(state_, per_row_, sums_, shape_.rows,
                             static_cast<std::uint64_t>(sink_.edges.size()), capacity_,
                             scratch_.data, scratch_.bytes, stream);
  args.per_row = nullptr;
  pass();
}

void stream_edges::run(const stream_rows& rows, const detail::keep_range& keep,
                       cudaStream_t stream) const {
  const detail::pair_area& area = shape_.area;
  const auto layout = kernels::edge_key_layout::of_rows(area.rows.begin, area.rows.end,
                                                        area.cols.begin, area.cols.size());
  int sorted = 0;
  if (capacity_ > 0) {
    const bool is_screened = screen(rows, keep, stream);
    find(rows, keep, is_screened, stream);
    const pair_tile_kind tile = deciding_tile_of(shape_.format, extra());
    kernels::launch_finish_candidates({.what = {.tile = tile,
                                                .rows = rows.all(tile),
                                                .keep = detail::pair_cut::of(keep),
                                                .layout = layout},
                                       .keys = queues_[0].keys,
                                       .values = queues_[0].values,
                                       .count = capacity_,
                                       .kept = nullptr,
                                       .found = &state_->queued},
                                      stream);
    if (is_screened) {
      kernels::launch_key_screened(screened_.list, capacity_, screened_.kept, layout,
                                   queues_[0].keys, queues_[0].values, stream);
    }
    sorted = sort_candidates(queues_, capacity_, layout.bits, scratch_, stream);
  }
  const candidate_places& edges = queues_[sorted];
  kernels::launch_write_edges({edges.keys, edges.values, layout, &state_->found}, 0,
                              static_cast<std::uint64_t>(sink_.edges.size()),
                              {table_on_device(*table_, room_, stream), sink_.keep.side},
                              sink_.edges.data(), nullptr, stream);
  static_assert(sizeof state_->found == sizeof *sink_.found.data());
  GPU_SIMILARITY_CUDA_CHECK(cudaMemcpyAsync(
      sink_.found.data(), &state_->found, sizeof state_->found, cudaMemcpyDeviceToDevice, stream));
}

}  // namespace

bool is_screened(const call_shape& shape, const device_edge_sink& sink) {
  return choose_screen(shape, sink, detail::pairs_in(shape.area)).has_value();
}

std::unique_ptr<stream_sink> make_sink(const call_shape& shape, const device_edge_sink& sink,
                                       arena& memory) {
  if (edge_matrix::takes(shape)) return std::make_unique<stream_edge_matrix>(shape, sink, memory);
  return std::make_unique<stream_edges>(shape, sink, memory);
}

}  // namespace gpu::cuda
