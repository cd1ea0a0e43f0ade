// What an all-pairs call would run and keep, from its shape and a sample of its rows.
#include <gpu/plan.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <random>
#include <set>
#include <type_traits>
#include <variant>
#include <vector>

#include "api/all_pairs_run.hpp"
#include "base/memory_errors.hpp"
#include "pairs/checks.hpp"
#include "plan/screen_choice.hpp"

namespace gpu::inline v0 {
namespace detail {
namespace {

constexpr index_t most_sample_rows = 2048;

// `count` different rows of `rows`, ascending, by Floyd's algorithm: every set of rows is as likely
// as any other, so that no order of the rows of a table (every second one alike, say) misleads the
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

template <class T>
matrix<T> sample_rows(const matrix_view<const T>& data) {
  const index_t count = std::min(data.rows(), most_sample_rows);
  matrix<T> sample(count, data.cols());
  auto to = index_t{0};
  for (const index_t row : random_rows(data.rows(), count)) {
    std::copy_n(data.row(row), data.cols(), sample.row(to++).begin());
  }
  return sample;
}

double pairs_of(double rows) {
  return rows < 2 ? 0.0 : rows * (rows - 1) / 2;
}

struct share_estimate {
  double share;           // kept pairs among tested pairs
  double standard_error;  // of share
};

// The share of kept pairs and its error. Pairs of a sample of rows are not independent: what
// varies is the degree of a row, so the error is that of a U-statistic of order two.
share_estimate kept_share(const pair_counts& counts, double valid_rows) {
  if (counts.tested == 0) return {0.0, 0.0};
  const double tested = static_cast<double>(counts.tested);
  const double share = static_cast<double>(counts.kept) / tested;
  double squares = 0;
  for (const std::uint32_t degree : counts.degree) {
    const double row_share = static_cast<double>(degree) / (valid_rows - 1);
    squares += row_share * row_share;
  }
  const double row_variance = std::max(0.0, squares / valid_rows - share * share);
  const double pair_variance = share * (1 - share) / tested;
  return {share, std::sqrt(4 * row_variance / valid_rows + pair_variance)};
}

// The filter for the sample: a Bonferroni family is that of the whole input; Benjamini-Hochberg
// depends on shares alone, so the sample's own cut estimates it.
pair_filter sample_filter(const pair_filter& keep, double family) {
  pair_filter out = keep;
  if (keep.adjust == adjustment::bonferroni && family > 1) {
    out.max_p = keep.max_p / family;
    out.adjust = adjustment::none;
  }
  return out;
}

struct sample_result {
  pair_counts counts;
  double valid_share;
  keep_range keep;
  cut_sample cut;
  std::string choice;  // the CPU's, in words
};

// What the screens of a cut would leave of the sample.
cut_sample count_candidates(pair_engine& engine, measure what, const keep_range& keep,
                            const pair_counts& counts) {
  cut_sample out{.pairs = counts.tested, .kept = counts.kept};
  pair_counts reached;
  reached.degree.resize(counts.degree.size());
  std::size_t number = 0;
  for (const possible_screen& screen :
       screens_for(what, keep, engine.rows().cols, screen_use::edges)) {
    engine.counts({.keep = {screen.reach, -screen.reach}, .histogram_bins = 0}, reached);
    out.candidates[number++] = reached.kept;
  }
  return out;
}

template <class T>
sample_result count_sample(measure what, const matrix_view<const T>& data,
                           const pair_options& options, const pair_filter& keep) {
  const matrix<T> sample = sample_rows(data);
  pair_options sample_options = options;
  sample_options.exec.target = backend::cpu;
  sample_options.exec.on_progress = {};
  sample_options.variant = pair_variant::automatic;
  sample_options.nans = nan_policy::propagate;  // the whole input was checked before

  const matrix_view<const T> rows_of_sample = sample.view();
  pair_run run(what, rows_of_sample, sample_options);
  const prepared_rows& rows = run.engine().rows();
  const auto without = rows.constant_rows.size() + rows.nan_rows.size();
  const double valid_share =
      rows.rows == 0 ? 0.0 : 1.0 - static_cast<double>(without) / static_cast<double>(rows.rows);
  const double family = pairs_of(valid_share * static_cast<double>(data.rows()));
  const keep_range range = run.resolve(sample_filter(keep, family));

  sample_result out{
      .counts = {}, .valid_share = valid_share, .keep = range, .cut = {}, .choice = {}};
  out.counts.tested = run.pairs_tested();
  out.counts.degree.resize(static_cast<std::size_t>(rows.rows));
  run.engine().counts({.keep = range, .histogram_bins = 0}, out.counts);
  out.cut = count_candidates(run.engine(), what, range, out.counts);
  out.choice = run.engine().explain_edges(range);
  return out;
}

}  // namespace

pair_plan plan_all_pairs(measure what, const any_matrix_view& data, const pair_options& options,
                         const pair_filter& keep) {
  return with_memory_errors("plan_all_pairs", [&] {
    validate::check_filter(keep);
    const backend used = checked_backend(what, data, options);
    validate::check_nans(data, options.nans, options.exec.cpu_threads);
    const auto [rows, cols] =
        std::visit([](const auto& view) { return std::pair(view.rows(), view.cols()); }, data);
    const engine_plan engine = used == backend::cuda
                                   ? cuda::plan_pair_engine(what, rows, cols, options)
                                   : cpu::plan_pair_engine(what, rows, cols, options);
    const auto row_count = static_cast<std::uint64_t>(rows);
    pair_plan out{.used = used,
                  .device = engine.device,
                  .variant = engine.variant,
                  .tile_rows = engine.tile_rows,
                  .tile_cols = engine.tile_cols,
                  .workspace_bytes = engine.workspace_bytes,
                  .pairs = row_count % 2 == 0 ? row_count / 2 * (row_count - (row_count > 0))
                                              : row_count * ((row_count - 1) / 2)};

    const sample_result sample =
        std::visit([&](const auto& view) { return count_sample(what, view, options, keep); }, data);
    const double sampled_rows =
        sample.valid_share * static_cast<double>(std::min(rows, most_sample_rows));
    const auto [share, error] = kept_share(sample.counts, sampled_rows);
    const double family = pairs_of(sample.valid_share * static_cast<double>(rows));
    out.sampled_pairs = sample.counts.tested;
    if (engine.variant == pair_variant::hopper) {
      out.choice = explain_screen(what, sample.keep, cols, screen_use::edges, sample.cut);
    } else if (used == backend::cuda || engine.variant == pair_variant::naive) {
      out.choice = "every pair is decided: this variant has no screen";
    } else {
      out.choice = sample.choice;
    }
    out.kept_estimate = share * family;
    if (rows <= most_sample_rows) {
      out.kept_upper = out.kept_estimate;  // nothing was left out
    } else if (sample.counts.tested > 0) {
      // With nothing or little kept in the sample, the rule of three bounds the share.
      const double floor = 3.0 / static_cast<double>(sample.counts.tested);
      out.kept_upper = std::min(1.0, share + std::max(3 * error, floor)) * family;
    }
    out.result_bytes = out.kept_estimate * static_cast<double>(sizeof(edge));
    return out;
  });
}

}  // namespace detail
}  // namespace gpu::inline v0
