// Edges and counts of the CUDA pair engine where a screen leaves few pairs to decide.
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "cuda/pairs/edge_output.hpp"
#include "cuda/pairs/edges.hpp"
#include "cuda/pairs/engine.hpp"
#include "cuda/pairs/programs/candidate_queue.hpp"
#include "cuda/pairs/rows/memory_sizes.hpp"
#include "plan/forced/forced_ways.hpp"

namespace gpu::cuda {
namespace {

// Whether a screen goes on. It is one of `members` on several devices; the others are taken to have
// come as far.
bool goes_on(const pair_screen& screen, int members, double pairs, std::uint64_t candidates) {
  return detail::screen_goes_on(screen.choice(),
                                {.pairs = pairs * members,
                                 .candidates = static_cast<double>(candidates) * members,
                                 .all_pairs = screen.pairs()});
}

// Screen `number` of those that there are, from 1; none for 0 and where there are fewer.
std::optional<detail::screen_choice> screen_of(const detail::measure_traits& what,
                                               const detail::keep_range& keep, index_t cols,
                                               detail::screen_use use, int number,
                                               const detail::cut_sample& sample) {
  const auto screens = detail::screens_for(what, keep, cols, use);
  if (number < 1 || number > static_cast<int>(screens.size())) return std::nullopt;
  const auto place = static_cast<std::size_t>(number - 1);
  detail::screen_choice out = screens[place].screen;
  out.candidates = sample.share(sample.candidates[place]);
  return out;
}

// Edges that a screen found, in no order, kept in device memory until they are put in order.
class found_edges {
 public:
  // Device memory that an edge takes, the sort included, while the store grows.
  static constexpr std::size_t bytes_per_edge = 2 * 2 * sizeof(std::uint64_t);

  // For edges of an area; it counts as full from `most` of them on.
  found_edges(const detail::pair_area& area, std::uint64_t most, cudaStream_t stream)
      : layout_(kernels::edge_key_layout::of_rows(area.rows.begin, area.rows.end, area.cols.begin,
                                                  area.cols.size())),
        most_(most),
        stream_(stream),
        buffer_(std::min(most, std::uint64_t{1} << 16), stream) {}

  [[nodiscard]] std::uint64_t count() const { return count_; }
  [[nodiscard]] bool is_full() const { return count_ >= most_; }
  void clear() { count_ = 0; }
  void add(const kernels::screened_edge* found, std::uint64_t count);
  void sort();
  // What is stored, valid until the next add() or sort().
  [[nodiscard]] kernels::decided_edges edges() const {
    return {buffer_.places().keys, buffer_.places().values, layout_};
  }

 private:
  kernels::edge_key_layout layout_;
  std::uint64_t most_;
  cudaStream_t stream_;
  candidate_buffer buffer_;
  std::uint64_t count_ = 0;
};

void found_edges::add(const kernels::screened_edge* found, std::uint64_t count) {
  const std::uint64_t needed = count_ + count;
  if (needed > buffer_.capacity()) {
    candidate_buffer larger(std::max(needed, 2 * buffer_.capacity()), stream_);
    const candidate_places from = buffer_.places();
    const candidate_places to = larger.places();
    copy_elements(to.keys, from.keys, count_, stream_);
    copy_elements(to.values, from.values, count_, stream_);
    std::swap(buffer_, larger);
  }
  const candidate_places places = buffer_.places();
  kernels::launch_key_screened(found, count, nullptr, layout_, places.keys + count_,
                               places.values + count_, stream_);
  count_ = needed;
}

void found_edges::sort() {
  candidate_buffer other(count_, stream_);
  const device_buffer<std::byte> scratch(kernels::sort_scratch_bytes(count_), stream_);
  const int result = sort_candidates({buffer_.places(), other.places()}, count_, layout_.bits,
                                     {scratch.data(), scratch.bytes()}, stream_);
  if (result == 1) std::swap(buffer_, other);
}

// Hands on edges as a screen finds them, or all of them in order at its end.
class screened_writer {
 public:
  screened_writer(const pair_budget& budget, pair_share& share, const detail::pair_area& area,
                  cudaStream_t stream, const detail::edge_request& request,
                  detail::edge_receiver& receiver, double expected)
      : share_(share),
        stream_(stream),
        request_(request),
        receiver_(receiver),
        ordered_(request.order == edge_order::by_row_then_column),
        merged_(ordered_ && share.members() > 1),
        collected_(receiver),
        output_(request, target(), expected, output_room(budget)),
        found_(area, room(budget), stream) {}

