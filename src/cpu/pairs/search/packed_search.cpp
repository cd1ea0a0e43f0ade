#include "cpu/pairs/search/packed_search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <gpu/error.hpp>

#include "base/parallel.hpp"
#include "base/random_draw.hpp"
#include "plan/forced/forced_ways.hpp"
#include "stats/bins.hpp"

namespace gpu::cpu {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// What rounding to bytes takes from a cut, about, where ranks do not repeat: before there is a
// screen, which takes time to make.
constexpr double least_error = 0.008;

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
  const row_range& asked = layout.asked;
  const index_t col_begin = layout.second > 0 ? layout.second_begin() : asked.begin;
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

// The choice, or the way that a measurement forces.
cpu_way_choice choice_among(const pair_estimate& estimate, const cpu_pair_costs& costs) {
  cpu_way_choice out = choose_cpu_way(estimate, costs);
  const std::optional<cpu_pair_way>& forced = detail::ways_in_force().cpu.way;
  if (!forced) return out;
  out.way = *forced;
  const double expected = out.way == cpu_pair_way::screen   ? out.screen
                          : out.way == cpu_pair_way::search ? out.search
                                                            : out.every;
  if (!std::isfinite(expected)) throw unsupported("these rows do not offer the forced way");
  return out;
}

}  // namespace

row_scales::row_scales(std::vector<float> of_rows, double relative_band, bool band_grows_with_cut)
    : scales_(std::move(of_rows)),
      relative_band_(relative_band),
      band_grows_with_cut_(band_grows_with_cut),
      largest_(scales_.empty() ? 0 : *std::max_element(scales_.begin(), scales_.end())) {
  const auto padded = round_up(static_cast<index_t>(scales_.size()), group_lanes * group_padding);
  scales_.resize(static_cast<std::size_t>(padded));
}

float row_scales::band_of(double cut) const {
  return static_cast<float>(relative_band_ * (largest_ * largest_) *
                            (band_grows_with_cut_ ? std::abs(cut) : 1.0));
}

packed_search::packed_search(const packed_form& form, const pair_task& task, int threads,
                             packed_search* earlier)
    : pair_search(task, threads),
      form_(form),
      dots_(form.how == packing::int8
                ? &form.kernels.int8
                : (form.how == packing::int16 ? &form.kernels.int16 : &form.kernels.float32)),
      threads_(threads) {
  if (earlier == nullptr) return;
  take_scratch(*earlier);
  columns_ = std::move(earlier->columns_);
  screen_ = std::move(earlier->screen_);
  sample_ = std::move(earlier->sample_);
}

void packed_search::choose() {
  way_ = cpu_pair_way::every;
  estimate_ = {};
  const bool has_cut =
      layout().has_kernel_groups() &&
      (task().wanted == pair_task::output::matches || task().wanted == pair_task::output::counts);
  cut_ = has_cut ? make_cut(task().keep) : std::nullopt;
  keeps_none_ = cut_ && cut_->cut > 1;
  // A sample has so many pairs at least: to decide them all takes no longer.
  const bool is_small = pairs() <= least_sample || !pays_to_pack();
  if (is_small && !detail::ways_in_force().cpu.way) cut_ = std::nullopt;
  if (cut_ && !keeps_none_) choose_for_cut(*cut_);
}

void packed_search::pack_for_way() {
  if (keeps_none_ || !layout().has_kernel_groups()) return;
  if (way_ == cpu_pair_way::screen) {
    drop_sums();  // one form at a time
    return;
  }
  screen_ = {};
  pack_sums();
}

void packed_search::pack_sums() {
  if (!columns_.is_empty()) return;
  columns_ = packed_columns(form_.how, size(), cols(),
                            form_.how == packing::int8 ? kernels().int8_chunk : 0);
  pack(columns_);
}

void packed_search::drop_packed() {
  screen_ = {};
  drop_sums();
}

double packed_search::pairs() const {
  const auto asked = static_cast<double>(layout().asked.size());
  if (layout().second > 0) return asked * static_cast<double>(layout().second);
  return asked * (static_cast<double>(layout().first - 1 - layout().asked.begin) - (asked - 1) / 2);
}

const std::vector<double>& packed_search::sample() {
  const double pairs = this->pairs();
  if (!sample_.empty() || !(pairs > 0)) return sample_;
  const auto count = static_cast<std::size_t>(std::clamp(pairs / pairs_per_sample,
                                                         static_cast<double>(least_sample),
                                                         static_cast<double>(most_sample)));
  sample_.resize(count);
  const std::size_t tasks = (count + samples_per_task - 1) / samples_per_task;
  detail::parallel_for(static_cast<index_t>(tasks), threads_, [&](index_t task, int) {
    const std::size_t begin = static_cast<std::size_t>(task) * samples_per_task;
    for (std::size_t k = begin; k < std::min(begin + samples_per_task, count); ++k) {
      const row_pair drawn = draw_pair(layout(), k);
      sample_[k] = exact(drawn.row, drawn.col);
    }
  });
  return sample_;
}

