// x against y and parts where rows are packed in windows, and where they are folded: every sink
// gives what it gives with all rows packed, each for itself.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include <gpu/error.hpp>

#include "pearson/pearson_measure.hpp"
#include "spearman/spearman_measure.hpp"
#include "support/area_cases.hpp"
#include "support/catch.hpp"
#include "support/cpu_level.hpp"
#include "support/generators.hpp"

namespace {

using gpu::index_t;
using gpu_test::pearson_measure;
using gpu_test::spearman_measure;

gpu::pair_options cpu_options(gpu::row_folding fold = gpu::row_folding::never,
                              gpu::pair_variant variant = gpu::pair_variant::automatic) {
  gpu::pair_options out;
  out.variant = variant;
  out.nans = gpu::nan_policy::propagate;
  out.fold = fold;
  out.p_method = gpu::p_method::t;  // rows are folded where p is that of t
  out.exec.target = gpu::backend::cpu;
  out.exec.cpu_threads = 2;
  return out;
}

// The same under nearly the least limit there is: with room for a second thread.
template <class Run>
gpu::pair_options in_windows(const Run& run, gpu::pair_options options) {
  options.exec.workspace_bytes = 1;
  try {
    (void)run(options, gpu::count_sink{});
  } catch (const gpu::out_of_memory& refusal) {
    constexpr std::size_t of_a_thread = 256 << 10;
    options.exec.workspace_bytes = refusal.requested_bytes() + of_a_thread;
  }
  REQUIRE(options.exec.workspace_bytes > 1);
  return options;
}

// Rows with relations and ties; some constant, and one in four again what another one is.
template <class T>
gpu::matrix<T> repeated_rows(index_t rows, index_t cols, unsigned seed) {
  auto out = gpu_test::area_rows<T>(rows, cols, seed);
  for (index_t i = 9; i < rows; i += 4) {
    std::copy_n(out.data() + i * 13 % (i - 3) * cols, cols, out.data() + i * cols);
  }
  return out;
}

const std::vector<gpu::pair_filter> filters{
    {.max_p = 1e-7},
    {.max_p = 0.02},
    {.max_p = 1e-3, .side = gpu::tail::less},
    {.max_p = 1.0, .min_abs = 0.45, .side = gpu::tail::greater},
    {.max_p = 0.05, .adjust = gpu::adjustment::bonferroni}};

// How a tail chooses among statistics does not depend on the level; support/area_cases.hpp and
// support/pair_sink_cases.hpp try tails at every level.
bool is_left_out(const gpu::pair_filter& keep) {
  return gpu_test::at_named_level() && keep.side != gpu::tail::two_sided;
}

template <class Matrix>
bool same_values(const Matrix& a, const Matrix& b) {
  if (a.rows() != b.rows() || a.cols() != b.cols()) return false;
  for (index_t i = 0; i < a.rows(); ++i) {
    for (index_t j = 0; j < a.cols(); ++j) {
      if (!gpu_test::same_or_nan(a(i, j), b(i, j))) return false;
    }
  }
  return true;
}

template <class Run>
void sinks_agree(const Run& run, const gpu::pair_options& options, const gpu::pair_options& plain) {
  for (const gpu::pair_filter& keep : filters) {
    if (is_left_out(keep)) continue;
    INFO("max_p " << keep.max_p << ", tail " << static_cast<int>(keep.side));
    const auto wanted = run(plain, gpu::edge_sink{.keep = keep});
    const auto got = run(options, gpu::edge_sink{.keep = keep});
    const bool same_edges = got.edges == wanted.edges;
    CHECK(same_edges);
    CHECK(got.summary.checksum == wanted.summary.checksum);
    CHECK(got.summary.pairs_tested == wanted.summary.pairs_tested);
    CHECK(got.summary.constant_rows == wanted.summary.constant_rows);
    CHECK(got.summary.y_constant_rows == wanted.summary.y_constant_rows);
    const auto any =
        run(options, gpu::edge_sink{.keep = keep, .order = gpu::edge_order::unspecified});
    CHECK(any.summary.checksum == wanted.summary.checksum);
    for (const index_t bins : {0, 40}) {
      const gpu::count_sink sink{.keep = keep, .histogram_bins = bins};
      const auto counted = run(options, sink);
      const auto counts = run(plain, sink);
      CHECK(counted.kept == wanted.edges.size());
      CHECK(counted.degree == counts.degree);
      CHECK(counted.y_degree == counts.y_degree);
      CHECK(counted.histogram == counts.histogram);
    }
    for (const auto order :
         {gpu::neighbor_order::by_value, gpu::neighbor_order::by_absolute_value}) {
      const gpu::top_k_sink sink{.k = 5, .keep = keep, .order = order};
      const auto near = run(options, sink);
      const auto nearest = run(plain, sink);
      CHECK(near.count == nearest.count);
      CHECK(std::equal(near.index.data(), near.index.data() + near.index.rows() * 5,
                       nearest.index.data()));
      CHECK(same_values(near.statistic, nearest.statistic));
    }
  }
  CHECK(same_values(run(options, gpu::dense_sink{}), run(plain, gpu::dense_sink{})));
  CHECK(same_values(run(options, gpu::dense_sink_f32{}), run(plain, gpu::dense_sink_f32{})));
}

template <class Measure, class X, class Y>
void windows_agree(index_t rows_of_x, index_t rows_of_y, index_t cols,
                   const gpu::pair_options& how) {
  INFO(rows_of_x << " against " << rows_of_y << " of " << cols);
  const auto x = repeated_rows<X>(rows_of_x, cols, 1);
  const auto y = repeated_rows<Y>(rows_of_y, cols, 2);
  const auto run = [&](const gpu::pair_options& options, const auto& sink) {
    return Measure::against(x, y, options, sink);
  };
  const gpu::pair_options windows = in_windows(run, how);
  sinks_agree(run, windows, cpu_options());
  gpu::pair_options part = windows;
  gpu::pair_options plain = cpu_options();
  part.part = plain.part = {.index = 1, .of = 3};
  sinks_agree(run, part, plain);
}

template <class Measure, class T>
void windows_of_parts_agree(index_t rows, index_t cols, const gpu::pair_options& how) {
  const auto data = repeated_rows<T>(rows, cols, 3);
  const auto run = [&](const gpu::pair_options& options, const auto& sink) {
    return Measure::run(data, options, sink);
  };
  for (const auto& [index, of] : {std::pair<index_t, index_t>{0, 2}, {1, 3}, {2, 3}, {29, 40}}) {
    INFO("part " << index << " of " << of);
    gpu::pair_options plain = cpu_options();
    plain.part = {.index = index, .of = of};
    gpu::pair_options windows = in_windows(run, how);
    windows.part = plain.part;
    sinks_agree(run, windows, plain);
  }
}

}  // namespace

