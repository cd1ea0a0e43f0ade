// Measures what the screens of the CUDA backend take, in the terms of src/plan/machine_costs.hpp:
// the time of a pair that is dropped and of a candidate, where deciding a pair by the tiles
// takes 1.
//
// calibrate_screens [MEASURE COLUMNS [ROWS]]: one case, or all of them. Run it on an idle machine.
//
// Rows are in blocks that move together. A growing share of all pairs is within a block, so that a
// growing share passes the screen. Prints a JSON line for each share and screen: the candidates of
// a pair, the seconds with the screen and without, what the figures of the library predict for
// their ratio, and the cost of a candidate that would make that prediction true.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string>
#include <vector>

#include <gpu/all_pairs.hpp>

#include "pairs/measures/measures.hpp"
#include "plan/forced/forced_ways.hpp"
#include "plan/screen_choice.hpp"
#include "stats/significance/significance.hpp"
#include "tests/support/correlated_rows.hpp"

namespace {

using gpu::index_t;
using gpu::detail::screen_use;

struct screen_case {
  gpu::measure what;
  index_t cols;
  index_t rows;
  screen_use use;
};
constexpr screen_case cases[] = {
    {gpu::measure::spearman, 30, 200'000, screen_use::edges},
    {gpu::measure::spearman, 30, 400'000, screen_use::counts},
    {gpu::measure::spearman, 100, 150'000, screen_use::edges},
    {gpu::measure::spearman, 100, 300'000, screen_use::counts},
    {gpu::measure::pearson, 57, 150'000, screen_use::edges},
    {gpu::measure::pearson, 57, 300'000, screen_use::counts},
    {gpu::measure::spearman, 200, 60'000, screen_use::edges},
    {gpu::measure::pearson, 500, 40'000, screen_use::edges},
};
// Of the pairs of a table, within a block.
constexpr double shares[] = {0, 1e-5, 3e-5, 1e-4, 3e-4, 1e-3};
constexpr double max_p = 1e-9;
constexpr int calls = 3;

gpu::pair_options options_of(const screen_case&) {
  return {.fold = gpu::row_folding::never, .exec = {.target = gpu::backend::cuda}};
}

struct timing {
  double seconds = std::numeric_limits<double>::infinity();
  std::uint64_t kept = 0;
};

// The pairs of the best of some calls by screen `number`; 0: without one.
timing time_screen(const screen_case& of, const gpu::matrix<float>& data, int number) {
  gpu::detail::ways_in_force().cuda.screen = number;
  timing out;
  for (int call = 0; call < calls; ++call) {
    const auto note = [&](const gpu::pair_summary& summary) {
      out.seconds = std::min(out.seconds, summary.pairs_seconds);
      out.kept = summary.pairs_kept;
    };
    if (of.use == screen_use::edges) {
      note(gpu::all_pairs(of.what, data.view(), options_of(of),
                          gpu::edge_sink{.keep = {.max_p = max_p}})
               .summary);
    } else {
      note(gpu::all_pairs(of.what, data.view(), options_of(of),
                          gpu::count_sink{.keep = {.max_p = max_p}})
               .summary);
    }
  }
  gpu::detail::ways_in_force() = {};
  return out;
}

// Pairs of at least this magnitude, for each pair of the table.
double share_beyond(const screen_case& of, const gpu::matrix<float>& data, double magnitude) {
  const auto counts = gpu::all_pairs(of.what, data.view(), options_of(of),
                                     gpu::count_sink{.keep = {.max_p = 1, .min_abs = magnitude}});
  const auto rows = static_cast<double>(data.rows());
  return static_cast<double>(counts.kept) / (rows * (rows - 1) / 2);
}

void measure(const screen_case& of) {
  const auto& what = gpu::detail::traits_of(of.what);
  const double critical =
      gpu::stats::critical_value(what.info.test, max_p, of.cols, gpu::tail::two_sided);
  const gpu::detail::keep_range keep{.at_least = critical, .at_most = -critical};
  const auto screens = gpu::detail::screens_for(what, keep, of.cols, of.use);
  for (const double share : shares) {
    const auto data = gpu_test::correlated_matrix<float>(
        {.rows = of.rows, .cols = of.cols, .pairs_in_blocks = share, .block_variance = 0.97});
    const timing without = time_screen(of, data, 0);
    for (std::size_t s = 0; s < screens.size(); ++s) {
      const auto& [screen, reach] = screens[s];
      const timing with = time_screen(of, data, static_cast<int>(s) + 1);
      const double candidates = share_beyond(of, data, reach);
      const double predicted = screens[s].time_of(candidates);
      const double measured = with.seconds / without.seconds;
      std::printf(
          "{\"measure\": \"%s\", \"cols\": %lld, \"rows\": %lld, \"use\": \"%s\", \"screen\": "
          "%zu, \"candidates\": %.3g, \"kept\": %llu, \"seconds\": %.4g, \"without\": %.4g, "
          "\"ratio\": %.3f, \"predicted\": %.3f, \"candidate_cost\": %.4g, \"alike\": %s}\n",
          std::string(gpu::info_of(of.what).name).c_str(), static_cast<long long>(of.cols),
          static_cast<long long>(of.rows), of.use == screen_use::edges ? "edges" : "counts", s + 1,
          candidates, static_cast<unsigned long long>(with.kept), with.seconds, without.seconds,
          measured, predicted, candidates > 0 ? (measured - screen.pair_cost) / candidates : 0.0,
          with.kept == without.kept ? "true" : "false");
      std::fflush(stdout);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  for (screen_case each : cases) {
    if (argc > 2 && (gpu::info_of(each.what).name != argv[1] || each.cols != std::atoll(argv[2]))) {
      continue;
    }
    if (argc > 3) each.rows = std::atoll(argv[3]);
    measure(each);
  }
  return 0;
}
