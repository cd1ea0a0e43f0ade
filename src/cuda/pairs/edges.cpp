// Edges of the CUDA pair engine by tiles. Three panels of rows are under way at a time: the tiles
// of one fill a queue, the one before is decided exactly and put in order on the device, and the
// one before that leaves it. A panel that overflows its queue is done in pieces: nothing is
// dropped.
#include "cuda/pairs/edges.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "cuda/pairs/edge_output.hpp"
#include "cuda/pairs/engine.hpp"
#include "cuda/pairs/programs/candidate_queue.hpp"
#include "cuda/pairs/rows/memory_sizes.hpp"

namespace gpu::cuda {
namespace {

using memory_sizes::least_panel_candidates;
using memory_sizes::most_panel_candidates;

// A panel should fill this share of its queue, so that the next one rarely overflows. There should
// be `wanted_panels`, so that their steps overlap, but each costs the host about 0.15 ms of
// launches: so a panel has at least `least_panel_edges`, which take the bus 1 ms.
constexpr double wanted_fill = 0.5;
constexpr double wanted_panels = 8;
constexpr double least_panel_edges = 1 << 21;
// Edges to be prepared for where the sample saw hardly any.
constexpr double least_sampled_edges = 1 << 17;
constexpr double first_panel_pairs = 1 << 26;
constexpr double panel_growth = 8;
constexpr double most_panel_pairs = 1e11;
// Of one panel to be filled, two to be sorted between, and one to be read.
constexpr int buffer_count = 4;
constexpr int panels_under_way = 3;
constexpr std::size_t bytes_per_candidate = buffer_count * 2 * sizeof(std::uint64_t);

double edges_of_panel(double expected) {
  return std::max(expected / wanted_panels, std::min(expected, least_panel_edges));
}

// The queue for so many edges, and the largest that fits `bytes` with its sort.
std::uint64_t choose_capacity(std::size_t bytes, std::uint64_t pairs, double expected) {
  const double part = edges_of_panel(expected) / wanted_fill;
  const double most = std::min(part, static_cast<double>(most_panel_candidates));
  const auto wanted = std::bit_ceil(static_cast<std::uint64_t>(most) + 1);
  std::uint64_t capacity =
      std::min({std::clamp(wanted, least_panel_candidates, most_panel_candidates), pairs,
                std::uint64_t{bytes / bytes_per_candidate}});
  while (capacity > 1 &&
         capacity * bytes_per_candidate + kernels::sort_scratch_bytes(capacity) > bytes) {
    capacity = capacity * 7 / 8;
  }
  return std::max<std::uint64_t>(capacity, 1);
}

// Part of the pair matrix whose edges are found together.
struct edge_panel {
  row_range rows;
  row_range cols;
};

// A buffer, and when what was in it has been read.
struct entry_buffer {
  entry_buffer(std::uint64_t capacity, cudaStream_t stream) : entries(capacity, stream) {}
  candidate_buffer entries;
  event read;
};

// A panel under way, in a buffer of its own.
struct panel_state {
  edge_panel panel;
  entry_buffer* buffer;
  candidate_counters* counters;
};

class edge_walk {
 public:
  edge_walk(const edge_source& source, const detail::edge_request& request,
            detail::edge_receiver& receiver, const detail::cut_sample& sample);

  void run();

 private:
  [[nodiscard]] kernels::edge_key_layout layout_of(const row_range& rows) const {
    const row_range& cols = source_.area.cols;
    return kernels::edge_key_layout::of_rows(rows.begin, rows.end, cols.begin, cols.size());
  }
  // A free buffer, for work on `user`.
  [[nodiscard]] entry_buffer* take_buffer(cudaStream_t user);
  // Begins to find the candidates of a panel.
  [[nodiscard]] panel_state find(const edge_panel& panel, candidate_counters& counters);
  // Waits until the panel is found; whether it fitted its queue.
  [[nodiscard]] bool fits(const panel_state& found);
  // How many pairs the next panels should have, after one of `rows`.
  void learn(const row_range& rows, std::uint64_t found);
  // Begins to decide a panel that was found, and to put its edges in order.
  void decide(panel_state& found);
  void deliver(const panel_state& decided);
  // Waits for the panel's turn, delivers it, and resets it.
  void deliver_in_turn(std::optional<panel_state>& decided);
  void do_in_pieces(const edge_panel& panel, std::uint64_t found);
  void wait_for_turn(const row_range& rows) {
    if (ordered_) walk_->wait_for_turn(to_walk(source_.area, rows));
  }
  // The rows of a panel are done with.
  void release(const row_range& rows);

