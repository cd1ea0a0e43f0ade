// Edges of the CUDA pair engine. While the tiles of one panel of rows fill a queue, the panel
// before is decided exactly, sorted, copied and delivered. A panel that overflows its queue is
// redone in pieces: nothing is dropped.
#include <algorithm>
#include <bit>
#include <vector>

#include "cuda/pairs/candidate_queue.hpp"
#include "cuda/pairs/engine.hpp"

namespace gpu::cuda {
namespace {

constexpr std::uint64_t most_candidates = std::uint64_t{1} << 25;
constexpr index_t most_copied = index_t{1} << 18;
// Panels aim at this share of the queue, so that the next one rarely overflows.
constexpr double wanted_fill = 0.5;
constexpr double first_panel_pairs = 1 << 26;
constexpr double panel_growth = 8;
constexpr double most_panel_pairs = 1e11;
// Two queues and the second buffer of the sort, 16 bytes an entry each.
constexpr std::size_t bytes_per_candidate = 3 * 2 * sizeof(std::uint64_t);

// The largest queue that fits `bytes` with its sort.
std::uint64_t choose_capacity(std::size_t bytes, std::uint64_t pairs) {
  std::uint64_t capacity =
      std::min({most_candidates, pairs, std::uint64_t{bytes / bytes_per_candidate}});
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

}  // namespace

class pair_engine::edge_writer {
 public:
  edge_writer(pair_engine& engine, const detail::edge_request& request,
              const detail::edge_receiver& receive);
  ~edge_writer();
  edge_writer(const edge_writer&) = delete;
  edge_writer& operator=(const edge_writer&) = delete;

  void run();

 private:
  void find(const edge_panel& panel, candidate_queue& queue);
  // Waits for the panel in `queue`, delivers its edges, and learns how dense they are.
  void drain(const edge_panel& panel, candidate_queue& queue);
  void redo_in_pieces(const edge_panel& panel, candidate_queue& queue);
  void deliver(candidate_queue& queue);
  void copy_chunk(const std::uint64_t* keys, const std::uint64_t* values, std::uint64_t first,
                  std::uint64_t count, int slot);
  void receive_chunk(std::uint64_t count, int slot);

