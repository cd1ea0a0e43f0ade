// Several engines that share one call against one engine alone: the same bits from every sink. The
// engines are on one device, so that any machine with a GPU tests the sharing.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include <gpu/error.hpp>
#include <gpu/execution.hpp>

#include "cuda/pairs/engine.hpp"
#include "pairs/cpu_parity.hpp"
#include "stats/significance/kendall_test.hpp"
#include "support/device_offers.hpp"

namespace {

using namespace gpu_test;
using gpu::index_t;
using gpu::measure;
using gpu::pair_variant;
using gpu::detail::pair_engine;

constexpr std::size_t workspace = std::size_t{2} << 30;

const gpu::device_info& device() {
  static const gpu::device_info first = gpu::available_devices().front();
  return first;
}

gpu::pair_options options_of(pair_variant variant) {
  gpu::pair_options options = cuda_options(variant, workspace);
  options.nans = gpu::nan_policy::propagate;
  return options;
}

// A table, or its first rows against the others; the pairs of a part.
struct area {
  index_t rows_of_x = 0;
  gpu::pair_part part = {};
};

template <class T>
gpu::detail::pair_input input_of(const gpu::matrix<T>& x, const gpu::pair_options& options,
                                 const area& of) {
  gpu::detail::pair_tables tables{gpu::detail::read_elements(x)};
  if (of.rows_of_x > 0) {
    tables.x = gpu::matrix_view<const T>(x.data(), of.rows_of_x, x.cols());
    tables.y = gpu::matrix_view<const T>(x.data() + of.rows_of_x * x.cols(),
                                         x.rows() - of.rows_of_x, x.cols());
  }
  return {.tables = tables,
          .area = area_of(tables, of.part, gpu::detail::part_shape::equal_pairs),
          .variant = options.variant,
          .exec = options.exec};
}

template <class T>
std::unique_ptr<pair_engine> alone(measure what, const gpu::matrix<T>& x,
                                   const gpu::pair_options& options, const area& of = {}) {
  return gpu::cuda::make_pair_engine(gpu::detail::traits_of(what), input_of(x, options, of)).engine;
}

template <class T>
std::unique_ptr<pair_engine> group(measure what, const gpu::matrix<T>& x,
                                   const gpu::pair_options& options, std::size_t members,
                                   const area& of = {}) {
  const std::vector<gpu::device_info> devices(members, device());
  return gpu::cuda::make_device_group(gpu::detail::traits_of(what), input_of(x, options, of),
                                      devices, options.variant)
      .engine;
}

gpu::detail::keep_range beyond(double magnitude) {
  return {.at_least = magnitude, .at_most = -magnitude};
}

std::vector<gpu::edge> edges(pair_engine& engine, const gpu::detail::keep_range& keep,
                             gpu::edge_order order, index_t batch = 1000) {
  std::vector<gpu::edge> out;
  std::size_t largest = 0;
  const auto caller = std::this_thread::get_id();
  bool on_caller = true;
  gpu::detail::edge_consumer receiver([&](std::span<gpu::edge> e) {
    on_caller = on_caller && std::this_thread::get_id() == caller;
    largest = std::max(largest, e.size());
    out.insert(out.end(), e.begin(), e.end());
  });
  engine.edges({.keep = keep, .order = order, .batch_edges = batch}, receiver);
  CHECK(on_caller);
  CHECK(largest <= static_cast<std::size_t>(batch));
  return out;
}

void check_edges(pair_engine& one, pair_engine& many, double cut) {
  const auto wanted = edges(one, beyond(cut), gpu::edge_order::by_row_then_column);
  check_same_edges(edges(many, beyond(cut), gpu::edge_order::by_row_then_column), wanted);
  auto unordered = edges(many, beyond(cut), gpu::edge_order::unspecified);
  std::sort(unordered.begin(), unordered.end(), [](const gpu::edge& a, const gpu::edge& b) {
    return std::pair(a.row, a.col) < std::pair(b.row, b.col);
  });
  check_same_edges(unordered, wanted);
}

void check_counts(pair_engine& one, pair_engine& many, double cut, index_t bins) {
  gpu::pair_counts wanted;
  gpu::pair_counts got;
  one.counts({.keep = beyond(cut), .histogram_bins = bins}, wanted);
  many.counts({.keep = beyond(cut), .histogram_bins = bins}, got);
  CHECK(wanted.kept > 0);
  CHECK(got.kept == wanted.kept);
  CHECK(got.degree == wanted.degree);
  CHECK(got.histogram == wanted.histogram);
}

void check_bins(pair_engine& one, pair_engine& many) {
  const gpu::detail::bin_request request{
      .key = gpu::detail::bin_key::magnitude, .low = 0.1, .high = 0.7, .scale = 100, .bins = 60};
  const auto wanted = one.bin_statistics(request);
  const auto got = many.bin_statistics(request);
  CHECK(got.below == wanted.below);
  CHECK(got.at_or_above == wanted.at_or_above);
  CHECK(got.bins == wanted.bins);
}

void check_top_k(pair_engine& one, pair_engine& many, double cut, index_t k) {
  const index_t rows = one.rows().rows;
  const auto find = [&](pair_engine& engine) {
    gpu::neighbor_table out{.index = gpu::matrix<gpu::node_id>(rows, k),
                            .statistic = gpu::matrix<double>(rows, k),
                            .count = std::vector<gpu::node_id>(static_cast<std::size_t>(rows)),
                            .summary = {}};
    engine.top_k({.keep = beyond(cut), .k = k, .order = gpu::neighbor_order::by_absolute_value},
                 out);
    return out;
  };
  const auto wanted = find(one);
  const auto got = find(many);
  CHECK(got.count == wanted.count);
  check_same_values(got.index, wanted.index);
  check_same_values(got.statistic, wanted.statistic);
}

template <class Value>
void check_dense(pair_engine& one, pair_engine& many) {
  const index_t rows = one.rows().rows;
  gpu::matrix<Value> wanted(rows, rows);
  gpu::matrix<Value> got(rows, rows);
  one.dense(wanted.view());
  many.dense(got.view());
  check_same_values(got, wanted);
}

void check_connectivity(pair_engine& one, pair_engine& many) {
  const index_t rows = one.rows().rows;
  const std::vector<gpu::stats::power_step> steps = gpu::stats::power_steps({{1.0, 6.0, 2.5}});
  const gpu::detail::connectivity_request request{.network = gpu::network_kind::signed_network,
                                                  .steps = steps};
  gpu::matrix<double> wanted(rows, 3);
  gpu::matrix<double> got(rows, 3);
  one.connectivity(request, wanted.view());
  many.connectivity(request, got.view());
  check_same_values(got, wanted);
}

// Enough rows for several pieces of every walk over rows.
template <class T>
gpu::matrix<T> input(index_t rows, index_t cols, std::uint64_t seed) {
  gpu::matrix<T> x = tied_matrix<T>(rows, cols, seed);
  for (index_t k = 0; k < cols; ++k) x(rows / 2, k) = T{3};
  return x;
}

void check_all(measure what, pair_variant variant, index_t rows, index_t cols) {
  if (!applies(variant)) return;
  const auto x = input<std::int16_t>(rows, cols, 5);
  const gpu::pair_options options = options_of(variant);
  const auto one = alone(what, x, options);
  for (const std::size_t members : {2u, 3u}) {
    INFO(gpu::to_string(variant) << ", " << members << " engines");
    const auto many = group(what, x, options, members);
    CHECK(many->variant() == one->variant());
    CHECK(many->rows().rows == one->rows().rows);
    CHECK(many->rows().constant_rows == one->rows().constant_rows);
    check_edges(*one, *many, 0.7);
    check_counts(*one, *many, 0.4, 50);
    check_bins(*one, *many);
    check_top_k(*one, *many, 0.2, 5);
  }
  for (const area& of : {area{.part = {.index = 1, .of = 3}}, area{.rows_of_x = rows / 3},
                         area{.rows_of_x = rows / 2, .part = {.index = 1, .of = 3}}}) {
    if (what == measure::kendall) return;
    INFO(of.rows_of_x << " rows against the others, part " << of.part.index << " of "
                      << of.part.of);
    const auto one_of = alone(what, x, options, of);
    const auto both = group(what, x, options, 2, of);
    check_edges(*one_of, *both, 0.7);
    check_counts(*one_of, *both, 0.4, 50);
    check_bins(*one_of, *both);
  }
}

}  // namespace

