// Rows that memory does not hold at once: under a small limit the CPU packs windows of 512 rows,
// and of long rows 16 or little more. What random jobs say in windows: pair_ways_test.cpp.

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <gpu/error.hpp>
#include <gpu/matrix.hpp>

#include "support/area_cases.hpp"
#include "support/catch.hpp"
#include "support/generators.hpp"
#include "support/least_workspace.hpp"
#include "support/sink_bytes.hpp"

namespace {

using gpu::index_t;

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

// Rows with relations and ties; some constant, and one in four again what another one is.
template <class T>
gpu::matrix<T> repeated_rows(index_t rows, index_t cols, unsigned seed) {
  auto out = gpu_test::area_rows<T>(rows, cols, seed);
  for (index_t i = 9; i < rows; i += 4) {
    std::copy_n(out.data() + i * 13 % (i - 3) * cols, cols, out.data() + i * cols);
  }
  return out;
}

}  // namespace

TEST_CASE("Rows that no window needs fit after all", "[windows]") {
  gpu::matrix<std::int32_t> data(2000, 30);
  std::fill_n(data.data(), 2000 * 30, 3);
  const auto run = [&](const gpu::pair_options& how, const auto& sink) {
    return gpu::spearman_all_pairs(data.view(), how, sink);
  };
  const auto options = in_windows(run, cpu_options());
  CHECK(run(options, gpu::edge_sink{}).edges.empty());
  CHECK(run(options, gpu::count_sink{}).kept == 0);
  CHECK(run(options, gpu::top_k_sink{}).count[7] == 0);
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

TEST_CASE("Fewer threads run where memory holds no more", "[windows]") {
  const auto table = gpu_test::random_matrix<double>(30, 30'000, 31);
  gpu::pair_options one = cpu_options();
  one.exec.cpu_threads = 1;
  gpu::pair_options many = cpu_options();
  many.exec.cpu_threads = 8;
  const auto run = [&](const gpu::pair_options& how) {
    return gpu::spearman_all_pairs(table, how, gpu::count_sink{});
  };
  CHECK(gpu_test::least_workspace(run, many) == gpu_test::least_workspace(run, one));
  const auto wanted = run(one);
  many.exec.workspace_bytes = gpu_test::least_workspace(run, one);
  CHECK(run(many).degree == wanted.degree);
  many.exec.workspace_bytes -= 1;
  CHECK_THROWS_AS(run(many), gpu::out_of_memory);
}