  pair_engine& engine_;
  const detail::edge_request& request_;
  const detail::edge_receiver& receive_;
  kernels::cut_estimate cut_;
  std::uint64_t capacity_;
  candidate_queue queues_[2];
  device_buffer<std::uint64_t> sorted_keys_;
  device_buffer<std::uint64_t> sorted_values_;
  device_buffer<std::byte> scratch_;
  index_t chunk_;
  pinned_buffer<std::uint64_t> host_keys_[2];
  pinned_buffer<std::uint64_t> host_values_[2];
  event copied_[2];
  std::vector<edge> batch_;
  double panel_pairs_;
  std::shared_ptr<pair_walk> walk_;
  row_range turn_;  // of the walk, that the panel in hand belongs to
};

pair_engine::edge_writer::edge_writer(pair_engine& engine, const detail::edge_request& request,
                                      const detail::edge_receiver& receive)
    : engine_(engine),
      request_(request),
      receive_(receive),
      cut_(estimate_cut(request.keep, engine.estimate_error())),
      capacity_(
          choose_capacity(engine.budget_.left(), upper_pairs({0, engine.count()}, engine.count()))),
      queues_{{capacity_, engine.stream()}, {capacity_, engine.stream()}},
      chunk_(std::min({request.batch_edges, most_copied, static_cast<index_t>(capacity_)})),
      panel_pairs_(std::max(first_panel_pairs, static_cast<double>(capacity_) * wanted_fill)) {
  engine.budget_.require(capacity_ * bytes_per_candidate + kernels::sort_scratch_bytes(capacity_),
                         "queues of edges");
  const cudaStream_t output = engine.output_.get();
  sorted_keys_ = {capacity_, output};
  sorted_values_ = {capacity_, output};
  scratch_ = {kernels::sort_scratch_bytes(capacity_), output};
  for (int slot = 0; slot < 2; ++slot) {
    host_keys_[slot] = pinned_buffer<std::uint64_t>(static_cast<std::size_t>(chunk_));
    host_values_[slot] = pinned_buffer<std::uint64_t>(static_cast<std::size_t>(chunk_));
  }
  batch_.resize(static_cast<std::size_t>(chunk_));
}

pair_engine::edge_writer::~edge_writer() {
  // Copies into the pinned buffers may be under way where an exception ends the run.
  static_cast<void>(cudaStreamSynchronize(engine_.stream()));
  static_cast<void>(cudaStreamSynchronize(engine_.output_.get()));
}

void pair_engine::edge_writer::run() {
  const index_t rows = engine_.count();
  walk_ = engine_.walk_pairs("pairs", rows);
  const pair_walk::piece piece = engine_.rows_piece(*walk_, panel_pairs_);
  row_range before;
  for (int slot = 0;; slot = 1 - slot) {
    const row_range taken = walk_->take(piece);
    if (!taken.empty()) find({taken, {taken.begin, rows}}, queues_[slot]);
    if (!before.empty()) {
      drain({before, {before.begin, rows}}, queues_[1 - slot]);
      walk_->release(before);
      walk_->advance(upper_pairs(before, rows));
    }
    if (taken.empty()) break;
    before = taken;
  }
  walk_->finish();
}

void pair_engine::edge_writer::find(const edge_panel& panel, candidate_queue& queue) {
  const cudaStream_t stream = engine_.stream();
  queue.clear(stream);
  const kernels::pair_tile_kind tile = engine_.rows_->format().tile;
  engine_.rows_->for_each_panel(panel.rows, panel.cols, kernels::pair_region::above_diagonal, tile,
                                stream, [&](const kernels::pair_panel& part) {
                                  kernels::launch_pairs(tile, part, queue.sink(cut_), stream);
                                });
  queue.read_counters(stream);
}

void pair_engine::edge_writer::drain(const edge_panel& panel, candidate_queue& queue) {
  queue.wait_for_counters();
  turn_ = panel.rows;
  const double pairs = static_cast<double>(upper_pairs(panel.rows, engine_.count()));
  const double found = static_cast<double>(queue.found()) + 1;
  const double fitting = pairs * wanted_fill * static_cast<double>(capacity_) / found;
  panel_pairs_ = std::min({fitting, panel_pairs_ * panel_growth, most_panel_pairs});
  if (queue.found() > queue.capacity()) {
    redo_in_pieces(panel, queue);
  } else {
    deliver(queue);
  }
}

void pair_engine::edge_writer::redo_in_pieces(const edge_panel& panel, candidate_queue& queue) {
  // Twice the pieces that would do if candidates were spread evenly. One row is cut into columns
  // that cannot overflow.
  const index_t pieces = static_cast<index_t>(queue.found() / queue.capacity() + 1) * 2;
  const bool by_rows = panel.rows.size() > 1;
  const row_range whole = by_rows ? panel.rows : panel.cols;
  const index_t step = by_rows ? std::max<index_t>(1, whole.size() / pieces)
                               : static_cast<index_t>(queue.capacity());
  for (index_t begin = whole.begin; begin < whole.end; begin += step) {
    const row_range part{begin, std::min(begin + step, whole.end)};
    const edge_panel piece =
        by_rows ? edge_panel{part, {part.begin, panel.cols.end}} : edge_panel{panel.rows, part};
    find(piece, queue);
    queue.wait_for_counters();
    if (queue.found() > queue.capacity()) {
      redo_in_pieces(piece, queue);
    } else {
      deliver(queue);
    }
  }
}

void pair_engine::edge_writer::deliver(candidate_queue& queue) {
  const std::uint64_t found = queue.found();
  if (found == 0) return;
  const cudaStream_t output = engine_.output_.get();
  queue.finish(engine_.rows_->format().tile, engine_.rows_->all(), request_.keep, output);
  queue.read_counters(output);
  std::uint64_t* const keys[2] = {queue.keys(), sorted_keys_.data()};
  std::uint64_t* const values[2] = {queue.values(), sorted_values_.data()};
  int result = 0;
  std::uint64_t count = found;
  if (request_.order == edge_order::by_row_then_column) {
    result =
        kernels::sort_candidates(scratch_.data(), scratch_.bytes(), keys, values, found, output);
    queue.wait_for_counters();
    count = queue.kept();  // dropped ones are last
    walk_->wait_for_turn(turn_);
  }
  const auto chunk = static_cast<std::uint64_t>(chunk_);
  int slot = 0;
  copy_chunk(keys[result], values[result], 0, std::min(chunk, count), slot);
  for (std::uint64_t first = 0; first < count; first += chunk, slot = 1 - slot) {
    const std::uint64_t next = first + chunk;
    if (next < count) {
      copy_chunk(keys[result], values[result], next, std::min(chunk, count - next), 1 - slot);
    }
    receive_chunk(std::min(chunk, count - first), slot);
  }
  // The queue is filled anew on the other stream.
  GPU_SIMILARITY_CUDA_CHECK(cudaStreamSynchronize(output));
}

void pair_engine::edge_writer::copy_chunk(const std::uint64_t* keys, const std::uint64_t* values,
                                          std::uint64_t first, std::uint64_t count, int slot) {
  const cudaStream_t output = engine_.output_.get();
  const std::size_t bytes = count * sizeof(std::uint64_t);
  GPU_SIMILARITY_CUDA_CHECK(cudaMemcpyAsync(host_keys_[slot].data(), keys + first, bytes,
                                            cudaMemcpyDeviceToHost, output));
  GPU_SIMILARITY_CUDA_CHECK(cudaMemcpyAsync(host_values_[slot].data(), values + first, bytes,
                                            cudaMemcpyDeviceToHost, output));
  GPU_SIMILARITY_CUDA_CHECK(cudaEventRecord(copied_[slot].get(), output));
}

void pair_engine::edge_writer::receive_chunk(std::uint64_t count, int slot) {
  GPU_SIMILARITY_CUDA_CHECK(cudaEventSynchronize(copied_[slot].get()));
  const std::uint64_t* keys = host_keys_[slot].data();
  const std::uint64_t* values = host_values_[slot].data();
  std::size_t edges = 0;
  for (std::uint64_t at = 0; at < count; ++at) {
    if (keys[at] == kernels::dropped_key) continue;
    batch_[edges++] = {.row = static_cast<node_id>(keys[at] >> 32),
                       .col = static_cast<node_id>(keys[at] & 0xffffffffu),
                       .statistic = std::bit_cast<double>(values[at]),
                       .p = 0};
  }
  if (edges > 0) receive_({batch_.data(), edges});
}

void pair_engine::edges(const detail::edge_request& request, const detail::edge_receiver& receive) {
  const device_guard guard(ordinal_);
  if (count() < 2 || screen_edges(request, receive)) return;
  edge_writer(*this, request, receive).run();
}

}  // namespace gpu::cuda
