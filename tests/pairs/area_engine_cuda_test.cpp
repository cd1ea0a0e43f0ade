// Areas of the CUDA engine beside the whole triangle that it computes itself: what an area gives is
// what the triangle has there, from every sink and variant, on one device and shared by engines.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <gpu/execution.hpp>

#include "cuda/pairs/device_group.hpp"
#include "pairs/cpu_parity.hpp"
#include "support/device_offers.hpp"

namespace {

using namespace gpu_test;
using gpu::index_t;
using gpu::measure;
using gpu::pair_variant;
using gpu::detail::index_range;
using gpu::detail::keep_range;
using gpu::detail::pair_area;
using gpu::detail::pair_engine;
using gpu::detail::pair_tables;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr keep_range keep_all{.at_least = -infinity, .at_most = -infinity};

keep_range beyond(double magnitude) {
  return {.at_least = magnitude, .at_most = -magnitude};
}

// A table, and where it is cut into x and y.
template <class T>
struct table {
  gpu::matrix<T> rows;
  index_t border;

  [[nodiscard]] pair_tables whole() const { return {gpu::detail::read_elements(rows)}; }
  [[nodiscard]] pair_tables against() const {
    const gpu::matrix_view<const T> x(rows.data(), border, rows.cols());
    const gpu::matrix_view<const T> y(rows.data() + border * rows.cols(), rows.rows() - border,
                                      rows.cols());
    return {x, y};
  }
  // The areas that are looked at: parts of the table, x against y, parts of x against y.
  [[nodiscard]] std::vector<pair_area> areas() const {
    const index_t n = rows.rows();
    return {{{0, n}, {0, n}},
            {{0, border}, {0, n}},
            {{border / 3, border}, {0, n}},
            {{border, n}, {0, n}},
            {{n - 3, n}, {0, n}},
            {{0, border}, {border, n}},
            {{border / 2, border / 2 + 7}, {border, n}},
            {{border / 3, border - 5}, {border, n}}};
  }
};

struct setup {
  measure what;
  gpu::pair_options options;
  std::size_t members = 1;
};

template <class T>
std::unique_ptr<pair_engine> make(const setup& how, const table<T>& data, const pair_area& area) {
  const gpu::detail::pair_input input{.tables = area.cols.begin > 0 ? data.against() : data.whole(),
                                      .area = area,
                                      .variant = how.options.variant,
                                      .exec = how.options.exec};
  if (how.members == 1)
    return gpu::cuda::make_pair_engine(gpu::detail::traits_of(how.what), input).engine;
  const std::vector<gpu::device_info> devices(how.members, gpu::available_devices().front());
  return gpu::cuda::make_device_group(gpu::detail::traits_of(how.what), input, devices,
                                      how.options.variant)
      .engine;
}

std::vector<gpu::edge> edges_of(pair_engine& engine, const keep_range& keep,
                                gpu::edge_order order = gpu::edge_order::by_row_then_column) {
  std::vector<gpu::edge> out;
  gpu::detail::edge_consumer receiver(
      [&](std::span<gpu::edge> e) { out.insert(out.end(), e.begin(), e.end()); });
  engine.edges({.keep = keep, .order = order, .batch_edges = 100'000}, receiver);
  if (order == gpu::edge_order::unspecified) {
    std::sort(out.begin(), out.end(), [](const gpu::edge& a, const gpu::edge& b) {
      return std::pair(a.row, a.col) < std::pair(b.row, b.col);
    });
  }
  return out;
}

// Of the edges of the whole table those of an area, as the area's engine gives them.
std::vector<gpu::edge> within(std::span<const gpu::edge> all, const pair_area& area,
                              const keep_range& keep = keep_all) {
  std::vector<gpu::edge> out;
  for (gpu::edge e : all) {
    if (!area.rows.holds(e.row) || !area.cols.holds(e.col) || !keep.keeps(e.statistic)) continue;
    e.col -= static_cast<gpu::node_id>(area.cols.begin);
    out.push_back(e);
  }
  return out;
}

void check_counts_of(pair_engine& engine, std::span<const gpu::edge> wanted, const pair_area& area,
                     const keep_range& keep, index_t bins) {
  std::vector<std::uint32_t> degree(static_cast<std::size_t>(engine.rows().rows));
  std::vector<std::uint64_t> histogram(static_cast<std::size_t>(bins));
  for (const gpu::edge& e : wanted) {
    ++degree[e.row];
    ++degree[static_cast<std::size_t>(area.cols.begin) + e.col];
    if (bins == 0) continue;
    const double bin = std::floor((e.statistic + 1) * (static_cast<double>(bins) / 2));
    ++histogram[static_cast<std::size_t>(std::min(bin, static_cast<double>(bins - 1)))];
  }
  gpu::pair_counts got;
  engine.counts({.keep = keep, .histogram_bins = bins}, got);
  CHECK(got.kept == wanted.size());
  CHECK(got.degree == degree);
  CHECK(got.histogram == histogram);
}

void check_bins_of(pair_engine& engine, std::span<const gpu::edge> all) {
  const gpu::detail::bin_request request{
      .key = gpu::detail::bin_key::magnitude, .low = 0.1, .high = 0.7, .scale = 100, .bins = 60};
  gpu::detail::bin_counts wanted;
  wanted.bins.resize(60);
  for (const gpu::edge& e : all) {
    const double x = std::abs(e.statistic);
    if (x < request.low) {
      ++wanted.below;
    } else if (x >= request.high) {
      ++wanted.at_or_above;
    } else {
      ++wanted.bins[static_cast<std::size_t>(std::min(59.0, (x - request.low) * request.scale))];
    }
  }
  const auto got = engine.bin_statistics(request);
  CHECK(got.below == wanted.below);
  CHECK(got.at_or_above == wanted.at_or_above);
  CHECK(got.bins == wanted.bins);
}

// The k best partners of each row of an area, from all edges of the table.
void check_top_k_of(pair_engine& engine, std::span<const gpu::edge> all, const pair_area& area,
                    const keep_range& keep, index_t k, gpu::neighbor_order order) {
  struct partner {
    double rank;
    std::uint32_t col;
    double statistic;
  };
  const index_t rows = area.rows.size();
  std::vector<std::vector<partner>> wanted(static_cast<std::size_t>(rows));
  const bool by_magnitude = order == gpu::neighbor_order::by_absolute_value;
  for (const gpu::edge& e : all) {
    if (!keep.keeps(e.statistic)) continue;
    const double rank = by_magnitude ? std::abs(e.statistic) : e.statistic;
    const auto add = [&](index_t row, index_t col) {
      if (!area.rows.holds(row) || !area.cols.holds(col)) return;
      wanted[static_cast<std::size_t>(row - area.rows.begin)].push_back(
          {rank, static_cast<std::uint32_t>(col - area.cols.begin), e.statistic});
    };
    add(e.row, e.col);
    add(e.col, e.row);
  }
  gpu::neighbor_table got{.index = gpu::matrix<gpu::node_id>(rows, k),
                          .statistic = gpu::matrix<double>(rows, k),
                          .count = std::vector<gpu::node_id>(static_cast<std::size_t>(rows)),
                          .summary = {}};
  engine.top_k({.keep = keep, .k = k, .order = order}, got);
  index_t wrong = 0;
  for (index_t i = 0; i < rows; ++i) {
    auto& list = wanted[static_cast<std::size_t>(i)];
    std::sort(list.begin(), list.end(), [](const partner& a, const partner& b) {
      return a.rank != b.rank ? a.rank > b.rank : a.col < b.col;
    });
    if (static_cast<index_t>(list.size()) > k) list.erase(list.begin() + k, list.end());
    wrong += got.count[static_cast<std::size_t>(i)] != list.size();
    for (index_t e = 0; e < k; ++e) {
      const bool there = e < static_cast<index_t>(list.size());
      const partner want = there ? list[static_cast<std::size_t>(e)] : partner{};
      wrong += got.index(i, e) != (there ? want.col : gpu::neighbor_table::no_neighbor);
      wrong += there && got.statistic(i, e) != want.statistic;
    }
  }
  CHECK(wrong == 0);
}

template <class T>
void check_areas(const setup& how, const table<T>& data, double strict, double loose) {
  const auto whole = make(setup{how.what, how.options}, data, data.areas().front());
  const std::vector<gpu::edge> all = edges_of(*whole, keep_all);
  REQUIRE(!all.empty());
  gpu::matrix<double> dense(data.rows.rows(), data.rows.rows());
  whole->dense(dense.view());
  for (const pair_area& area : data.areas()) {
    INFO("rows " << area.rows.begin << " to " << area.rows.end << ", columns " << area.cols.begin
                 << " to " << area.cols.end);
    const auto engine = make(how, data, area);
    const std::vector<gpu::edge> of_area = within(all, area);
    for (const double cut : {strict, loose}) {
      INFO("cut " << cut);
      const std::vector<gpu::edge> wanted = within(all, area, beyond(cut));
      check_same_edges(edges_of(*engine, beyond(cut)), wanted);
      check_same_edges(edges_of(*engine, beyond(cut), gpu::edge_order::unspecified), wanted);
      check_counts_of(*engine, wanted, area, beyond(cut), 0);
      check_counts_of(*engine, wanted, area, beyond(cut), 50);
      const keep_range above{.at_least = cut, .at_most = -infinity};
      check_counts_of(*engine, within(all, area, above), area, above, 0);
    }
    check_same_edges(edges_of(*engine, keep_all), of_area);
    check_bins_of(*engine, of_area);
    for (const auto order :
         {gpu::neighbor_order::by_absolute_value, gpu::neighbor_order::by_value}) {
      check_top_k_of(*engine, all, area, keep_all, 5, order);
      check_top_k_of(*engine, all, area, beyond(loose), 1, order);
    }
    check_top_k_of(*engine, all, area, keep_all, 140, gpu::neighbor_order::by_absolute_value);
    gpu::matrix<double> got(area.rows.size(), area.cols.size());
    engine->dense(got.view());
    index_t wrong = 0;
    for (index_t i = 0; i < got.rows(); ++i) {
      for (index_t j = 0; j < got.cols(); ++j) {
        const double a = got(i, j);
        const double b = dense(area.rows.begin + i, area.cols.begin + j);
        wrong += !(a == b || (a != a && b != b));
      }
    }
    CHECK(wrong == 0);
  }
}

gpu::pair_options options_of(pair_variant variant, std::size_t workspace = 0) {
  gpu::pair_options options = cuda_options(variant, workspace);
  options.nans = gpu::nan_policy::propagate;
  options.fold = gpu::row_folding::never;
  return options;
}

template <class T>
table<T> tied_table(index_t rows, index_t cols, index_t border, std::uint64_t seed) {
  gpu::matrix<T> x = tied_matrix<T>(rows, cols, seed, 0.5);
  // Strong pairs, within and across, and rows without a statistic on both sides.
  for (index_t i = 0; i < rows; i += 9) {
    for (index_t k = 0; k < cols; ++k) {
      if ((i + 3 * k) % 5 != 0) x(i, k) = x(i % 4, k);
    }
  }
  for (const index_t i : {index_t{5}, border / 2, border, rows - 2}) {
    for (index_t k = 0; k < cols; ++k) x(i, k) = T{3};
  }
  return {std::move(x), border};
}

const pair_variant variants[] = {pair_variant::shared_tiled, pair_variant::tensor,
                                 pair_variant::hopper};

}  // namespace

TEST_CASE("Spearman of an area is what the triangle has there", "[area]") {
  for (const pair_variant variant : variants) {
    if (!applies(variant)) continue;
    INFO(gpu::to_string(variant));
    const setup how{measure::spearman, options_of(variant)};
    check_areas(how, tied_table<std::int8_t>(2300, 30, 900, 1), 0.85, 0.3);
    check_areas(how, tied_table<std::int16_t>(1700, 32, 1600, 2), 0.85, 0.3);
    check_areas(how, tied_table<std::int8_t>(1100, 70, 30, 3), 0.7, 0.15);
    check_areas(how, tied_table<float>(1100, 200, 500, 4), 0.5, 0.1);
  }
}

TEST_CASE("Pearson of an area is what the triangle has there", "[area]") {
  for (const pair_variant variant : variants) {
    if (!applies(variant)) continue;
    INFO(gpu::to_string(variant));
    const setup how{measure::pearson, options_of(variant)};
    check_areas(how, tied_table<std::int8_t>(2300, 30, 900, 1), 0.85, 0.3);
    check_areas(how, tied_table<float>(1700, 90, 1600, 2), 0.7, 0.15);
    check_areas(how, tied_table<double>(1100, 200, 500, 4), 0.5, 0.1);
  }
}

TEST_CASE("areas of engines that share a call", "[area][device_group]") {
  for (const measure what : {measure::spearman, measure::pearson}) {
    for (const pair_variant variant : {pair_variant::tensor, pair_variant::hopper}) {
      if (!applies(variant)) continue;
      INFO(gpu::to_string(variant));
      const setup how{what, options_of(variant, std::size_t{2} << 30), 2};
      check_areas(how, tied_table<std::int8_t>(1900, 30, 700, 5), 0.85, 0.3);
    }
  }
}

TEST_CASE("areas of rows that do not fit the workspace", "[area]") {
  for (const measure what : {measure::spearman, measure::pearson}) {
    const setup how{what, options_of(pair_variant::shared_tiled, 300'000)};
    check_areas(how, tied_table<std::int16_t>(900, 40, 400, 6), 0.7, 0.3);
  }
}

namespace {

// What areas of a table hold together.
struct held {
  explicit held(index_t rows, index_t bins)
      : degree(static_cast<std::size_t>(rows)), histogram(static_cast<std::size_t>(bins)) {}

  void add(const gpu::pair_counts& part) {
    kept += part.kept;
    std::transform(part.degree.begin(), part.degree.end(), degree.begin(), degree.begin(),
                   std::plus<>());
    std::transform(part.histogram.begin(), part.histogram.end(), histogram.begin(),
                   histogram.begin(), std::plus<>());
  }
  void check(const gpu::pair_counts& wanted) const {
    CHECK(kept == wanted.kept);
    CHECK(degree == wanted.degree);
    CHECK(histogram == wanted.histogram);
  }

  std::uint64_t kept = 0;
  std::vector<std::uint32_t> degree;
  std::vector<std::uint64_t> histogram;
};

// Counts and edges of areas of one table.
template <class T>
struct counted_areas {
  const setup& how;
  const keep_range& keep;
  bool has_edges;
  index_t bins;

  gpu::pair_counts count(const table<T>& data, const pair_area& area) const {
    gpu::pair_counts out;
    make(how, data, area)->counts({.keep = keep, .histogram_bins = bins}, out);
    return out;
  }
  std::vector<gpu::edge> edges(const table<T>& data, const pair_area& area) const {
    return has_edges ? edges_of(*make(how, data, area), keep) : std::vector<gpu::edge>();
  }
};

// The first rows of a table, up to the border.
template <class T>
table<T> rows_before_border(const table<T>& data) {
  gpu::matrix<T> first(data.border, data.rows.cols());
  std::copy_n(data.rows.data(), first.rows() * first.cols(), first.data());
  return {std::move(first), data.border};
}

// Parts of a large table, and two halves of it with the rectangle between them, add up to it.
template <class T>
void check_sums(const setup& how, const table<T>& data, const keep_range& keep, bool has_edges,
                index_t bins) {
  const counted_areas<T> areas{how, keep, has_edges, bins};
  const index_t n = data.rows.rows();
  const pair_area whole{{0, n}, {0, n}};
  const gpu::pair_counts wanted = areas.count(data, whole);
  const std::vector<gpu::edge> wanted_edges = areas.edges(data, whole);
  CHECK(wanted.kept > 0);
  if (has_edges) CHECK(wanted_edges.size() == wanted.kept);

  held of_parts(n, bins);
  std::vector<gpu::edge> found;
  for (const auto& [begin, end] :
       {std::pair{index_t{0}, n / 5}, std::pair{n / 5, n / 2 + 77}, std::pair{n / 2 + 77, n}}) {
    const pair_area part{{begin, end}, {0, n}};
    of_parts.add(areas.count(data, part));
    const auto more = areas.edges(data, part);
    found.insert(found.end(), more.begin(), more.end());
  }
  of_parts.check(wanted);
  check_same_edges(found, wanted_edges);

  held of_halves(n, bins);
  const pair_area across{{0, data.border}, {data.border, n}};
  of_halves.add(areas.count(data, across));
  check_same_edges(areas.edges(data, across), within(wanted_edges, across));
  // The triangle of x, and that of y: a part that begins at the border.
  gpu::pair_counts of_x =
      areas.count(rows_before_border(data), {{0, data.border}, {0, data.border}});
  of_x.degree.resize(static_cast<std::size_t>(n));
  of_halves.add(of_x);
  of_halves.add(areas.count(data, {{data.border, n}, {0, n}}));
  of_halves.check(wanted);
}

}  // namespace

TEST_CASE("parts of a large table add up to it", "[area]") {
  if (!applies(pair_variant::hopper)) return;
  const setup ranks{measure::spearman, options_of(pair_variant::hopper)};
  const auto narrow = tied_table<std::int8_t>(150'000, 30, 70'000, 11);
  check_sums(ranks, narrow, beyond(0.87), true, 20);
  check_sums(ranks, narrow, beyond(0.37), false, 40);
  check_sums({measure::spearman, ranks.options, 3}, narrow, beyond(0.87), true, 0);
  const auto wide = tied_table<std::int16_t>(40'000, 200, 17'000, 12);
  check_sums(ranks, wide, beyond(0.55), true, 0);
  const setup values{measure::pearson, options_of(pair_variant::automatic)};
  const auto unit = tied_table<float>(45'000, 30, 20'000, 13);
  check_sums(values, unit, beyond(0.4), false, 0);
  check_sums(values, unit, beyond(0.9), true, 0);
}