TEST_CASE("engines that share a call give one engine's bits", "[device_group]") {
  for (const pair_variant variant :
       {pair_variant::shared_tiled, pair_variant::tensor, pair_variant::hopper}) {
    check_all(measure::spearman, variant, 30000, 20);
  }
  for (const pair_variant variant : {pair_variant::shared_tiled, gpu_test::tensor_or_tiles()}) {
    check_all(measure::pearson, variant, 15000, 20);
  }
  check_all(measure::kendall, pair_variant::shared_tiled, 9000, 20);
}

TEST_CASE("engines that share a call decide Kendall's pairs by their own p", "[device_group]") {
  const auto x = input<std::int16_t>(9000, 20, 5);
  const gpu::stats::kendall_test test(20);
  for (const double max_p : {1e-5, 1e-3}) {  // screened, where the device can, and not
    const gpu::stats::kendall_cut cut(test, max_p, gpu::tail::two_sided);
    const gpu::detail::tied_cut tied{.p = &cut, .keep = beyond(0)};
    const gpu::pair_options options = options_of(pair_variant::automatic);
    const auto one = alone(measure::kendall, x, options);
    gpu::pair_options chosen = options;
    chosen.variant = one->variant();
    const auto many = group(measure::kendall, x, chosen, 3);
    CHECK(many->rows().ties == one->rows().ties);
    const auto found = [&](pair_engine& engine) {
      std::vector<gpu::edge> out;
      gpu::detail::edge_consumer receiver(
          [&](std::span<gpu::edge> e) { out.insert(out.end(), e.begin(), e.end()); });
      engine.edges({.keep = beyond(0),
                    .order = gpu::edge_order::by_row_then_column,
                    .batch_edges = 1000,
                    .tied = &tied},
                   receiver);
      return out;
    };
    const auto wanted = found(*one);
    CHECK(!wanted.empty());
    check_same_edges(found(*many), wanted);
    gpu::pair_counts counts;
    many->counts({.keep = beyond(0), .histogram_bins = 9, .tied = &tied}, counts);
    CHECK(counts.kept == wanted.size());
  }
}

