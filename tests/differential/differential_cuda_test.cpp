// Differential correlation on CUDA: held to the definition, and to the CPU bit for bit.
#include <gpu/differential.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <gpu/discovery.hpp>
#include <gpu/error.hpp>
#include <gpu/execution.hpp>

#include "differential/differences.hpp"
#include "differential/same_results.hpp"
#include "support/catch.hpp"
#include "support/generators.hpp"

namespace {

using namespace gpu_test::differences;

// One call, which runs on either backend.
struct call {
  gpu::measure what = gpu::measure::spearman;
  gpu::matrix<double> data;
  groups of;
  gpu::differential_filter keep = {};
  gpu::pair_options options = {.nans = gpu::nan_policy::propagate};

  template <class Sink>
  [[nodiscard]] auto on(gpu::backend where, const Sink& sink) const {
    gpu::pair_options own = options;
    own.exec.target = where;
    if (where == gpu::backend::cpu) {
      own.exec.workspace_bytes = 0;
      own.exec.devices.clear();
      own.variant = gpu::pair_variant::automatic;
    }
    return gpu::differential_pairs(what, data, of.view(), own, sink);
  }
};

// Groups of so many columns, of a table in which `beside` columns are in neither.
groups random_groups(gpu::index_t first, gpu::index_t second, gpu::index_t beside,
                     std::mt19937_64& random) {
  std::vector<gpu::index_t> columns(static_cast<std::size_t>(first + second + beside));
  for (std::size_t k = 0; k < columns.size(); ++k) columns[k] = static_cast<gpu::index_t>(k);
  std::shuffle(columns.begin(), columns.end(), random);
  return {{columns.begin(), columns.begin() + first},
          {columns.begin() + first, columns.begin() + first + second}};
}

// Rows that move together in the first group alone, with ties; some are the same, some are constant
// in a group, and some hold a NaN, also in a column of neither group.
gpu::matrix<double> random_rows(gpu::index_t rows, gpu::index_t cols, const groups& of,
                                std::mt19937_64& random) {
  std::normal_distribution<double> normal;
  const double step = random() % 2 == 0 ? 0.5 : 1e-9;  // of values: ties or none
  std::vector<double> common(static_cast<std::size_t>(cols));
  for (double& value : common) value = normal(random);
  gpu::matrix<double> out(rows, cols);
  for (gpu::index_t i = 0; i < rows; ++i) {
    const std::uint64_t kind = random() % 24;
    const double share = i % 3 == 0 ? 1.5 : 0;
    for (gpu::index_t k = 0; k < cols; ++k) {
      out(i, k) = std::round(normal(random) / step) * step;
    }
    for (const gpu::index_t k : of.first) {
      out(i, k) += std::round(share * common[static_cast<std::size_t>(k)] / step) * step;
    }
    if (kind == 0 && i > 0) {
      for (gpu::index_t k = 0; k < cols; ++k) out(i, k) = out(i - 1, k);
    }
    if (kind == 1) {
      for (const gpu::index_t k : of.first) out(i, k) = 3;
    }
    if (kind == 2) {
      for (const gpu::index_t k : of.second) out(i, k) = -1;
    }
    if (kind == 3)
      out(i, static_cast<gpu::index_t>(random() % static_cast<std::uint64_t>(cols))) = nan_value;
  }
  return out;
}

// Memory for the rows of both groups and some rows of statistics: several blocks.
std::size_t little_memory(const call& of) {
  const auto rows = static_cast<std::size_t>(of.data.rows());
  const std::size_t cols = std::max(of.of.first.size(), of.of.second.size());
  return (std::size_t{1} << 20) + rows * (cols + 32) * 8 * 6;
}

}  // namespace

TEST_CASE("Differential correlation on CUDA is that of the definition", "[differential][cuda]") {
  for (const gpu::measure what : measures) {
    for (const gpu::tail side : sides) {
      INFO(gpu::to_string(what) << ", tail " << static_cast<int>(side));
      const call of{.what = what,
                    .data = make_rows<double>(150, 61, 12),
                    .of = some_groups(61),
                    .keep = {.max_p = 0.31, .min_abs_z = 0.5, .side = side}};
      const auto got = of.on(gpu::backend::cuda, gpu::differential_edge_sink{.keep = of.keep});
      const auto all = every_pair(what, of.data, of.of, side);
      const auto wanted = kept_of(all, of.keep, of.keep.max_p);
      CHECK(got.summary.pairs_tested == all.size());
      check_near(got.edges, wanted);
    }
  }
}

TEST_CASE("Progress, cancelling and limits of differential correlation on CUDA",
          "[differential][cuda]") {
  std::mt19937_64 random(36);
  call of{.data = {}, .of = random_groups(20, 20, 0, random)};
  of.data = random_rows(900, 40, of.of, random);
  of.keep = {.max_p = 0.05};
  of.options.exec.workspace_bytes = little_memory(of);
  std::vector<std::string> stages;
  std::uint64_t last = 0;
  std::uint64_t total = 0;
  of.options.exec.on_progress = [&](const gpu::progress& state) {
    stages.emplace_back(state.stage);
    last = state.done;
    total = state.total;
    return gpu::progress_reply::proceed;
  };
  const auto found = of.on(gpu::backend::cuda, gpu::differential_edge_sink{.keep = of.keep});
  CHECK(total == 900 * 899 / 2);
  CHECK(last == total);
  CHECK(
      std::all_of(stages.begin(), stages.end(), [](const auto& s) { return s == "differential"; }));
  (void)of.on(gpu::backend::cuda, gpu::differential_top_k_sink{.k = 3});
  CHECK(last == total);
  of.options.exec.on_progress = [](const gpu::progress&) { return gpu::progress_reply::cancel; };
  CHECK_THROWS_AS(of.on(gpu::backend::cuda, gpu::differential_edge_sink{.keep = of.keep}),
                  gpu::cancelled);
  of.options.exec.on_progress = {};
  const auto kept = static_cast<gpu::index_t>(found.edges.size());
  try {
    (void)of.on(gpu::backend::cuda,
                gpu::differential_edge_sink{.keep = of.keep, .max_edges = kept - 1});
    FAIL("nothing was thrown");
  } catch (const gpu::capacity_exceeded& e) {
    CHECK(std::string(e.what()).find(std::to_string(kept)) != std::string::npos);
  }
  of.options.exec.workspace_bytes = 1000;
  CHECK_THROWS_AS(of.on(gpu::backend::cuda, gpu::differential_edge_sink{.keep = of.keep}),
                  gpu::out_of_memory);
}

TEST_CASE("Differential correlation takes CUDA by itself, and refuses a NaN",
          "[differential][cuda]") {
  std::mt19937_64 random(37);
  call of{.data = {}, .of = some_groups(40)};
  of.data = make_rows<double>(50, 40, 5);
  const auto by_itself = of.on(gpu::backend::automatic, gpu::differential_edge_sink{});
  const auto asked = of.on(gpu::backend::cuda, gpu::differential_edge_sink{});
  CHECK(by_itself.summary.device == asked.summary.device);
  CHECK(by_itself.edges == asked.edges);
  of.options.nans = gpu::nan_policy::reject;
  of.data(7, 3) = nan_value;
  try {
    (void)of.on(gpu::backend::cuda, gpu::differential_edge_sink{});
    FAIL("nothing was thrown");
  } catch (const gpu::invalid_argument& e) {
    CHECK(std::string(e.what()).find("data: got NaN at row 7, column 3") == 0);
  }
}