TEST_CASE("Windows of x against y give what all rows give", "[area][windows]") {
  windows_agree<spearman_measure, std::int32_t, float>(900, 1300, 30, cpu_options());
  windows_agree<spearman_measure, std::int8_t, std::int16_t>(1, 1500, 20, cpu_options());
  windows_agree<spearman_measure, std::uint8_t, std::int32_t>(1500, 5, 50, cpu_options());
  windows_agree<spearman_measure, float, float>(70, 1100, 150, cpu_options());
  windows_agree<pearson_measure, double, float>(800, 700, 30, cpu_options());
  windows_agree<pearson_measure, std::int16_t, double>(3, 1200, 70, cpu_options());
}

TEST_CASE("Windows of parts give what all rows give", "[area][windows]") {
  windows_of_parts_agree<spearman_measure, std::int32_t>(1700, 30, cpu_options());
  windows_of_parts_agree<pearson_measure, float>(1400, 20, cpu_options());
}

TEST_CASE("Folded x against y and parts give what single rows give", "[area][folding]") {
  const auto always = cpu_options(gpu::row_folding::always);
  const auto x = repeated_rows<std::int32_t>(260, 6, 4);
  const auto y = gpu_test::tied_matrix<float>(500, 6, 5, 0.4, 2);
  const auto against = [&](const gpu::pair_options& options, const auto& sink) {
    return gpu::spearman_all_pairs(x, y, options, sink);
  };
  const auto table = [&](const gpu::pair_options& options, const auto& sink) {
    return gpu::spearman_all_pairs(y, options, sink);
  };
  REQUIRE(against(always, gpu::count_sink{}).summary.patterns > 0);
  sinks_agree(against, always, cpu_options());
  sinks_agree(against, in_windows(against, always), cpu_options());
  for (const auto& [index, of] : {std::pair<index_t, index_t>{0, 2}, {1, 3}, {2, 3}, {29, 40}}) {
    INFO("part " << index << " of " << of);
    gpu::pair_options part = always;
    gpu::pair_options plain = cpu_options();
    part.part = plain.part = {.index = index, .of = of};
    sinks_agree(table, part, plain);
    sinks_agree(against, part, plain);
  }
  const gpu::pair_filter hochberg{.max_p = 0.1, .adjust = gpu::adjustment::benjamini_hochberg};
  const auto wanted = against(cpu_options(), gpu::edge_sink{.keep = hochberg});
  REQUIRE(!wanted.edges.empty());
  CHECK(against(always, gpu::edge_sink{.keep = hochberg}).edges == wanted.edges);
}

