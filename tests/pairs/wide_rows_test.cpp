// Wide rows on the CPU against the naive variant, which multiplies one pair at a time: every sink,
// on both sides of every length at which rows take another form. Run once per instruction set.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include <gpu/all_pairs.hpp>

#include "pairs/measure_calls.hpp"
#include "reference/correlation_reference.hpp"
#include "support/catch.hpp"
#include "support/same_or_nan.hpp"

namespace {

using gpu::index_t;

gpu::pair_options cpu_options(gpu::pair_variant variant, int threads = 2) {
  gpu::pair_options out;
  out.variant = variant;
  out.nans = gpu::nan_policy::propagate;
  out.exec.target = gpu::backend::cpu;
  out.exec.cpu_threads = threads;
  return out;
}

// Families of four rows around one profile, some of opposite sign, whose noise grows from row to
// row; a rising row, whose largest values stand side by side; a row with one large value; a
// constant one; and, of floats, one with a NaN.
template <class T>
gpu::matrix<T> wide_table(index_t rows, index_t cols, unsigned seed, unsigned values) {
  std::mt19937 random(seed);
  gpu::matrix<T> out(rows, cols);
  std::vector<std::int64_t> profile(static_cast<std::size_t>(cols));
  for (index_t i = 0; i < rows; ++i) {
    if (i % 4 == 0) {
      for (auto& value : profile) value = static_cast<std::int64_t>(random() % values);
    }
    const auto noise = static_cast<unsigned>(i % 4) * values / 3 + 1;
    const bool is_turned = i % 3 == 2;
    for (index_t k = 0; k < cols; ++k) {
      const std::int64_t sum =
          profile[static_cast<std::size_t>(k)] + static_cast<std::int64_t>(random() % noise);
      const std::int64_t value = sum * values / (std::int64_t{values} + noise);
      out(i, k) = static_cast<T>(is_turned ? values - 1 - value : value);
    }
  }
  for (index_t k = 0; k < cols; ++k) {
    out(1, k) = static_cast<T>(k * (values - 1) / cols);
    if (rows > 6) out(6, k) = static_cast<T>(k == cols / 2 ? values - 1 : random() % 2);
    if (rows > 9) out(9, k) = T{3};
  }
  if constexpr (std::is_floating_point_v<T>) {
    if (rows > 11) out(11, cols - 1) = std::numeric_limits<T>::quiet_NaN();
  }
  return out;
}

// Cuts between statistics, and such that are one: the pair itself is kept.
std::vector<double> cuts_of(const gpu::matrix<double>& statistics) {
  std::vector<double> out{0, 0.3};
  for (const auto& [i, j] : {std::pair{0, 4}, std::pair{1, 2}, std::pair{2, 3}}) {
    const double r = std::abs(statistics(i, j));
    if (r > 0) out.insert(out.end(), {r, std::nextafter(r, 2.0)});
  }
  return out;
}

void check_top_k(const gpu::neighbor_table& got, const gpu::neighbor_table& wanted) {
  CHECK(got.count == wanted.count);
  bool same = true;
  for (index_t i = 0; i < wanted.index.rows(); ++i) {
    for (index_t n = 0; n < static_cast<index_t>(wanted.count[static_cast<std::size_t>(i)]); ++n) {
      same = same && got.index(i, n) == wanted.index(i, n) &&
             got.statistic(i, n) == wanted.statistic(i, n);
    }
  }
  CHECK(same);
}

// p is a function of the statistic, and NaN of a measure that has none.
bool same_edges(std::span<const gpu::edge> a, std::span<const gpu::edge> b) {
  return std::equal(
      a.begin(), a.end(), b.begin(), b.end(), [](const gpu::edge& one, const gpu::edge& other) {
        return one.row == other.row && one.col == other.col && one.statistic == other.statistic;
      });
}

// The pairs of statistics that a cut keeps: above the diagonal, or all of two tables.
std::vector<gpu::edge> kept_of(const gpu::matrix<double>& statistics, const gpu::pair_filter& keep,
                               bool is_against) {
  std::vector<gpu::edge> out;
  for (index_t i = 0; i < statistics.rows(); ++i) {
    for (index_t j = is_against ? 0 : i + 1; j < statistics.cols(); ++j) {
      const double r = statistics(i, j);
      if (std::isnan(r)) continue;
      if (keep.min_abs > 0 && !(gpu_test::reference_key(r, keep.side) >= keep.min_abs)) continue;
      out.push_back({static_cast<gpu::node_id>(i), static_cast<gpu::node_id>(j), r, 0});
    }
  }
  return out;
}

// run(threads, sink) gives a result of one table, or of two; `statistics` are those of the naive
// variant.
template <class Run>
void check_cuts(const Run& run, const gpu::matrix<double>& statistics, bool is_against,
                const std::vector<double>& cuts) {
  for (const gpu::tail side : {gpu::tail::two_sided, gpu::tail::greater, gpu::tail::less}) {
    for (const double cut : cuts) {
      CAPTURE(cut, static_cast<int>(side));
      const gpu::pair_filter keep{.min_abs = cut, .side = side};
      const std::vector<gpu::edge> wanted = kept_of(statistics, keep, is_against);
      CHECK(same_edges(run(2, gpu::edge_sink{.keep = keep}).edges, wanted));
      const auto binned = run(1, gpu::count_sink{.keep = keep, .histogram_bins = 20});
      const auto counts = run(3, gpu::count_sink{.keep = keep});
      // The rows of y count behind those of x.
      std::vector<gpu::edge> of_nodes = wanted;
      const auto first_of_y = static_cast<gpu::node_id>(is_against ? statistics.rows() : 0);
      for (gpu::edge& e : of_nodes) e.col += first_of_y;
      const gpu::pair_counts expected =
          gpu_test::counts_of(of_nodes, first_of_y + statistics.cols(), 20);
      std::vector<std::uint32_t> degree = counts.degree;
      degree.insert(degree.end(), counts.y_degree.begin(), counts.y_degree.end());
      CHECK(binned.histogram == expected.histogram);
      CHECK(counts.kept == expected.kept);
      CHECK(degree == expected.degree);
    }
  }
}

template <class T>
void check_table(gpu::measure what, const gpu::matrix<T>& data) {
  CAPTURE(data.rows(), data.cols(), gpu::info_of(what).name, sizeof(T));
  constexpr auto naive = gpu::pair_variant::naive;
  constexpr auto tiled = gpu::pair_variant::tiled;
  const auto view = data.view();
  const auto run = [&](gpu::pair_variant variant, int threads, const auto& sink) {
    return gpu::all_pairs(what, view, cpu_options(variant, threads), sink);
  };
  const gpu::matrix<double> dense = gpu::all_pairs(what, view, cpu_options(naive));
  for (const int threads : {1, 2, 3}) {
    CHECK(gpu_test::same_bits(gpu::all_pairs(what, view, cpu_options(tiled, threads)), dense));
  }
  const std::vector<double> cuts = cuts_of(dense);
  check_cuts([&](int threads, const auto& sink) { return run(tiled, threads, sink); }, dense, false,
             cuts);
  if (gpu::info_of(what).test != gpu::significance::none) {
    const gpu::edge_sink sink{.keep = {.max_p = 1e-6}};
    CHECK(same_edges(run(tiled, 1, sink).edges, run(naive, 1, sink).edges));
  }
  for (const auto order : {gpu::neighbor_order::by_absolute_value, gpu::neighbor_order::by_value}) {
    const gpu::top_k_sink sink{.k = 3, .order = order};
    check_top_k(run(tiled, 2, sink), run(naive, 2, sink));
  }
  // Parts.
  for (const index_t part : {0, 1, 2}) {
    const gpu::edge_sink sink{.keep = {.min_abs = cuts.back()}};
    auto options = cpu_options(tiled);
    auto plain = cpu_options(naive);
    options.part = plain.part = {.index = part, .of = 3};
    CHECK(same_edges(gpu::all_pairs(what, view, options, sink).edges,
                     gpu::all_pairs(what, view, plain, sink).edges));
  }
  // x against y.
  const index_t split = data.rows() / 3;
  using view_type = gpu::matrix_view<const T>;
  const view_type x(view.row(0), split, data.cols(), view.row_stride());
  const view_type y(view.row(split), data.rows() - split, data.cols(), view.row_stride());
  const gpu::matrix<double> across = gpu::all_pairs(what, x, y, cpu_options(naive));
  check_cuts(
      [&](int threads, const auto& sink) {
        return gpu::all_pairs(what, x, y, cpu_options(tiled, threads), sink);
      },
      across, true, {cuts.back()});
  CHECK(gpu_test::same_bits(gpu::all_pairs(what, x, y, cpu_options(tiled)), across));
}

}  // namespace

