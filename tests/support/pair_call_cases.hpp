#pragma once
// Cases of all pairs: the progress of a call, and its plan.

#include <cstdint>
#include <map>
#include <span>
#include <string>

#include <gpu/error.hpp>

#include "support/generators.hpp"
#include "support/pair_target.hpp"

namespace gpu_test {

template <class Measure>
void progress_is_told_and_cancels(const pair_target& target) {
  GPU_TEST_INFO(target);
  const auto data = tied_matrix<std::int32_t>(500, 30, 21);
  std::map<std::string, std::uint64_t> last;
  bool rising = true;
  gpu::pair_options options = target.options();
  options.exec.on_progress = [&](const gpu::progress& p) {
    std::uint64_t& done = last[std::string(p.stage)];
    rising &= p.done >= done && p.done <= p.total;
    done = p.done;
    return gpu::progress_reply::proceed;
  };
  const auto got = Measure::run(const_view(data), options, gpu::count_sink{});
  CHECK(rising);
  CHECK(last["pairs"] == got.tested);

  options.exec.on_progress = [](const gpu::progress&) { return gpu::progress_reply::cancel; };
  CHECK_THROWS_AS(Measure::run(const_view(data), options, gpu::count_sink{}), gpu::cancelled);
  CHECK_THROWS_AS(Measure::run(const_view(data), options, gpu::edge_sink{}), gpu::cancelled);
  CHECK_THROWS_AS(Measure::run(const_view(data), options, gpu::top_k_sink{}), gpu::cancelled);
}

template <class Measure>
void plan_tells_what_a_run_would_keep(const pair_target& target) {
  GPU_TEST_INFO(target);
  const auto data = tied_matrix<std::int32_t>(300, 30, 25);
  for (const auto adjust :
       {gpu::adjustment::none, gpu::adjustment::bonferroni, gpu::adjustment::benjamini_hochberg}) {
    const gpu::pair_filter keep{.max_p = 0.05, .adjust = adjust};
    const auto plan = Measure::plan(const_view(data), target.options(), keep);
    const auto run =
        Measure::run(const_view(data), target.options(), gpu::count_sink{.keep = keep});
    // So few rows are all in the sample.
    CHECK(plan.kept_estimate == Approx(static_cast<double>(run.kept)));
    CHECK(plan.kept_upper >= plan.kept_estimate);
    CHECK(plan.pairs == 300 * 299 / 2);
    CHECK(plan.used == target.where);
    CHECK(plan.variant == run.summary.variant);
    CHECK(plan.device == run.summary.device);
    CHECK(plan.tile_rows > 0);
    CHECK(plan.tile_cols > 0);
    CHECK(plan.result_bytes == Approx(static_cast<double>(run.kept * sizeof(gpu::edge))));
  }
}

}  // namespace gpu_test
