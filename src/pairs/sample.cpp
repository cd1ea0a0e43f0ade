#include "pairs/sample.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <set>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "pairs/reading/host_rows.hpp"
#include "pairs/tables.hpp"

namespace gpu::inline v0::detail {
namespace {

constexpr index_t most_sample_rows = 2048;

// `count` different rows of `rows`, ascending, by Floyd's algorithm: every set of rows is equally
// likely, so that no order of the rows of a table (every second one alike, say) distorts the
// estimate. The same ones for the same extents.
std::vector<index_t> random_rows(index_t rows, index_t count) {
  constexpr std::uint64_t seed = 20;
  std::mt19937_64 engine(seed);
  std::set<index_t> chosen;
  for (index_t last = rows - count; last < rows; ++last) {
    const auto row = static_cast<index_t>(engine() % (static_cast<std::uint64_t>(last) + 1));
    if (!chosen.insert(row).second) chosen.insert(last);
  }
  return {chosen.begin(), chosen.end()};
}

struct share_estimate {
  double share;           // kept pairs among tested pairs
  double standard_error;  // of share
};

// The variance of the share due to which rows of a side were drawn. `degree`: kept pairs of each of
// so many valid rows with `partners` partners each.
double variance_of(std::span<const std::uint32_t> degree, double valid, double partners,
                   double share) {
  double squares = 0;
  for (const std::uint32_t kept : degree) {
    const double row_share = static_cast<double>(kept) / partners;
    squares += row_share * row_share;
  }
  return std::max(0.0, squares / valid - share * share) / valid;
}

// The share of kept pairs and its error. Pairs of a sample of rows are not independent: what
// varies is the degree of a row, so the error is that of a U-statistic: of order two for one table,
// of two samples for x against y.
share_estimate kept_share(const pair_counts& counts, double valid_x, double valid_y) {
  if (counts.tested == 0) return {0.0, 0.0};
  const double tested = static_cast<double>(counts.tested);
  const double share = static_cast<double>(counts.kept) / tested;
  const double pair_variance = share * (1 - share) / tested;
  const double row_variance = counts.y_degree.empty()
                                  ? 4 * variance_of(counts.degree, valid_x, valid_x - 1, share)
                                  : variance_of(counts.degree, valid_x, valid_y, share) +
                                        variance_of(counts.y_degree, valid_y, valid_x, share);
  return {share, std::sqrt(row_variance + pair_variance)};
}

}  // namespace

table_sample draw_rows(const any_table& table, index_range range) {
  return host_rows(table).with_type([&]<class T>(const host_rows& data, T) {
    const index_t count = std::min(range.size(), most_sample_rows);
    auto sample = std::make_shared<matrix<T>>(count, data.cols());
    auto to = index_t{0};
    for (const index_t row : random_rows(range.size(), count)) {
      data.copy_row<T>(range.begin + row, sample->row(to++).data());
    }
    const matrix_view<const T> view = sample->view();
    return table_sample{.rows = view, .memory = std::move(sample), .drawn_from = range.size()};
  });
}

pair_filter sample_filter(const pair_filter& keep, double family) {
  pair_filter out = keep;
  if (keep.adjust == adjustment::bonferroni && family > 1) {
    out.max_p = keep.max_p / family;
    out.adjust = adjustment::none;
  }
  return out;
}

cut_sample count_candidates(pair_engine& engine, const measure_traits& what, const keep_range& keep,
                            screen_use use, const pair_counts& counts) {
  cut_sample out{.pairs = counts.tested, .kept = counts.kept};
  pair_counts reached;
  std::size_t number = 0;
  for (const possible_screen& screen : screens_for(what, keep, engine.rows().cols, use)) {
    engine.counts({.keep = {screen.reach, -screen.reach}, .histogram_bins = 0}, reached);
    out.candidates[number++] = reached.kept;
  }
  return out;
}

void fill_estimates(const sample_result& sample, double part_of_job, pair_plan& out) {
  const auto [share, error] = kept_share(sample.counts, sample.valid_x, sample.valid_y);
  const double tests = sample.family * part_of_job;
  out.sampled_pairs = sample.counts.tested;
  out.kept_estimate = share * tests;
  if (sample.is_all) {
    out.kept_upper = out.kept_estimate;
  } else if (sample.counts.tested > 0) {
    // With nothing or little kept in the sample, the rule of three bounds the share.
    const double floor = 3.0 / static_cast<double>(sample.counts.tested);
    out.kept_upper = std::min(1.0, share + std::max(3 * error, floor)) * tests;
  }
}

void fill_partner_estimates(const sample_result& sample, const pair_input& input, index_t k,
                            pair_plan& out) {
  const bool is_against = input.tables.y.has_value();
  const auto rows = static_cast<double>(input.area.rows.size());
  const auto partners = static_cast<double>(is_against ? input.rows_of_y() : input.rows() - 1);
  const double valid = is_against ? sample.valid_y : sample.valid_x - 1;
  const double most = std::min(static_cast<double>(k), std::max(partners, 0.0));
  const auto sampled = static_cast<double>(sample.counts.degree.size());
  double entries = 0;
  if (valid > 0 && sampled > 0) {
    const double all_valid = sample.valid_partners;
    for (const std::uint32_t kept : sample.counts.degree) {
      entries += std::min(most, static_cast<double>(kept) * all_valid / valid);
    }
    entries *= rows / sampled;
  }
  out.kept_estimate = entries;
  out.kept_upper =
      sample.is_all
          ? entries
          : std::max(entries, std::min(rows * most, (is_against ? 1 : 2) * out.kept_upper));
}

}  // namespace gpu::inline v0::detail
