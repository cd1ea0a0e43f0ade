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
// The same of the rounded rows of wide_products.
constexpr double usual_error = 4e-4;

// One pair in so many is looked at to estimate what passes: some per mille of the time of a screen.
constexpr double pairs_per_sample = 32768;
constexpr index_t least_sample = 64;
constexpr index_t most_sample = 1 << 14;
constexpr index_t samples_per_task = 256;

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

// What a filter can look for; none: neither one side nor both alike.
std::optional<pair_cut> cut_of(const detail::keep_range& keep) {
  if (keep.at_least >= 0 && keep.at_most == -keep.at_least) {
    return pair_cut{keep.at_least, cut_side::magnitude};
  }
  if (keep.at_most == -infinity) return pair_cut{keep.at_least, cut_side::positive};
  if (keep.at_least == infinity) return pair_cut{-keep.at_most, cut_side::negative};
  return std::nullopt;
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

packed_search::packed_search(const packed_form& form, const pair_task& task, int threads,
                             packed_search* earlier)
    : pair_search(task, threads), form_(form), threads_(threads) {
  if (earlier == nullptr) return;
  take_scratch(*earlier);
  filter_ = std::move(earlier->filter_);
  screen_ = std::move(earlier->screen_);
  sample_ = std::move(earlier->sample_);
}

void packed_search::make_ready() {
  const double expected = filter_error();
  choose();
  pack_for_way();
  // Rows with a few large values are rounded worse than expected.
  if (way_ != cpu_pair_way::search || filter_error() <= expected) return;
  choose();
  pack_for_way();
}

void packed_search::choose() {
  way_ = cpu_pair_way::every;
  estimate_ = {};
  const bool has_cut =
      layout().has_kernel_groups() &&
      (task().wanted == pair_task::output::matches || task().wanted == pair_task::output::counts);
  cut_ = has_cut ? cut_of(task().keep) : std::nullopt;
  keeps_none_ = cut_ && cut_->least > 1;
  // A sample has so many pairs at least: to decide them all takes no longer.
  const bool is_small = pairs() <= least_sample || !pays_to_pack();
  if (is_small && !detail::ways_in_force().cpu.way) cut_ = std::nullopt;
  if (cut_ && !keeps_none_) choose_for_cut(*cut_);
}

bool packed_search::takes_filter() const {
  if (task().wanted == pair_task::output::above) return finds_above();
  return cut_ && (way_ == cpu_pair_way::search || way_ == counting_way());
}

void packed_search::pack_for_way() {
  if (keeps_none_ || !layout().has_kernel_groups()) return;
  const bool is_screened = way_ == cpu_pair_way::screen;
  if (!is_screened) screen_ = {};  // one form at a time
  if (is_screened || !takes_filter()) {
    filter_ = nullptr;
  } else if (!filter_) {
    filter_ = make_filter();
  }
}

void packed_search::drop_packed() {
  screen_ = {};
  filter_ = nullptr;
}

double packed_search::filter_error() const {
  if (filter_) return filter_->error();
  return form_.how ? 0 : usual_error;
}

double packed_search::pairs() const {
  const auto asked = static_cast<double>(layout().asked.size());
  if (layout().second > 0) return asked * static_cast<double>(layout().second);
  return asked * (static_cast<double>(layout().first - 1 - layout().asked.begin) - (asked - 1) / 2);
}

const std::vector<double>& packed_search::sample() {
  const double pairs = this->pairs();
  if (!sample_.empty() || !(pairs > 0)) return sample_;
  sample_.resize(static_cast<std::size_t>(std::clamp(pairs / pairs_per_sample,
                                                     static_cast<double>(least_sample),
                                                     static_cast<double>(most_sample))));
  detail::parallel_for_each(std::ssize(sample_), samples_per_task, threads_, [&](index_t k, int) {
    const row_pair drawn = draw_pair(layout(), static_cast<std::uint64_t>(k));
    sample_[static_cast<std::size_t>(k)] = exact(drawn.row, drawn.col);
  });
  return sample_;
}

void packed_search::choose_for_cut(const pair_cut& cut) {
  const auto sampled = static_cast<index_t>(sample().size());
  const auto passed_at = [&](double least) {
    return with_key(cut.side, [&](const auto& key) {
      return std::count_if(sample_.begin(), sample_.end(),
                           [&](double r) { return key(r) >= least; });
    });
  };
  const auto share_above = [&](double least) { return estimated_share(passed_at(least), sampled); };
  const double error = filter_error();
  const bool only_near =
      error > 0 && task().wanted == pair_task::output::counts && task().bins == 0;
  const index_t sure = only_near ? passed_at(cut.least + error) : 0;
  estimate_ = {.sampled = sampled,
               .kept = estimated_share(passed_at(cut.least - error) - sure, sampled),
               .candidates = 1};
  cpu_pair_costs costs = this->costs();
  // Sums of 16 bits leave nearly all pairs of rows as long as wide_products takes.
  const bool is_rough = kernels().screen.columns == packing::byte_pairs && !form_.how;
  const bool is_offered = kernels().screen.search != nullptr && !is_rough &&
                          cols() <= pair_policy::most_screened_cols && cut.least > 0;
  estimate_.candidates = is_offered ? share_above(cut.least - least_error) : 1;
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
    filter_ = nullptr;
    screen_ = make_screen();
  }
  if (screen_.weakest(cut.least) <= 0) costs.screen = infinity;
  estimate_.candidates = share_above(screen_.weakest(cut.least));
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

std::size_t packed_search::kernel_bytes() const {
  const bool may_be_screened =
      layout().has_kernel_groups() && cols() <= pair_policy::most_screened_cols;
  const std::size_t of_screen = may_be_screened ? row_screen::scratch_bytes(kernels(), cols()) : 0;
  if (!form_.how) return of_screen;
  return std::max(of_screen, packed_sums::scratch_bytes(kernels(), *form_.how, cols()));
}

template <class Take>
void packed_search::find(const pair_tile& tile, pair_scratch& scratch, const Take& take) const {
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
    screen_.search(tile, *cut_, scratch, test);
  } else {
    const auto test = [&](index_t row, index_t col, std::int32_t raw) {
      return decide(row, col, exact(tile.row_begin + row, tile.col_begin + col, raw));
    };
    filter_->search(tile, *cut_, scratch, test);
  }
  scratch.tally.add(tile, candidates);
}