  /// Whether no more edges can wait to be put in order.
  [[nodiscard]] bool is_full() const { return ordered_ && found_.is_full(); }

  void take(const kernels::screened_edge* found, std::uint64_t count, pair_walk& walk) {
    if (ordered_) return found_.add(found, count);
    // Once an edge has left, the screen must go on to the end.
    if (count == 0 || !walk.commit()) return;
    GPU_SIMILARITY_CUDA_CHECK(cudaStreamWaitEvent(stream_, read_.get()));
    found_.clear();
    found_.add(found, count);
    push();
  }

  /// After the last of them.
  void finish() {
    if (ordered_) {
      found_.sort();
      push();
    }
    output_.drain();
    if (merged_) share_.merge(collected_.list, request_.batch_edges, receiver_);
  }

 private:
  // The edges of one device, which wait for those of the others.
  struct edge_collector final : detail::edge_receiver {
    explicit edge_collector(const detail::edge_receiver& asks) : asked(asks) {}
    void take(const detail::edge_batch& batch) override {
      list.insert(list.end(), batch.edges.begin(), batch.edges.end());
    }
    [[nodiscard]] bool wants_more() const override { return asked.wants_more(); }
    const detail::edge_receiver& asked;
    std::vector<edge> list = {};
  };

  [[nodiscard]] detail::edge_receiver& target() {
    if (merged_) return collected_;
    return receiver_;
  }
  // Edges for which there is memory beside the output.
  [[nodiscard]] std::uint64_t room(const pair_budget& budget) const {
    const std::size_t left = budget.left() - std::min(budget.left(), output_.bytes());
    // Half of it: one more slice may come, and a growing store exists twice for a moment.
    const std::uint64_t fitting = left / 2 / found_edges::bytes_per_edge;
    return std::clamp<std::uint64_t>(fitting, 1, memory_sizes::most_ordered_edges);
  }
  void push() {
    GPU_SIMILARITY_CUDA_CHECK(cudaEventRecord(ready_.get(), stream_));
    output_.push(found_.edges(), found_.count(), ready_, read_);
  }