TEST_CASE("engines that share a call write disjoint rows of a dense result", "[device_group]") {
  const auto x = input<float>(3000, 12, 6);
  for (const measure what : {measure::spearman, measure::pearson}) {
    const gpu::pair_options options = options_of(pair_variant::automatic);
    const auto one = alone(what, x, options);
    gpu::pair_options chosen = options;
    chosen.variant = one->variant();
    const auto many = group(what, x, chosen, 3);
    check_dense<double>(*one, *many);
    check_dense<float>(*one, *many);
    check_connectivity(*one, *many);
  }
}

TEST_CASE("a shared screen leaves the same edges and counts", "[device_group][screen]") {
  if (!applies(pair_variant::hopper)) return;
  const auto x = input<std::int8_t>(200'000, 30, 7);
  const gpu::pair_options options = options_of(pair_variant::hopper);
  const auto one = alone(measure::spearman, x, options);
  const auto many = group(measure::spearman, x, options, 3);
  check_edges(*one, *many, 0.83);
  check_counts(*one, *many, 0.83, 40);
  check_counts(*one, *many, 0.37, 0);
}

TEST_CASE("a shared screen gives up on all devices or on none", "[device_group][screen]") {
  if (!applies(pair_variant::hopper)) return;
  const auto patterns = tied_matrix<std::int8_t>(4000, 30, 9);
  gpu::matrix<std::int8_t> x(150'000, 30);
  for (index_t i = 0; i < x.rows(); ++i) {
    std::copy_n(patterns.row(i % patterns.rows()).data(), 30, x.row(i).data());
  }
  const gpu::pair_options options = options_of(pair_variant::hopper);
  const auto one = alone(measure::spearman, x, options);
  const auto many = group(measure::spearman, x, options, 3);
  check_edges(*one, *many, 0.97);
  check_counts(*one, *many, 0.97, 10);
}

TEST_CASE("shared rows that do not fit the workspace are streamed", "[device_group]") {
  const auto x = input<std::int16_t>(1500, 40, 13);
  for (const measure what : {measure::spearman, measure::pearson}) {
    gpu::pair_options options = options_of(pair_variant::shared_tiled);
    options.exec.workspace_bytes = 300'000;
    const auto one = alone(what, x, options);
    const auto many = group(what, x, options, 2);
    check_edges(*one, *many, 0.4);
    check_counts(*one, *many, 0.4, 20);
    check_top_k(*one, *many, 0.1, 2);
    check_dense<float>(*one, *many);
  }
}

TEST_CASE("integers that travel as bytes keep their ranks", "[device_group][upload]") {
  // Large enough to be staged; a few rows in the middle fit no byte, and the least ones are on the
  // edge of it. Doubles travel as they are.
  constexpr index_t rows = 40000;
  constexpr index_t cols = 30;
  gpu::matrix<std::int32_t> whole(rows, cols);
  gpu::matrix<double> as_doubles(rows, cols);
  std::uint32_t state = 7;
  for (index_t i = 0; i < rows; ++i) {
    const bool wide = i % 9000 == 8000;
    for (index_t j = 0; j < cols; ++j) {
      state = state * 1664525U + 1013904223U;
      const auto byte = static_cast<std::int32_t>(state >> 24) - 128;
      whole(i, j) = wide ? byte * 1000 : byte;
      as_doubles(i, j) = whole(i, j);
    }
  }
  const gpu::pair_options options = options_of(gpu_test::tensor_or_tiles());
  const auto wanted = alone(measure::spearman, as_doubles, options);
  check_edges(*wanted, *alone(measure::spearman, whole, options), 0.75);
  check_edges(*wanted, *group(measure::spearman, whole, options, 3), 0.75);
}

TEST_CASE("few rows leave engines without work, and no rows all of them", "[device_group]") {
  for (const index_t rows : {0, 1, 2, 70}) {
    const auto x = tied_matrix<std::int16_t>(rows, 9, 3);
    const gpu::pair_options options = options_of(pair_variant::shared_tiled);
    const auto one = alone(measure::spearman, x, options);
    const auto many = group(measure::spearman, x, options, 3);
    check_edges(*one, *many, 0.3);
    check_top_k(*one, *many, 0, 3);
    check_dense<double>(*one, *many);
  }
}

TEST_CASE("a receiver that throws ends the work of every engine", "[device_group]") {
  const auto x = input<std::int16_t>(20000, 20, 16);
  for (const auto order : {gpu::edge_order::by_row_then_column, gpu::edge_order::unspecified}) {
    const auto many = group(measure::spearman, x, options_of(pair_variant::shared_tiled), 3);
    int batches = 0;
    gpu::detail::edge_consumer receiver([&](std::span<gpu::edge>) {
      if (++batches == 10) throw std::runtime_error("enough");
    });
    CHECK_THROWS_AS(
        many->edges({.keep = beyond(0.4), .order = order, .batch_edges = 100}, receiver),
        std::runtime_error);
    CHECK(batches == 10);
    // The group is as good as before.
    CHECK_FALSE(edges(*many, beyond(0.8), order).empty());
  }
}

TEST_CASE("progress of several engines is reported once and cancels all", "[device_group]") {
  const auto x = input<std::int16_t>(20000, 20, 17);
  gpu::pair_options options = options_of(pair_variant::shared_tiled);
  std::uint64_t last = 0;
  std::uint64_t total = 0;
  bool prepared = false;
  bool cancel = false;
  options.exec.on_progress = [&](const gpu::progress& state) {
    prepared = prepared || (state.stage == "prepare" && state.done == state.total);
    if (state.stage == "pairs") last = state.done, total = state.total;
    return cancel ? gpu::progress_reply::cancel : gpu::progress_reply::proceed;
  };
  const auto many = group(measure::spearman, x, options, 3);
  CHECK(prepared);
  gpu::pair_counts counts;
  many->counts({.keep = beyond(0.5), .histogram_bins = 0}, counts);
  CHECK(total == std::uint64_t{20000} * 19999 / 2);
  CHECK(last == total);
  cancel = true;
  CHECK_THROWS_AS(many->counts({.keep = beyond(0.5), .histogram_bins = 0}, counts), gpu::cancelled);
  CHECK_THROWS_AS(edges(*many, beyond(0.5), gpu::edge_order::unspecified), gpu::cancelled);
  CHECK_THROWS_AS(group(measure::spearman, x, options, 2), gpu::cancelled);
}

TEST_CASE("memory that does not suffice on the devices is one error", "[device_group]") {
  const auto x = input<std::int16_t>(1500, 40, 18);
  gpu::pair_options options = options_of(pair_variant::shared_tiled);
  options.exec.workspace_bytes = 1000;
  CHECK_THROWS_AS(group(measure::spearman, x, options, 3), gpu::out_of_memory);
}

TEST_CASE("all devices of the host give the CPU's answer", "[device_group]") {
  const auto devices = gpu::available_devices();
  const auto x = input<std::int32_t>(3000, 30, 19);
  gpu::pair_options options = cuda_options(pair_variant::automatic);
  for (const gpu::device_info& each : devices) options.exec.devices.push_back(each.ordinal);
  gpu_test::check_edges<spearman_op>(x, options, {.max_p = 1e-6});
  gpu_test::check_edges<pearson_op>(x, options, {.max_p = 0.01});
  gpu_test::check_counts<spearman_op>(x, options, {.max_p = 0.05}, 30);
  gpu_test::check_top_k<spearman_op>(x, options, {}, 4, gpu::neighbor_order::by_absolute_value);
  check_same_values<float>(spearman_op::run(x, options, gpu::dense_sink_f32{}),
                           spearman_op::run(x, cpu_options(), gpu::dense_sink_f32{}));
  // The last device alone, and in the other order.
  options.exec.devices = {devices.back().ordinal};
  gpu_test::check_edges<spearman_op>(x, options, {.max_p = 1e-6});
  options.exec.devices = {devices.front().ordinal, devices.front().ordinal};
  CHECK_THROWS_AS(spearman_op::run(x, options, gpu::count_sink{}), gpu::invalid_argument);
}