TEST_CASE("Spearman of wide rows keeps what the naive variant keeps", "[wide]") {
  for (const index_t cols : {127, 511, 512, 513, 1201, 1860, 1861, 2048, 8191, 8192, 8193, 19999}) {
    check_table(gpu::measure::spearman, wide_table<float>(cols < 3000 ? 67 : 19, cols,
                                                          static_cast<unsigned>(cols), 1000000));
  }
  for (const index_t cols : {1901, 8200}) {
    check_table(gpu::measure::spearman, wide_table<std::uint8_t>(37, cols, 5, 200));
    check_table(gpu::measure::spearman, wide_table<std::int32_t>(37, cols, 6, 3));
  }
  // Too few rows for blocks, and lengths on both sides of that of which blocks are exact.
  for (const index_t cols : {2000, 9000}) {
    check_table(gpu::measure::spearman, wide_table<float>(7, cols, 7, 1000000));
  }
  for (const index_t cols : {23169, 23170, 23171}) {
    check_table(gpu::measure::spearman, wide_table<float>(13, cols, 8, 1000000));
  }
}

// Equal and reversed rows have the largest sums.
TEST_CASE("Spearman of equal and reversed wide rows is 1 and -1", "[wide]") {
  for (const index_t cols : {513, 8192, 16384, 23170, 23171, 32768, 32769}) {
    CAPTURE(cols);
    gpu::matrix<std::int32_t> data(20, cols);
    for (index_t i = 0; i < data.rows(); ++i) {
      for (index_t j = 0; j < cols; ++j) {
        data(i, j) = static_cast<std::int32_t>(i % 2 == 0 ? j : cols - j);
      }
    }
    const auto dense =
        gpu::all_pairs(gpu::measure::spearman, data, cpu_options(gpu::pair_variant::tiled));
    bool same = true;
    for (index_t i = 0; i < data.rows(); ++i) {
      for (index_t j = 0; j < data.rows(); ++j) {
        same = same && dense(i, j) == ((i + j) % 2 == 0 ? 1.0 : -1.0);
      }
    }
    CHECK(same);
  }
}