void packed_search::choose_for_cut(const kernel_cut& how) {
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
  const bool only_near =
      error > 0 && task().wanted == pair_task::output::counts && task().bins == 0;
  const index_t sure = only_near ? passed_at(how.cut + error) : 0;
  estimate_ = {.sampled = sampled,
               .kept = estimated_share(passed_at(how.cut - error) - sure, sampled),
               .candidates = 1};
  cpu_pair_costs costs = this->costs();
  const bool is_offered = kernels().screen.search != nullptr &&
                          cols() <= pair_policy::most_screened_cols && how.cut > 0;
  estimate_.candidates = is_offered ? share_above(how.cut - least_error) : 1;
  if (!is_offered) costs.screen = infinity;
  // Making the screen takes longer than what it saves.
  if (layout().is_thin()) costs.screen = infinity;
  if (screen_.is_empty()) {
    costs.screen += kernels().costs.making_screen * static_cast<double>(size() * cols()) / pairs();
  }
  choice_ = choice_among(estimate_, costs);
  way_ = choice_.way;
  if (way_ != cpu_pair_way::screen) return;
  if (screen_.is_empty()) {
    drop_sums();
    screen_ = make_screen();
  }
  if (screen_.weakest(how.cut) <= 0) costs.screen = infinity;
  estimate_.candidates = share_above(screen_.weakest(how.cut));
  choice_ = choice_among(estimate_, costs);
  way_ = choice_.way;
}

std::string packed_search::explain() const {
  if (keeps_none_) return "no pair is looked at: no statistic reaches the cut";
  if (!layout().has_kernel_groups())
    return "every pair is decided: memory holds few rows at a time";
  if (estimate_.sampled == 0)
    return "every pair is decided: there is no cut, or too few pairs a row to search";
  return explain_cpu_way(choice_, estimate_);
}

// A sample may have missed what is rare, and rows may be of several kinds. What was found stays.
void packed_search::reconsider() {
  constexpr std::uint64_t least_pairs = 1 << 18;
  if (!cut_ || way_ == cpu_pair_way::every || detail::ways_in_force().cpu.way) return;
  const search_tally so_far = tally();
  if (so_far.searched < least_pairs) return;
  const auto done = static_cast<double>(so_far.searched);
  const double share = static_cast<double>(so_far.candidates) / done;
  pair_estimate seen = estimate_;
  (way_ == cpu_pair_way::screen ? seen.candidates : seen.kept) = share;
  if (way_ == cpu_pair_way::screen) seen.kept = std::min(seen.kept, share);
  const cpu_pair_way next = review_cpu_way(way_, seen, costs(), done, pairs());
  if (next == way_) return;
  way_ = choice_.way = next;
  estimate_ = seen;
  clear_tallies();
  pack_for_way();
}

// Scratch of one thread: row steps and row cuts, sums before them; or the screen's.
std::size_t packed_search::kernel_bytes() const {
  const index_t chunk = form_.how == packing::int8 ? kernels().int8_chunk : 0;
  const index_t steps = packed_columns::steps_of(form_.how, cols(), chunk);
  const auto of_rows = static_cast<std::size_t>(
      pair_policy::task_rows * (steps * step_bytes + static_cast<index_t>(sizeof(float))));
  return std::max(of_rows, row_screen::scratch_bytes(kernels(), cols())) +
         sizeof(std::int32_t) *
             static_cast<std::size_t>(pair_policy::block_rows * pair_policy::block_cols);
}

std::int32_t* packed_search::sums_of(pair_scratch& scratch) const {
  return reinterpret_cast<std::int32_t*>(scratch.kernel.data());
}