void packed_search::above(const pair_tile& tile, const double* bars, bool by_magnitude,
                          pair_scratch& scratch, pair_visitor visit) const {
  const auto test = [&](index_t row, index_t col, std::int32_t raw) {
    visit(row, col, exact(tile.row_begin + row, tile.col_begin + col, raw));
    return false;
  };
  filter_->above(tile, bars, by_magnitude, scratch, test);
}

void packed_search::matches(const pair_tile& tile, pair_scratch& scratch, hit_buffer& out) const {
  if (keeps_none_) return;  // and nothing is packed
  if (!cut_ || way_ == cpu_pair_way::every) return pair_search::matches(tile, scratch, out);
  find(tile, scratch, [&](index_t row, index_t col, double statistic) {
    out.push({static_cast<std::uint32_t>(tile.row_begin + row),
              static_cast<std::uint32_t>(tile.col_begin + col), statistic});
  });
}

std::uint64_t packed_search::count(const pair_tile& tile, pair_scratch& scratch,
                                   std::uint32_t* row_degree, std::uint32_t* col_degree,
                                   const pair_bins& bins) const {
  if (keeps_none_) return 0;
  if (cut_ && bins.count == 0 && way_ == counting_way()) {
    const detail::keep_range keep = task().keep;
    std::uint64_t decided = 0;
    const auto test = [&](index_t row, index_t col, std::int32_t raw) {
      ++decided;
      return keep.keeps(exact(tile.row_begin + row, tile.col_begin + col, raw));
    };
    const std::uint64_t kept = filter_->count(tile, *cut_, scratch, test, row_degree, col_degree);
    scratch.tally.add(tile, decided);
    return kept;
  }
  if (!cut_ || way_ == cpu_pair_way::every) {
    return pair_search::count(tile, scratch, row_degree, col_degree, bins);
  }
  std::uint64_t kept = 0;
  find(tile, scratch, [&](index_t row, index_t col, double statistic) {
    ++row_degree[row];
    ++col_degree[col];
    ++kept;
    if (bins.count > 0) ++bins.histogram[detail::histogram_bin(statistic, bins.count)];
  });
  return kept;
}

}  // namespace gpu::cpu