TEST_CASE("Spearman of very wide rows keeps what the naive variant keeps", "[wide]") {
  for (const index_t cols : {32767, 32768, 32769, 65537, 100003}) {
    check_table(gpu::measure::spearman,
                wide_table<float>(14, cols, static_cast<unsigned>(cols), 1000000));
  }
  check_table(gpu::measure::spearman, wide_table<std::uint8_t>(20, 60001, 8, 200));
}

TEST_CASE("Values of wide rows keep what the naive variant keeps", "[wide]") {
  for (const index_t cols : {127, 511, 512, 513, 1201, 19999, 100003}) {
    const index_t rows = cols < 3000 ? 67 : 11;
    for (const gpu::measure what : {gpu::measure::pearson, gpu::measure::bicor}) {
      check_table(what, wide_table<float>(rows, cols, static_cast<unsigned>(cols), 1000000));
    }
  }
  check_table(gpu::measure::pearson, wide_table<std::uint8_t>(21, 4100, 9, 200));
  check_table(gpu::measure::cosine, wide_table<std::int32_t>(37, 2100, 10, 1000));
}

// Blocks of several sizes, on both sides of the diagonal, and lengths on both sides of each at
// which rows are taken in other pieces.
TEST_CASE("Dense results of doubles have the bits of the naive variant", "[wide]") {
  for (const index_t cols : {120, 248, 249, 384, 385, 767, 769, 2048, 2049, 4100}) {
    for (const index_t rows : {7, 8, 71, 331}) {
      CAPTURE(rows, cols);
      const auto data = wide_table<double>(rows, cols, static_cast<unsigned>(cols), 1000000);
      const auto view = data.view();
      const auto wanted =
          gpu::all_pairs(gpu::measure::pearson, view, cpu_options(gpu::pair_variant::naive));
      for (const int threads : {1, 3}) {
        const auto options = cpu_options(gpu::pair_variant::tiled, threads);
        CHECK(gpu_test::same_bits(gpu::all_pairs(gpu::measure::pearson, view, options), wanted));
      }
      const index_t split = rows / 3;
      const gpu::matrix_view<const double> x(view.row(0), split, cols, view.row_stride());
      const gpu::matrix_view<const double> y(view.row(split), rows - split, cols,
                                             view.row_stride());
      CHECK(gpu_test::same_bits(
          gpu::all_pairs(gpu::measure::pearson, y, x, cpu_options(gpu::pair_variant::tiled)),
          gpu::all_pairs(gpu::measure::pearson, y, x, cpu_options(gpu::pair_variant::naive))));
    }
  }
}