  pair_share& share_;
  cudaStream_t stream_;
  const detail::edge_request& request_;
  detail::edge_receiver& receiver_;
  bool ordered_;
  bool merged_;  // with those of other devices
  edge_collector collected_;
  edge_output output_;
  found_edges found_;
  event ready_;
  event read_;
};

}  // namespace

detail::pair_cut cuda_engine::screened_cut(const detail::pair_cut& keep,
                                           const detail::tied_cut* tied) const {
  if (tied == nullptr || rows_->format().tile != kernels::pair_tile_kind::signs) return keep;
  const auto untied = std::count_if(info_.ties.begin(), info_.ties.end(),
                                    [](const row_ties& ties) { return ties.pairs == 0; });
  const double least = stats::least_rho(rows_->tied(), untied > 1);
  return detail::pair_cut::of({.at_least = least, .at_most = -least});
}

bool cuda_engine::may_screen(const detail::keep_range& keep, detail::screen_use use) const {
  const detail::forced_cuda_ways& forced = detail::ways_in_force().cuda;
  const bool is_short =
      !forced.never_short && !forced.screen &&
      detail::is_short_for_screens(what_, info_.cols, use, static_cast<double>(pairs()));
  return screen_search::takes(shape()) && !is_short &&
         !detail::screens_for(what_, keep, info_.cols, use).empty();
}

std::optional<pair_screen> cuda_engine::make_screen(const detail::pair_cut& keep,
                                                    detail::screen_use use,
                                                    const detail::cut_sample& sample) {
  if (!may_screen(keep.widest, use)) return std::nullopt;
  const std::optional<int> forced = detail::ways_in_force().cuda.screen;
  const auto choice = forced ? screen_of(what_, keep.widest, info_.cols, use, *forced, sample)
                             : detail::choose_screen(what_, keep.widest, info_.cols, use, sample);
  if (!choice) return std::nullopt;
  const area_sides sides = sides_of(area_, info_);
  const std::size_t bytes = pair_screen::bytes(count(), sides, *choice) + rows_->rank_bytes();
  const bool fits = rows_->resident() && bytes <= budget_.left();
  if (!share_->agree(fits)) return std::nullopt;
  rows_->make_ranks(stream());
  return std::optional<pair_screen>(std::in_place, *rows_, sides, *choice, keep, multiprocessors_,
                                    stream());
}

bool cuda_engine::screen_edges(const detail::edge_request& request, const detail::pair_cut& keep,
                               detail::edge_receiver& receiver, const detail::cut_sample& sample) {
  std::optional<pair_screen> screen =
      make_screen(screened_cut(keep, request.tied), detail::screen_use::edges, sample);
  if (!screen) return false;
  const auto walk = walk_pairs("pairs", screen->items());
  screened_writer writer(budget_, *share_, area_, stream(), request, receiver,
                         expected_edges(sample, pairs()));
  const bool complete = screen->run(
      *walk,
      [&](const kernels::screened_edge* found, std::uint64_t kept) {
        writer.take(found, kept, *walk);
      },
      [&](double looked_at, std::uint64_t candidates) {
        return goes_on(*screen, share_->members(), looked_at, candidates) && !writer.is_full();
      });
  if (complete) {
    if (request.order == edge_order::by_row_then_column) announce_edges(receiver, sample, pairs());
    writer.finish();
  }
  return complete;
}

bool cuda_engine::screen_counts(const detail::count_request& request, const detail::pair_cut& keep,
                                pair_counts& out) {
  const auto use =
      request.weights.empty() ? detail::screen_use::counts : detail::screen_use::weighted_counts;
  const detail::pair_cut screened = screened_cut(keep, request.tied);
  if (!may_screen(screened.widest, use)) return false;
  const detail::cut_sample sample = sample_cut(screened);
  std::optional<pair_screen> screen = make_screen(screened, use, sample);
  if (!screen) return false;
  const auto rows = static_cast<std::size_t>(count());
  const auto bins = static_cast<std::size_t>(request.histogram_bins);
  budget_.require(rows * sizeof(std::uint32_t) + bins * sizeof(std::uint64_t), "degrees and bins");
  const device_buffer<std::uint32_t> weights = upload_weights(request.weights);
  const auto degree = zeroed<std::uint32_t>(rows, stream());
  const auto sums = zeroed<unsigned long long>(1 + bins, stream());
  const kernels::screened_counts into{.kept = sums.data(),
                                      .degree = degree.data(),
                                      .weights = weights.data(),
                                      .histogram = sums.data() + 1,
                                      .histogram_bins = request.histogram_bins};
  const auto walk = walk_pairs("pairs", screen->items());
  const bool complete = screen->run(
      *walk,
      [&](const kernels::screened_edge* found, std::uint64_t kept) {
        kernels::launch_count_screened(found, kept, into, stream());
      },
      [&](double looked_at, std::uint64_t candidates) {
        return goes_on(*screen, share_->members(), looked_at, candidates);
      });
  if (!complete) return false;
  std::vector<unsigned long long> totals(1 + bins);
  read_back(totals.data(), sums.data(), sums.size(), stream());
  out.degree.resize(rows);
  read_back(out.degree.data(), degree.data(), degree.size(), stream());
  out.kept = totals.front();
  std::copy(totals.begin() + 1, totals.end(), out.histogram.begin());
  return true;
}

}  // namespace gpu::cuda
