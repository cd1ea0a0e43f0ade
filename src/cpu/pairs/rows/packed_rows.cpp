#include "cpu/pairs/rows/packed_rows.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/parallel.hpp"
#include "base/random_draw.hpp"
#include "stats/bins.hpp"

namespace gpu::cpu {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// What rounding to bytes takes from a cut, about, where ranks do not repeat: before there is a
// screen, which takes time to make.
constexpr double least_error = 0.008;

// Nanoseconds that an element takes to be in a screen, beyond what it takes otherwise.
constexpr double making_screen = 1;

// One pair in so many is looked at to estimate what passes: some per mille of the time of a screen.
constexpr double pairs_per_sample = 32768;
constexpr index_t least_sample = 64;
constexpr index_t most_sample = 1 << 14;
constexpr std::size_t samples_per_task = 256;

struct row_pair {
  index_t row;
  index_t col;
};

// Pair number k of a sample: the same on any number of threads.
row_pair draw_pair(const row_layout& layout, std::uint64_t k) {
  const auto& [first, second, asked] = layout;
  const index_t col_begin = second > 0 ? layout.second_begin() : asked.begin;
  const index_t cols = layout.places() - col_begin;
  constexpr int draws_bits = 16;  // that a pair may take
  for (std::uint64_t place = k << draws_bits;; ++place) {
    const std::uint64_t random = detail::random_at(place);
    const row_pair drawn{asked.begin + detail::draw_below(random >> 32, asked.size()),
                         col_begin + detail::draw_below(random & 0xffffffffU, cols)};
    // Where both rows are rows of the area, only one order of the two is a pair.
    if (asked.size() == cols ? drawn.row != drawn.col : drawn.row < drawn.col) return drawn;
  }
}

}  // namespace

packed_rows::packed_rows(const pair_kernels& kernels, packing how, const row_layout& layout,
                         index_t cols, int threads)
    : kernels_(kernels),
      dots_(how == packing::int8 ? &kernels.int8
                                 : (how == packing::int16 ? &kernels.int16 : &kernels.float32)),
      how_(how),
      layout_(layout),
      cols_(cols),
      threads_(threads) {}

void packed_rows::choose(const pair_task& task) {
  task_ = task;
  way_ = cpu_pair_way::every;
  estimate_ = {};
  searched_pairs_ = 0;
  candidates_ = 0;
  const bool has_cut =
      task.wanted == pair_task::output::matches || task.wanted == pair_task::output::counts;
  cut_ = has_cut ? make_cut(task.keep) : std::nullopt;
  keeps_none_ = cut_ && cut_->cut > 1;
  if (cut_ && !keeps_none_) choose_for_cut(*cut_);
}

void packed_rows::pack_for_way() {
  if (keeps_none_) return;
  if (way_ == cpu_pair_way::screen) {
    drop_sums();  // one form at a time
    return;
  }
  screen_ = {};
  pack_sums();
}

void packed_rows::pack_sums() {
  if (!columns_.is_empty()) return;
  columns_ = packed_columns(how_, size(), cols_, how_ == packing::int8 ? kernels_.int8_chunk : 0);
  pack(columns_);
}

void packed_rows::drop_packed() {
  screen_ = {};
  drop_sums();
}

double packed_rows::pairs() const {
  const auto asked = static_cast<double>(layout_.asked.size());
  if (layout_.second > 0) return asked * static_cast<double>(layout_.second);
  return asked * (static_cast<double>(layout_.first - 1 - layout_.asked.begin) - (asked - 1) / 2);
}

const std::vector<double>& packed_rows::sample() {
  const double pairs = this->pairs();
  if (!sample_.empty() || !(pairs > 0)) return sample_;
  const auto count = static_cast<std::size_t>(std::clamp(pairs / pairs_per_sample,
                                                         static_cast<double>(least_sample),
                                                         static_cast<double>(most_sample)));
  sample_.resize(count);
  const std::size_t tasks = (count + samples_per_task - 1) / samples_per_task;
  parallel_for(static_cast<index_t>(tasks), thread_count(threads_), [&](index_t task, int) {
    const std::size_t begin = static_cast<std::size_t>(task) * samples_per_task;
    for (std::size_t k = begin; k < std::min(begin + samples_per_task, count); ++k) {
      const row_pair drawn = draw_pair(layout_, k);
      sample_[k] = exact(drawn.row, drawn.col);
    }
  });
  return sample_;
}

