// Rows that memory does not hold at once: under a small limit the CPU packs windows of 512 rows,
// and every sink says what it says with all rows packed; so it does of x against y, of parts, and
// of rows that are folded.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <gpu/error.hpp>
#include <gpu/matrix.hpp>

#include "pearson/pearson_measure.hpp"
#include "spearman/spearman_measure.hpp"
#include "support/area_cases.hpp"
#include "support/catch.hpp"
#include "support/cpu_level.hpp"
#include "support/generators.hpp"
#include "support/least_workspace.hpp"
#include "support/pair_cases.hpp"
#include "support/sink_bytes.hpp"

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
  out.p_method = gpu::p_method::t;  // as the oracle has it, and rows may be folded
  out.exec.target = gpu::backend::cpu;
  out.exec.cpu_threads = 2;
  return out;
}

const gpu::pair_options by_naive = cpu_options(gpu::row_folding::never, gpu::pair_variant::naive);

// The same under nearly the least limit there is: with room for a second thread.
template <class Run>
gpu::pair_options in_windows(const Run& run, gpu::pair_options options) {
  const std::size_t least = gpu_test::least_workspace(
      [&](const gpu::pair_options& how) { (void)run(how, gpu::count_sink{}); }, options);
  REQUIRE(least > 0);
  constexpr std::size_t of_a_thread = 256 << 10;
  options.exec.workspace_bytes = least + of_a_thread;
  return options;
}

// Filters of a whole or of parts, which have no cut that depends on all pairs. How a tail chooses
// among statistics does not depend on the level; support/area_cases.hpp and
// support/pair_sink_cases.hpp try tails at every level.
std::vector<gpu::pair_filter> filters(gpu::adjustment adjust) {
  std::vector<gpu::pair_filter> out{
      {.max_p = 1e-7}, {.max_p = 0.05}, {.max_p = 0.05, .adjust = adjust}};
  if (!gpu_test::at_named_level()) {
    out.push_back({.max_p = 1e-4, .side = gpu::tail::less});
    out.push_back({.max_p = 1.0, .min_abs = 0.45, .side = gpu::tail::greater});
  }
  return out;
}

// Whether every sink of run(options, sink) says the same by both options.
template <class Run>
void sinks_agree(const Run& run, const gpu::pair_options& options, const gpu::pair_options& plain,
                 gpu::adjustment adjust = gpu::adjustment::bonferroni) {
  const auto said = [&](const gpu::pair_options& how) {
    return gpu_test::what_sinks_say_by([&](const auto& sink) { return run(how, sink); },
                                       filters(adjust));
  };
  CHECK(gpu_test::first_difference(said(options), said(plain)) == "");
}