// One value of a row that is larger than all others together bounds the scale of every row, in
// whatever column it stands: also in those behind the last whole vector.
TEST_CASE("Rows with one large value find each other", "[wide]") {
  for (const index_t cols : {513, 1201, 2047}) {
    for (const index_t place : {index_t{0}, cols / 2, cols - 1}) {
      auto data = wide_table<float>(37, cols, static_cast<unsigned>(cols), 1000);
      for (const index_t row : {3, 14, 25, 31}) {
        std::mt19937 random(static_cast<unsigned>(row));
        for (index_t k = 0; k < cols; ++k) data(row, k) = static_cast<float>(random() % 100);
        data(row, place) = row == 25 ? -1e6F : 1e6F;
      }
      CAPTURE(place);
      check_table(gpu::measure::pearson, data);
      check_table(gpu::measure::cosine, data);
    }
  }
}

// Rows of +1 and -1: rounding moves all values of a row away from zero, or all towards it, so that
// sums of products are off by nearly as much as the margin says. The scale, and with it the
// direction, follows from the largest piece of the first row.
TEST_CASE("Rounding that moves whole rows to one side loses and adds no pair", "[wide]") {
  constexpr index_t rows = 40;
  constexpr index_t cols = 1024;
  gpu::matrix<float> data(rows, cols);
  std::mt19937 random(4);
  for (index_t i = 1; i < rows; ++i) {
    for (index_t k = 0; k < cols; ++k) data(i, k) = k % 2 == 0 ? 1.0F : -1.0F;
    for (index_t changed = 0; changed < i % 3; ++changed) {
      const auto at = static_cast<index_t>(random() % cols);
      data(i, at) = -data(i, at);
    }
    // Rows of one profile whose statistics differ by less than the margin.
    data(i, i) *= 1.0F + 0.03F * static_cast<float>(i * 7 % 20);
    if (i > 20) {
      for (index_t k = 0; k < cols; ++k) data(i, k) = random() % 2 == 0 ? 1.0F : -1.0F;
    }
  }
  for (int step = 0; step < 16; ++step) {
    for (index_t k = 0; k < cols; ++k) {
      const float size = k < 256 ? 1.0F : 0.8F + 0.01F * static_cast<float>(step);
      data(0, k) = random() % 2 == 0 ? size : -size;
    }
    CAPTURE(step);
    const auto view = data.view();
    const auto dense =
        gpu::all_pairs(gpu::measure::cosine, view, cpu_options(gpu::pair_variant::naive));
    std::vector<double> cuts;
    for (const index_t j : {2, 3, 5, 7}) {
      const double r = std::abs(dense(1, j));
      cuts.insert(cuts.end(), {r, std::nextafter(r, 2.0)});
    }
    check_cuts(
        [&](int threads, const auto& sink) {
          return gpu::all_pairs(gpu::measure::cosine, view,
                                cpu_options(gpu::pair_variant::tiled, threads), sink);
        },
        dense, false, cuts);
    for (const auto order :
         {gpu::neighbor_order::by_absolute_value, gpu::neighbor_order::by_value}) {
      const gpu::top_k_sink sink{.k = 3, .order = order};
      const auto run = [&](gpu::pair_variant variant) {
        return gpu::all_pairs(gpu::measure::cosine, view, cpu_options(variant), sink);
      };
      check_top_k(run(gpu::pair_variant::tiled), run(gpu::pair_variant::naive));
    }
  }
}