void packed_rows::choose_for_cut(const kernel_cut& how) {
  const auto sampled = static_cast<index_t>(sample().size());
  const auto passed_at = [&](double cut) {
    return std::count_if(sample_.begin(), sample_.end(), [&](double r) {
      return how.side == cut_side::magnitude  ? std::abs(r) >= cut
             : how.side == cut_side::positive ? r >= cut
                                              : -r >= cut;
    });
  };
  const auto share_above = [&](double cut) { return estimated_share(passed_at(cut), sampled); };
  const double error = search_error();
  const bool only_near = error > 0 && task_.wanted == pair_task::output::counts && task_.bins == 0;
  const index_t sure = only_near ? passed_at(how.cut + error) : 0;
  estimate_ = {.sampled = sampled,
               .kept = estimated_share(passed_at(how.cut - error) - sure, sampled),
               .candidates = 1};
  cpu_pair_costs costs = this->costs(task_);
  const bool is_offered =
      kernels_.screen.search != nullptr && cols_ <= pair_policy::most_screened_cols && how.cut > 0;
  estimate_.candidates = is_offered ? share_above(how.cut - least_error) : 1;
  if (!is_offered) costs.screen = infinity;
  // Making the screen takes longer than what it saves.
  if (layout_.is_thin()) costs.screen = infinity;
  if (screen_.is_empty())
    costs.screen += making_screen * static_cast<double>(size() * cols_) / pairs();
  choice_ = choose_cpu_way(estimate_, costs);
  way_ = choice_.way;
  if (way_ != cpu_pair_way::screen) return;
  if (screen_.is_empty()) {
    drop_sums();
    screen_ = make_screen();
  }
  if (screen_.weakest(how.cut) <= 0) costs.screen = infinity;
  estimate_.candidates = share_above(screen_.weakest(how.cut));
  choice_ = choose_cpu_way(estimate_, costs);
  way_ = choice_.way;
}

std::string packed_rows::explain() const {
  if (keeps_none_) return "no pair is looked at: no statistic reaches the cut";
  if (estimate_.sampled == 0) return "every pair is decided: there is no cut, or nothing to sample";
  return explain_cpu_way(choice_, estimate_);
}

// A sample may have missed what is rare, and rows may be of several kinds. What was found stays.
void packed_rows::reconsider() {
  constexpr std::uint64_t least_pairs = 1 << 18;
  if (!cut_ || way_ == cpu_pair_way::every || searched_pairs_ < least_pairs) return;
  const auto done = static_cast<double>(searched_pairs_.load());
  const double share = static_cast<double>(candidates_) / done;
  pair_estimate seen = estimate_;
  (way_ == cpu_pair_way::screen ? seen.candidates : seen.kept) = share;
  if (way_ == cpu_pair_way::screen) seen.kept = std::min(seen.kept, share);
  const cpu_pair_way next = review_cpu_way(way_, seen, costs(task_), done, pairs());
  if (next == way_) return;
  way_ = choice_.way = next;
  estimate_ = seen;
  searched_pairs_ = 0;
  candidates_ = 0;
  pack_for_way();
}

void packed_rows::set_scales(std::vector<float> scales, double relative_band,
                             bool band_grows_with_cut) {
  scales_ = std::move(scales);
  largest_scale_ = scales_.empty() ? 0 : *std::max_element(scales_.begin(), scales_.end());
  const auto padded = round_up(static_cast<index_t>(scales_.size()), group_lanes * group_padding);
  scales_.resize(static_cast<std::size_t>(padded));
  relative_band_ = relative_band;
  band_grows_with_cut_ = band_grows_with_cut;
}

// Scratch of one thread: row steps and row cuts, sums before them; or the screen's.
std::size_t packed_rows::kernel_bytes() const {
  const index_t chunk = how_ == packing::int8 ? kernels_.int8_chunk : 0;
  const index_t steps = packed_columns::steps_of(how_, cols_, chunk);
  const auto of_rows = static_cast<std::size_t>(
      pair_policy::task_rows * (steps * step_bytes + static_cast<index_t>(sizeof(float))));
  return std::max(of_rows, row_screen::scratch_bytes(kernels_, cols_)) +
         sizeof(std::int32_t) *
             static_cast<std::size_t>(pair_policy::block_rows * pair_policy::block_cols);
}

std::int32_t* packed_rows::sums_of(pair_scratch& scratch) const {
  return reinterpret_cast<std::int32_t*>(scratch.kernel.data());
}