// More than 300 rows with ties, every third of the later ones a noisy copy of an earlier one, some
// of them constant.
template <class T>
gpu::matrix<T> related_rows(index_t rows, index_t cols, unsigned seed) {
  auto out = gpu_test::tied_matrix<T>(rows, cols, seed);
  for (index_t i = 300; i < rows; i += 3) {
    const index_t from = i * 7 % 300;
    for (index_t k = 0; k < cols; ++k) {
      if ((i + k) % 5 != 0) out(i, k) = out(from, k);
    }
  }
  for (const index_t i : {index_t{0}, index_t{256}, index_t{257}, rows - 1}) {
    std::fill_n(out.data() + i * cols, cols, T{1});
  }
  for (index_t i = 600; i < std::min<index_t>(rows, 700); ++i)
    std::fill_n(out.data() + i * cols, cols, T{2});
  return out;
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

template <class Measure, class T>
auto run_of(const gpu::matrix<T>& data) {
  return [&](const gpu::pair_options& options, const auto& sink) {
    return Measure::run(data.view(), options, sink);
  };
}

template <class Measure, class T>
void equals_all_at_once(const gpu::matrix<T>& data, const gpu::pair_options& whole) {
  const auto run = run_of<Measure>(data);
  sinks_agree(run, in_windows(run, whole), whole, gpu::adjustment::benjamini_hochberg);
}

template <class Measure, class T>
void equals_oracle(const gpu::matrix<T>& data) {
  const auto table = Measure::oracle(gpu_test::const_view(data));
  const auto run = run_of<Measure>(data);
  const gpu::pair_options options = in_windows(run, cpu_options());
  for (const gpu::pair_filter& keep : filters(gpu::adjustment::none)) {
    INFO("max_p " << keep.max_p);
    gpu_test::check_edges<Measure>(run(options, gpu::edge_sink{.keep = keep}).edges,
                                   gpu_test::filtered(table, data.cols(), keep), data.cols(),
                                   keep.side);
  }
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
  const auto run = run_of<Measure>(data);
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

TEST_CASE("Windows of ranks give what all rows give", "[windows]") {
  equals_all_at_once<spearman_measure>(related_rows<std::int32_t>(1300, 30, 1), cpu_options());
  equals_all_at_once<spearman_measure>(related_rows<float>(1100, 50, 2), cpu_options());
  equals_all_at_once<spearman_measure>(related_rows<std::uint16_t>(800, 150, 3), cpu_options());
  equals_all_at_once<spearman_measure>(related_rows<std::int8_t>(800, 20, 4), by_naive);
}

TEST_CASE("Windows of scaled rows give what all rows give", "[windows]") {
  equals_all_at_once<pearson_measure>(related_rows<double>(1300, 30, 5), cpu_options());
  equals_all_at_once<pearson_measure>(related_rows<std::int16_t>(800, 70, 6), cpu_options());
  equals_all_at_once<pearson_measure>(related_rows<float>(800, 20, 7), by_naive);
}

TEST_CASE("Windows of few long rows give what all rows give", "[windows]") {
  const auto reals = related_rows<double>(420, 5600, 21);
  // Less than the rows themselves take.
  CHECK(in_windows(run_of<pearson_measure>(reals), cpu_options()).exec.workspace_bytes <
        420 * 5600 * 8);
  equals_all_at_once<pearson_measure>(reals, cpu_options());
  equals_all_at_once<spearman_measure>(related_rows<float>(420, 12'000, 22), cpu_options());
}

TEST_CASE("Windows leave rows with NaN out", "[windows]") {
  auto data = related_rows<double>(1100, 30, 8);
  for (index_t i = 5; i < 1100; i += 90) data(i, i % 30) = std::numeric_limits<double>::quiet_NaN();
  equals_all_at_once<spearman_measure>(data, cpu_options());
  equals_all_at_once<pearson_measure>(data, cpu_options());
}

TEST_CASE("Windows of patterns give what all rows give", "[windows]") {
  auto data = related_rows<std::int32_t>(1500, 30, 9);
  for (index_t i = 200; i < 1500; i += 4) {
    std::copy_n(data.data() + i * 13 % 200 * 30, 30, data.data() + i * 30);
  }
  const auto options = cpu_options(gpu::row_folding::always);
  equals_all_at_once<spearman_measure>(data, options);
}

TEST_CASE("Rows that no window needs fit after all", "[windows]") {
  // All but 400 are constant.
  auto data = gpu_test::tied_matrix<std::int32_t>(2000, 30, 10);
  for (index_t i = 0; i < 2000; ++i) {
    if (i % 5 != 2) std::fill_n(data.data() + i * 30, 30, 3);
  }
  equals_all_at_once<spearman_measure>(data, cpu_options());
  std::fill_n(data.data(), 2000 * 30, 3);
  const auto options = in_windows(run_of<spearman_measure>(data), cpu_options());
  CHECK(gpu::spearman_all_pairs(data.view(), options, gpu::edge_sink{}).edges.empty());
  CHECK(gpu::spearman_all_pairs(data.view(), options, gpu::count_sink{}).kept == 0);
  CHECK(gpu::spearman_all_pairs(data.view(), options, gpu::top_k_sink{}).count[7] == 0);
}

TEST_CASE("Windows give what the oracle gives", "[windows]") {
  equals_oracle<spearman_measure>(related_rows<std::int32_t>(900, 30, 11));
  equals_oracle<pearson_measure>(related_rows<double>(900, 30, 12));
}

TEST_CASE("An edge that is a batch of its own is delivered once", "[windows]") {
  // One edge in the first panel of rows, which fills a batch, and one in a later panel.
  auto data = gpu_test::random_matrix<double>(3000, 40, 14);
  for (const index_t i : {index_t{10}, index_t{2000}}) {
    std::copy_n(data.data() + i * 40, 40, data.data() + (i + 1) * 40);
  }
  for (const auto order : {gpu::edge_order::by_row_then_column, gpu::edge_order::unspecified}) {
    std::vector<gpu::node_id> rows;
    const auto take = [&](std::span<const gpu::edge> batch) {
      for (const gpu::edge& e : batch) rows.push_back(e.row);
    };
    const gpu::stream_sink sink{
        .keep = {.min_abs = 0.999}, .consume = take, .order = order, .batch_edges = 1};
    const auto summary = gpu::spearman_all_pairs(data.view(), cpu_options(), sink);
    CHECK(rows == std::vector<gpu::node_id>{10, 2000});
    CHECK(summary.pairs_kept == 2);
  }
}

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
  const gpu::pair_options in_part = in_windows(table, part);
  all_sinks(table, in_part);
  gpu::pair_options cancelled = in_part;
  cancelled.exec.on_progress = [](const gpu::progress& state) {
    return state.stage == "pairs" ? gpu::progress_reply::cancel : gpu::progress_reply::proceed;
  };
  CHECK_THROWS_AS(table(cancelled, gpu::top_k_sink{}), gpu::cancelled);
}

TEST_CASE("Threads share the columns of few rows, and the nearest stay the same", "[area]") {
  // Ties: equal statistics go by their columns, whichever thread found them.
  const auto x = repeated_rows<std::int8_t>(70, 8, 1);
  const auto y = repeated_rows<std::int8_t>(140'000, 8, 2);
  const auto nearest = [&](gpu::pair_options options, int threads) {
    options.exec.cpu_threads = threads;
    std::string out;
    gpu_test::add_result(out, gpu::spearman_all_pairs(x, y, options, gpu::top_k_sink{.k = 9}));
    return out;
  };
  const std::string wanted = nearest(by_naive, 1);
  for (const int threads : {1, 2, 4, 9}) {  // strips of rows, and parts of columns
    const bool same = nearest(cpu_options(), threads) == wanted;
    CHECK(same);
  }
}