TEST_CASE("Windows of folded parts give what single rows give", "[area][folding][windows]") {
  windows_of_parts_agree<spearman_measure, std::int32_t>(1500, 30,
                                                         cpu_options(gpu::row_folding::always));
}

TEST_CASE("Areas tell their progress", "[area]") {
  const auto x = repeated_rows<std::int32_t>(700, 30, 8);
  const auto y = repeated_rows<std::int32_t>(900, 30, 9);
  const auto tell = [&](const auto& run, gpu::pair_options options, const auto& sink) {
    std::uint64_t done = 0;
    std::uint64_t total = 1;
    options.exec.on_progress = [&](const gpu::progress& state) {
      done = state.done;
      total = state.total;
      CHECK(state.done <= state.total);
      return gpu::progress_reply::proceed;
    };
    (void)run(options, sink);
    CHECK(done == total);
  };
  const auto against = [&](const gpu::pair_options& options, const auto& sink) {
    return gpu::spearman_all_pairs(x, y, options, sink);
  };
  const auto table = [&](const gpu::pair_options& options, const auto& sink) {
    return gpu::spearman_all_pairs(y, options, sink);
  };
  const auto all_sinks = [&](const auto& run, const gpu::pair_options& options) {
    tell(run, options, gpu::edge_sink{.keep = {.max_p = 0.01}});
    tell(run, options, gpu::count_sink{});
    tell(run, options, gpu::top_k_sink{.k = 3});
    tell(run, options, gpu::dense_sink{});
  };
  all_sinks(against, cpu_options());
  all_sinks(against, in_windows(against, cpu_options()));
  gpu::pair_options part = cpu_options();
  part.part = {.index = 1, .of = 4};
  all_sinks(table, part);
  all_sinks(table, in_windows(table, part));
}

TEST_CASE("Threads share the columns of few rows, and the nearest stay the same", "[area]") {
  // Ties: equal statistics go by their columns, whichever thread found them.
  const auto x = repeated_rows<std::int8_t>(70, 8, 1);
  const auto y = repeated_rows<std::int8_t>(140'000, 8, 2);
  const gpu::top_k_sink sink{.k = 9};
  gpu::pair_options options = cpu_options(gpu::row_folding::never, gpu::pair_variant::naive);
  options.exec.cpu_threads = 1;
  const auto nearest = gpu::spearman_all_pairs(x, y, options, sink);
  options.variant = gpu::pair_variant::automatic;
  for (const int threads : {1, 2, 4, 9}) {  // strips of rows, and parts of columns
    options.exec.cpu_threads = threads;
    const auto near = gpu::spearman_all_pairs(x, y, options, sink);
    CHECK(near.count == nearest.count);
    CHECK(std::equal(near.index.data(), near.index.data() + near.index.rows() * 9,
                     nearest.index.data()));
    CHECK(same_values(near.statistic, nearest.statistic));
  }
}