  const edge_source& source_;
  detail::edge_receiver& receiver_;
  const detail::cut_sample& sample_;
  kernels::cut_estimate cut_;
  bool ordered_;
  std::uint64_t capacity_;
  double panel_edges_;  // that a panel should have
  double panel_pairs_;
  bool has_delivered_ = false;
  std::vector<std::unique_ptr<entry_buffer>> buffers_;
  std::deque<entry_buffer*> free_;  // the one that was given back longest ago first
  candidate_counters counters_[panels_under_way];
  candidate_counters counters_of_pieces_;
  device_buffer<std::byte> scratch_;
  edge_output output_;
  std::shared_ptr<pair_walk> walk_;
  stream_guard guards_[2] = {stream_guard(source_.finding), stream_guard(source_.deciding)};
};

edge_walk::edge_walk(const edge_source& source, const detail::edge_request& request,
                     detail::edge_receiver& receiver, const detail::cut_sample& sample)
    : source_(source),
      receiver_(receiver),
      sample_(sample),
      cut_(kernels::estimate_cut(source.keep, source.estimate_error)),
      ordered_(request.order == edge_order::by_row_then_column),
      counters_{candidate_counters(source.finding), candidate_counters(source.finding),
                candidate_counters(source.finding)},
      counters_of_pieces_(source.finding),
      output_(request, receiver, expected_edges(sample, detail::pairs_in(source.area)),
              output_room(source.budget)) {
  const std::uint64_t pairs = detail::pairs_in(source.area);
  const double expected = expected_edges(sample, pairs);
  const std::size_t output_bytes = output_.bytes();
  const std::size_t left = source.budget.left();
  capacity_ = choose_capacity(left > output_bytes ? left - output_bytes : 0, pairs, expected);
  const std::size_t scratch = kernels::sort_scratch_bytes(capacity_);
  source.budget.require(capacity_ * bytes_per_candidate + scratch + output_bytes,
                        "queues of edges");
  const double room = static_cast<double>(capacity_) * wanted_fill;
  panel_edges_ = std::min(room, std::max(edges_of_panel(expected), least_sampled_edges));
  panel_pairs_ = std::max(first_panel_pairs, room);
  if (sample.kept > 0) {
    panel_pairs_ = std::min(panel_edges_ / sample.kept_share(), most_panel_pairs);
  }
  for (int buffer = 0; buffer < buffer_count; ++buffer) {
    buffers_.push_back(std::make_unique<entry_buffer>(capacity_, source.finding));
    free_.push_back(buffers_.back().get());
  }
  scratch_ = {scratch, source.deciding};
  // Memory is ordered on the stream that it came from, and is written on others.
  GPU_SIMILARITY_CUDA_CHECK(cudaStreamSynchronize(source.finding));
}

void edge_walk::run() {
  const detail::pair_area& area = source_.area;
  const std::uint64_t pairs = detail::pairs_in(area);
  walk_ = source_.share.walk("pairs", area.rows.size(), pairs);
  const pair_walk::piece piece = rows_piece(*walk_, area, panel_pairs_);
  std::optional<panel_state> found;
  std::optional<panel_state> decided;
  int turn = 0;
  for (bool more = true; more || found || decided;) {
    // The first panel is delivered at once, because the bus has nothing else to do. During later
    // panels it still has batches to copy.
    if (decided && !has_delivered_) deliver_in_turn(decided);
    std::optional<panel_state> next = std::exchange(found, {});
    const bool fitted = next && fits(*next);
    if (next) learn(next->panel.rows, next->counters->found());
    if (fitted) decide(*next);
    if (more) {
      const row_range taken = from_walk(area, walk_->take(piece));
      more = !taken.empty();
      if (more) {
        found = find({taken, cols_of_rows(area, taken)}, counters_[turn++ % panels_under_way]);
      }
      if (turn == 1 && more) {  // while it is found
        output_.open(expected_edges(sample_, pairs));
        announce_edges(receiver_, sample_, pairs);
      }
    }
    if (decided) deliver_in_turn(decided);
    decided = fitted ? next : std::nullopt;
    if (next && !fitted) {
      free_.push_back(next->buffer);
      wait_for_turn(next->panel.rows);
      do_in_pieces(next->panel, next->counters->found());
      release(next->panel.rows);
    }
  }
  output_.drain();
  walk_->finish();
}

void edge_walk::deliver_in_turn(std::optional<panel_state>& decided) {
  wait_for_turn(decided->panel.rows);
  deliver(*decided);
  release(decided->panel.rows);
  decided.reset();
}

entry_buffer* edge_walk::take_buffer(cudaStream_t user) {
  entry_buffer* const buffer = free_.front();
  free_.pop_front();
  GPU_SIMILARITY_CUDA_CHECK(cudaStreamWaitEvent(user, buffer->read.get()));
  return buffer;
}

panel_state edge_walk::find(const edge_panel& panel, candidate_counters& counters) {
  const cudaStream_t stream = source_.finding;
  const panel_state out{panel, take_buffer(stream), &counters};
  counters.clear(stream);
  const kernels::pair_tile_kind tile = source_.tile;
  const auto sink = out.buffer->entries.places().sink(cut_, counters.device_found());
  if (receiver_.wants_more()) {
    source_.rows.for_each_panel(
        panel.rows, panel.cols, kernels::pair_region::above_diagonal, tile, stream,
        [&](const kernels::pair_panel& part) { kernels::launch_pairs(tile, part, sink, stream); });
  }
  counters.read(stream);
  return out;
}

bool edge_walk::fits(const panel_state& found) {
  output_.wait_for(found.counters->ready());
  return found.counters->found() <= capacity_;
}

void edge_walk::learn(const row_range& rows, std::uint64_t found) {
  const double pairs = static_cast<double>(pairs_of_rows(source_.area, rows));
  const double fitting = pairs * panel_edges_ / (static_cast<double>(found) + 1);
  panel_pairs_ = std::min({fitting, panel_pairs_ * panel_growth, most_panel_pairs});
}

void edge_walk::decide(panel_state& found) {
  const cudaStream_t stream = source_.deciding;
  const std::uint64_t count = found.counters->found();
  if (count == 0) return;
  const kernels::edge_key_layout layout = layout_of(found.panel.rows);
  entry_buffer* const other = take_buffer(stream);
  const candidate_places queues[2] = {found.buffer->entries.places(), other->entries.places()};
  kernels::launch_finish_candidates({.what = {.tile = source_.tile,
                                              .rows = source_.rows.all(),
                                              .keep = source_.keep,
                                              .layout = layout},
                                     .keys = queues[0].keys,
                                     .values = queues[0].values,
                                     .count = count,
                                     .kept = found.counters->device_kept()},
                                    stream);
  const int result =
      sort_candidates(queues, count, layout.bits, {scratch_.data(), scratch_.bytes()}, stream);
  entry_buffer* const unused = result == 0 ? other : found.buffer;
  GPU_SIMILARITY_CUDA_CHECK(cudaEventRecord(unused->read.get(), stream));
  free_.push_back(unused);
  if (result == 1) found.buffer = other;
  found.counters->read(stream);
}

void edge_walk::deliver(const panel_state& decided) {
  has_delivered_ = true;
  output_.wait_for(decided.counters->ready());
  const candidate_places entries = decided.buffer->entries.places();
  output_.push({entries.keys, entries.values, layout_of(decided.panel.rows)},
               decided.counters->found() == 0 ? 0 : decided.counters->kept(),
               decided.counters->ready(), decided.buffer->read);
  free_.push_back(decided.buffer);
  // Others may only follow once these have been received.
  if (source_.share.members() > 1) output_.drain();
}

void edge_walk::do_in_pieces(const edge_panel& panel, std::uint64_t found) {
  // Twice the pieces that would do if candidates were spread evenly. One row is cut into columns
  // that cannot overflow.
  const index_t pieces = static_cast<index_t>(found / capacity_ + 1) * 2;
  const bool by_rows = panel.rows.size() > 1;
  const row_range whole = by_rows ? panel.rows : panel.cols;
  const index_t step =
      by_rows ? std::max<index_t>(1, whole.size() / pieces) : static_cast<index_t>(capacity_);
  for (index_t begin = whole.begin; begin < whole.end; begin += step) {
    const row_range part{begin, std::min(begin + step, whole.end)};
    panel_state piece = find(
        by_rows ? edge_panel{part, cols_of_rows(source_.area, part)} : edge_panel{panel.rows, part},
        counters_of_pieces_);
    if (fits(piece)) {
      decide(piece);
      deliver(piece);
    } else {
      free_.push_back(piece.buffer);
      do_in_pieces(piece.panel, piece.counters->found());
    }
  }
}

void edge_walk::release(const row_range& rows) {
  walk_->release(to_walk(source_.area, rows));
  walk_->advance(pairs_of_rows(source_.area, rows));
}

}  // namespace

double expected_edges(const detail::cut_sample& sample, std::uint64_t pairs) {
  const auto all = static_cast<double>(pairs);
  if (sample.pairs == 0) return std::min(all, static_cast<double>(most_panel_candidates));
  return sample.kept_share() * all;
}

void announce_edges(detail::edge_receiver& receiver, const detail::cut_sample& sample,
                    std::uint64_t pairs) {
  if (sample.pairs == 0) return;
  const auto all = static_cast<double>(pairs);
  receiver.begin(
      {.least = sample.least_kept_share() * all, .most = sample.most_kept_share() * all});
}

void write_edges_by_tiles(const edge_source& source, const detail::edge_request& request,
                          detail::edge_receiver& receiver, const detail::cut_sample& sample) {
  edge_walk(source, request, receiver, sample).run();
}

}  // namespace gpu::cuda