kernel_tile packed_rows::tile_of(const pair_tile& tile, pair_scratch& scratch) const {
  auto* steps = reinterpret_cast<std::uint8_t*>(sums_of(scratch) +
                                                pair_policy::block_rows * pair_policy::block_cols);
  columns_.copy_row_steps(tile.row_begin, tile.row_end, steps);
  return {.columns = columns_.group_of(tile.col_begin),
          .row_steps = steps,
          .steps = columns_.steps(),
          .rows = tile.rows(),
          .cols = tile.cols(),
          .diagonal = tile.col_begin - tile.row_begin};
}

std::optional<packed_rows::kernel_cut> packed_rows::make_cut(const detail::keep_range& keep) const {
  kernel_cut out;
  if (keep.at_least >= 0 && keep.at_most == -keep.at_least) {
    out.cut = keep.at_least;
    out.sign_keep = 0x7fffffffu;
    out.side = cut_side::magnitude;
  } else if (keep.at_most == -infinity) {
    out.cut = keep.at_least;
  } else if (keep.at_least == infinity) {
    out.cut = -keep.at_most;
    out.sign_flip = 0x80000000u;
    out.side = cut_side::negative;
  } else {
    return std::nullopt;
  }
  out.band = band_of(out.cut);
  return out;
}

float packed_rows::band_of(double cut) const {
  const double largest = largest_scale_ * largest_scale_;
  return static_cast<float>(relative_band_ * largest *
                            (band_grows_with_cut_ ? std::abs(cut) : 1.0));
}

float* packed_rows::row_cuts_of(pair_scratch& scratch) const {
  return reinterpret_cast<float*>(
      reinterpret_cast<std::uint8_t*>(sums_of(scratch) +
                                      pair_policy::block_rows * pair_policy::block_cols) +
      pair_policy::task_rows * columns_.steps() * step_bytes);
}

kernel_tile packed_rows::cut_tile(const pair_tile& tile, const kernel_cut& how,
                                  pair_scratch& scratch) const {
  kernel_tile out = tile_of(tile, scratch);
  float* const row_cut = row_cuts_of(scratch);
  std::fill_n(row_cut, round_up(tile.rows(), row_padding), 0.0f);
  for (index_t i = 0; i < tile.rows(); ++i) {
    row_cut[i] = static_cast<float>(
        how.cut * static_cast<double>(scales_[static_cast<std::size_t>(tile.row_begin + i)]));
  }
  out.row_cut = row_cut;
  out.col_scale = scales_.data() + tile.col_begin;
  out.band = how.band;
  out.sign_flip = how.sign_flip;
  out.sign_keep = how.sign_keep;
  return out;
}

template <class Take>
void packed_rows::search(const pair_tile& tile, const detail::keep_range& keep,
                         const kernel_cut& how, pair_scratch& scratch, const Take& take) const {
  struct context {
    const packed_rows& rows;
    const pair_tile& tile;
    const detail::keep_range& keep;
    const Take& take;
    mutable std::uint64_t candidates = 0;
    bool decide(index_t row, index_t col, double statistic) const {
      ++candidates;
      if (!keep.keeps(statistic)) return false;
      take(row, col, statistic);
      return true;
    }
  } shared{.rows = *this, .tile = tile, .keep = keep, .take = take};
  if (way_ == cpu_pair_way::screen) {
    const auto decide = [](void* opaque, index_t row, index_t col, std::int32_t) {
      const context& c = *static_cast<context*>(opaque);
      return c.decide(row, col, c.rows.exact(c.tile.row_begin + row, c.tile.col_begin + col));
    };
    screen_.search(tile, how.cut, how.side, scratch.kernel.data(),
                   {.keeps = decide, .context = &shared});
  } else {
    const auto decide = [](void* opaque, index_t row, index_t col, std::int32_t raw) {
      const context& c = *static_cast<context*>(opaque);
      return c.decide(row, col, c.rows.exact(c.tile.row_begin + row, c.tile.col_begin + col, raw));
    };
    search_sums(tile, how, scratch, {.keeps = decide, .context = &shared});
  }
  note_searched(static_cast<std::uint64_t>(tile.rows() * tile.cols()), shared.candidates);
}

void packed_rows::search_sums(const pair_tile& tile, const kernel_cut& how, pair_scratch& scratch,
                              const exact_test& test) const {
  dots_->search(cut_tile(tile, how, scratch), test);
}