kernel_tile packed_search::tile_of(const pair_tile& tile, pair_scratch& scratch) const {
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

std::optional<packed_search::kernel_cut> packed_search::make_cut(
    const detail::keep_range& keep) const {
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
  out.band = form_.scales.band_of(out.cut);
  return out;
}

float* packed_search::row_cuts_of(pair_scratch& scratch) const {
  return reinterpret_cast<float*>(
      reinterpret_cast<std::uint8_t*>(sums_of(scratch) +
                                      pair_policy::block_rows * pair_policy::block_cols) +
      pair_policy::task_rows * columns_.steps() * step_bytes);
}

kernel_tile packed_search::cut_tile(const pair_tile& tile, const kernel_cut& how,
                                    pair_scratch& scratch) const {
  kernel_tile out = tile_of(tile, scratch);
  float* const row_cut = row_cuts_of(scratch);
  std::fill_n(row_cut, round_up(tile.rows(), row_padding), 0.0f);
  for (index_t i = 0; i < tile.rows(); ++i) {
    row_cut[i] =
        static_cast<float>(how.cut * static_cast<double>(form_.scales.of(tile.row_begin + i)));
  }
  out.row_cut = row_cut;
  out.col_scale = form_.scales.from(tile.col_begin);
  out.band = how.band;
  out.sign_flip = how.sign_flip;
  out.sign_keep = how.sign_keep;
  return out;
}

template <class Take>
void packed_search::find(const pair_tile& tile, const kernel_cut& how, pair_scratch& scratch,
                         const Take& take) const {
  const detail::keep_range keep = task().keep;
  std::uint64_t candidates = 0;
  const auto decide = [&](index_t row, index_t col, double statistic) {
    ++candidates;
    if (!keep.keeps(statistic)) return false;
    take(row, col, statistic);
    return true;
  };
  if (way_ == cpu_pair_way::screen) {
    const auto test = [&](index_t row, index_t col, std::int32_t) {
      return decide(row, col, exact(tile.row_begin + row, tile.col_begin + col));
    };
    screen_.search(tile, how.cut, how.side, scratch.kernel.data(), test);
  } else {
    const auto test = [&](index_t row, index_t col, std::int32_t raw) {
      return decide(row, col, exact(tile.row_begin + row, tile.col_begin + col, raw));
    };
    search_sums(tile, how, scratch, test);
  }
  note_searched(tile, candidates, scratch);
}

void packed_search::search_sums(const pair_tile& tile, const kernel_cut& how, pair_scratch& scratch,
                                const exact_test& test) const {
  dots_->search(cut_tile(tile, how, scratch), test);
}

void packed_search::note_searched(const pair_tile& tile, std::uint64_t candidates,
                                  pair_scratch& scratch) {
  scratch.tally.searched += static_cast<std::uint64_t>(tile.rows() * tile.cols());
  scratch.tally.candidates += candidates;
}

// A search with one cut per row. Statistics are at most 1, and so are the bars that matter.
void packed_search::above(const pair_tile& tile, const double* bars, bool by_magnitude,
                          pair_scratch& scratch, pair_visitor visit) const {
  constexpr float never = 3e38F;
  kernel_tile out = tile_of(tile, scratch);
  float* const row_cut = row_cuts_of(scratch);
  std::fill_n(row_cut, round_up(tile.rows(), row_padding), never);
  for (index_t i = 0; i < tile.rows(); ++i) {
    const double scale = form_.scales.of(tile.row_begin + i);
    row_cut[i] = bars[i] < -2 ? -never : static_cast<float>(bars[i] * scale);
  }
  out.row_cut = row_cut;
  out.col_scale = form_.scales.from(tile.col_begin);
  out.band = form_.scales.band_of(1);
  if (by_magnitude) out.sign_keep = 0x7fffffffu;
  out.diagonal = tile.rows();  // every pair counts
  const auto test = [&](index_t row, index_t col, std::int32_t raw) {
    visit(row, col, exact(tile.row_begin + row, tile.col_begin + col, raw));
    return false;
  };
  dots_->search(out, test);
}

void packed_search::select(const pair_tile& tile, const kernel_cut&, pair_scratch& scratch,
                           hit_buffer& out) const {
  pair_search::matches(tile, scratch, out);
}

void packed_search::matches(const pair_tile& tile, pair_scratch& scratch, hit_buffer& out) const {
  if (keeps_none_) return;  // and nothing is packed
  if (!cut_) return pair_search::matches(tile, scratch, out);
  if (way_ == cpu_pair_way::every) return select(tile, *cut_, scratch, out);
  find(tile, *cut_, scratch, [&](index_t row, index_t col, double statistic) {
    out.push({static_cast<std::uint32_t>(tile.row_begin + row),
              static_cast<std::uint32_t>(tile.col_begin + col), statistic});
  });
}

std::uint64_t packed_search::count(const pair_tile& tile, pair_scratch& scratch,
                                   std::uint32_t* row_degree, std::uint32_t* col_degree,
                                   const pair_bins& bins) const {
  const bool is_searched = way_ != cpu_pair_way::every;
  if (keeps_none_) return 0;
  if (!cut_ || (bins.count > 0 && !is_searched)) {
    return pair_search::count(tile, scratch, row_degree, col_degree, bins);
  }
  if (is_searched) {
    std::uint64_t kept = 0;
    find(tile, *cut_, scratch, [&](index_t row, index_t col, double statistic) {
      ++row_degree[row];
      ++col_degree[col];
      ++kept;
      if (bins.count > 0) ++bins.histogram[detail::histogram_bin(statistic, bins.count)];
    });
    return kept;
  }
  return count_sums(tile, scratch, row_degree, col_degree);
}

std::uint64_t packed_search::count_sums(const pair_tile& tile, pair_scratch& scratch,
                                        std::uint32_t* row_degree,
                                        std::uint32_t* col_degree) const {
  const detail::keep_range keep = task().keep;
  const auto test = [&](index_t row, index_t col, std::int32_t raw) {
    return keep.keeps(exact(tile.row_begin + row, tile.col_begin + col, raw));
  };
  return dots_->count(cut_tile(tile, *cut_, scratch), test, row_degree, col_degree);
}

}  // namespace gpu::cpu