// Partners behind the first 512 rows are found by bars, from which the margin is taken, too.
TEST_CASE("Partners behind the first columns are found by their bars", "[wide]") {
  constexpr index_t rows = 700;
  constexpr index_t cols = 512;
  gpu::matrix<float> data(rows, cols);
  std::mt19937 random(8);
  for (index_t i = 0; i < rows; ++i) {
    const bool is_random = i % 5 == 0;
    for (index_t k = 0; k < cols; ++k) {
      const bool is_up = is_random ? random() % 2 == 0 : k % 2 == 0;
      data(i, k) = is_up ? 1.0F : -1.0F;
    }
    // Of one profile: statistics that differ by less than the margin, the best of them last.
    if (!is_random) data(i, i % cols) *= 2.0F - 0.001F * static_cast<float>(i);
  }
  for (const float size : {0.82F, 0.86F, 0.9F, 0.94F, 0.98F}) {
    for (index_t k = 256; k < cols; ++k) data(0, k) = data(0, k) < 0 ? -size : size;
    CAPTURE(size);
    for (const auto order :
         {gpu::neighbor_order::by_absolute_value, gpu::neighbor_order::by_value}) {
      const gpu::top_k_sink sink{.k = 3, .order = order};
      const auto run = [&](gpu::pair_variant variant) {
        return gpu::all_pairs(gpu::measure::cosine, data.view(), cpu_options(variant), sink);
      };
      check_top_k(run(gpu::pair_variant::tiled), run(gpu::pair_variant::naive));
    }
  }
}

// Sorted rows: their largest ranks meet in the same columns, so that sums grow as fast as they can.
TEST_CASE("Sums of sorted rows stay in 32 bits as long as they are there", "[wide]") {
  for (const index_t cols : {1861, 4097, 8192, 8193}) {
    auto data = wide_table<float>(37, cols, static_cast<unsigned>(cols), 1000000);
    for (index_t k = 0; k < cols; ++k) {
      data(3, k) = static_cast<float>(k);
      data(17, k) = static_cast<float>(2 * k + 1);
      data(30, k) = static_cast<float>(-k);
    }
    check_table(gpu::measure::spearman, data);
  }
}

// Sums of all columns are beyond 2^53.
TEST_CASE("Statistics of rows of 400,001 ranks are exact", "[wide]") {
  const auto data = wide_table<float>(9, 400001, 11, 1000000);
  CHECK(gpu_test::same_bits(
      gpu::all_pairs(gpu::measure::spearman, data.view(), cpu_options(gpu::pair_variant::tiled)),
      gpu::all_pairs(gpu::measure::spearman, data.view(), cpu_options(gpu::pair_variant::naive))));
}