void packed_rows::note_searched(std::uint64_t pairs, std::uint64_t candidates) const {
  searched_pairs_.fetch_add(pairs, std::memory_order_relaxed);
  candidates_.fetch_add(candidates, std::memory_order_relaxed);
}

// A search with one cut per row. Statistics are at most 1, and so are the bars that matter.
void packed_rows::above(const pair_tile& tile, const double* bars, bool by_magnitude,
                        pair_scratch& scratch, const pair_visitor& visit) const {
  constexpr float never = 3e38F;
  kernel_tile out = tile_of(tile, scratch);
  float* const row_cut = row_cuts_of(scratch);
  std::fill_n(row_cut, round_up(tile.rows(), row_padding), never);
  for (index_t i = 0; i < tile.rows(); ++i) {
    const double scale = scales_[static_cast<std::size_t>(tile.row_begin + i)];
    row_cut[i] = bars[i] < -2 ? -never : static_cast<float>(bars[i] * scale);
  }
  out.row_cut = row_cut;
  out.col_scale = scales_.data() + tile.col_begin;
  out.band = band_of(1);
  if (by_magnitude) out.sign_keep = 0x7fffffffu;
  out.diagonal = tile.rows();  // every pair counts
  struct context {
    const packed_rows& rows;
    const pair_tile& tile;
    const pair_visitor& visit;
  } shared{*this, tile, visit};
  const auto decide = [](void* opaque, index_t row, index_t col, std::int32_t raw) {
    const context& c = *static_cast<context*>(opaque);
    const index_t i = c.tile.row_begin + row;
    const index_t j = c.tile.col_begin + col;
    if (i != j) c.visit.take(c.visit.context, row, col, c.rows.exact(i, j, raw));
    return false;
  };
  dots_->search(out, {.keeps = decide, .context = &shared});
}

void packed_rows::select(const pair_tile& tile, const detail::keep_range& keep, const kernel_cut&,
                         pair_scratch& scratch, hit_buffer& out) const {
  pair_rows::matches(tile, keep, scratch, out);
}

void packed_rows::matches(const pair_tile& tile, const detail::keep_range& keep,
                          pair_scratch& scratch, hit_buffer& out) const {
  if (!cut_) return pair_rows::matches(tile, keep, scratch, out);
  if (keeps_none_) return;
  if (way_ == cpu_pair_way::every) return select(tile, keep, *cut_, scratch, out);
  search(tile, keep, *cut_, scratch, [&](index_t row, index_t col, double statistic) {
    out.push({static_cast<std::uint32_t>(tile.row_begin + row),
              static_cast<std::uint32_t>(tile.col_begin + col), statistic});
  });
}

std::uint64_t packed_rows::count(const pair_tile& tile, const detail::keep_range& keep,
                                 pair_scratch& scratch, std::uint32_t* row_degree,
                                 std::uint32_t* col_degree, const pair_bins& bins) const {
  const bool is_searched = way_ != cpu_pair_way::every;
  if (keeps_none_) return 0;
  if (!cut_ || (bins.count > 0 && !is_searched)) {
    return pair_rows::count(tile, keep, scratch, row_degree, col_degree, bins);
  }
  if (is_searched) {
    std::uint64_t kept = 0;
    search(tile, keep, *cut_, scratch, [&](index_t row, index_t col, double statistic) {
      ++row_degree[row];
      ++col_degree[col];
      ++kept;
      if (bins.count > 0) ++bins.histogram[detail::histogram_bin(statistic, bins.count)];
    });
    return kept;
  }
  return count_sums(tile, keep, scratch, row_degree, col_degree);
}

std::uint64_t packed_rows::count_sums(const pair_tile& tile, const detail::keep_range& keep,
                                      pair_scratch& scratch, std::uint32_t* row_degree,
                                      std::uint32_t* col_degree) const {
  struct context {
    const packed_rows& rows;
    const pair_tile& tile;
    const detail::keep_range& keep;
  } shared{*this, tile, keep};
  const auto decide = [](void* opaque, index_t row, index_t col, std::int32_t raw) {
    const context& c = *static_cast<context*>(opaque);
    return c.keep.keeps(c.rows.exact(c.tile.row_begin + row, c.tile.col_begin + col, raw));
  };
  return dots_->count(cut_tile(tile, *cut_, scratch), {.keeps = decide, .context = &shared},
                      row_degree, col_degree);
}

}  // namespace gpu::cpu
