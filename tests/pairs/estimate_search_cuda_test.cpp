// Best partners, edges and counts of long rows on CUDA from estimates: the CPU's, bit for bit,
// whatever is close to what. Tables are small, so that the way is forced.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <random>
#include <utility>
#include <vector>

#include <gpu/all_pairs.hpp>
#include <gpu/device_sinks.hpp>

#include "plan/forced/forced_ways.hpp"
#include "support/catch.hpp"
#include "support/correlated_rows.hpp"
#include "support/device_offers.hpp"
#include "support/device_table.hpp"

namespace {

using gpu::index_t;

// Products of halves, or tiles of floats.
class forcing_halves {
 public:
  explicit forcing_halves(bool halves = true) {
    auto& ways = gpu::detail::ways_in_force().cuda;
    ways.halves = halves;
    if (!halves) ways.products = false;
  }
  ~forcing_halves() {
    auto& ways = gpu::detail::ways_in_force().cuda;
    ways.halves.reset();
    ways.products.reset();
  }
  forcing_halves(const forcing_halves&) = delete;
  forcing_halves& operator=(const forcing_halves&) = delete;
};

struct job {
  gpu::measure what;
  gpu::matrix<float> x;
  const gpu::matrix<float>* y = nullptr;
  gpu::top_k_sink sink;
  gpu::pair_options options = {.nans = gpu::nan_policy::propagate};

  [[nodiscard]] gpu::neighbor_table on(gpu::backend where) const {
    gpu::pair_options own = options;
    own.exec.target = where;
    if (where == gpu::backend::cpu) own.exec.workspace_bytes = 0;
    return y == nullptr ? gpu::all_pairs(what, x, own, sink)
                        : gpu::all_pairs(what, x, *y, own, sink);
  }
};

bool same(double a, double b) {
  return a == b || (std::isnan(a) && std::isnan(b));
}

std::size_t differences(const gpu::neighbor_table& wanted, const std::uint32_t* index,
                        const double* statistic, const std::uint32_t* count) {
  std::size_t wrong = 0;
  const index_t entries = wanted.index.rows() * wanted.index.cols();
  for (index_t i = 0; i < entries; ++i) {
    wrong += index[i] != wanted.index.data()[i] || !same(statistic[i], wanted.statistic.data()[i]);
  }
  for (std::size_t i = 0; i < wanted.count.size(); ++i) wrong += count[i] != wanted.count[i];
  return wrong;
}

void check_host(const job& of) {
  const gpu::neighbor_table wanted = of.on(gpu::backend::cpu);
  const gpu::neighbor_table got = of.on(gpu::backend::cuda);
  CHECK(got.summary.checksum == wanted.summary.checksum);
  CHECK(differences(wanted, got.index.data(), got.statistic.data(), got.count.data()) == 0);
}

// Lists with a gap behind each row.
void check_device(const job& of) {
  const gpu::neighbor_table wanted = of.on(gpu::backend::cpu);
  const index_t rows = wanted.index.rows();
  const index_t gap = of.sink.k % 2 == 0 ? 3 : 0;
  const gpu_test::device_table<float> x(of.x, 5);
  const gpu_test::device_table<std::uint32_t> index(rows, of.sink.k, gap);
  const gpu_test::device_table<double> statistic(rows, of.sink.k, gap);
  const gpu_test::device_table<std::uint32_t> count(1, rows);
  gpu::pair_options own = of.options;
  own.exec.target = gpu::backend::cuda;
  const gpu::device_top_k_sink sink{.index = index.view(),
                                    .statistic = statistic.view(),
                                    .count = {count.view().data(), rows},
                                    .keep = of.sink.keep,
                                    .order = of.sink.order};
  if (of.y == nullptr) {
    gpu::all_pairs(of.what, x.view(), own, sink);
  } else {
    const gpu_test::device_table<float> y(*of.y);
    gpu::all_pairs(of.what, x.view(), y.view(), own, sink);
  }
  CHECK(differences(wanted, index.read().data(), statistic.read().data(), count.read().data()) ==
        0);
}

// Rows that repeat, that differ by less than an estimate's error, that are constant, or of NaN.
void disturb(gpu::matrix<float>& x, std::mt19937_64& random) {
  const auto row_from = [&](index_t least) {
    return least + static_cast<index_t>(random() % static_cast<std::uint64_t>(x.rows() - least));
  };
  for (int i = 0; i < 60; ++i) {
    const float* const from = &x(row_from(0), 0);
    float* const to = &x(row_from(0), 0);
    std::copy_n(from, x.cols(), to);
    if (i % 3 == 0) continue;
    to[random() % static_cast<std::uint64_t>(x.cols())] += i % 3 == 1 ? 1e-3F : 1e-5F;
  }
  std::fill_n(&x(row_from(0), 0), x.cols(), 2.5F);
  x(row_from(0), 3) = std::numeric_limits<float>::quiet_NaN();
}

// What a round of random cases is made of.
class draws {
 public:
  explicit draws(std::uint64_t seed) : random_(seed) {}

  template <class... Values>
  auto one_of(Values... values) {
    const std::array all{values...};
    return all[random_() % all.size()];
  }
  gpu::matrix<float> table(index_t rows, index_t cols) {
    auto out = gpu_test::correlated_matrix<float>({.rows = rows,
                                                   .cols = cols,
                                                   .pairs_in_blocks = one_of(0.001, 0.05, 0.5),
                                                   .levels = one_of(0, 0, 2, 12),
                                                   .seed = random_()});
    disturb(out, random_);
    return out;
  }

 private:
  std::mt19937_64 random_;
};

}  // namespace

TEST_CASE("Best partners from estimates on CUDA have the CPU's bits", "[estimates][cuda]") {
  draws random(23);
  const auto one_of = [&](auto... values) { return random.one_of(values...); };
  for (int round = 0; round < 64; ++round) {
    const forcing_halves forced(round % 4 != 2 && gpu_test::applies(gpu::pair_variant::hopper));
    const index_t rows = one_of(192, 257, 500, 900);
    const index_t cols = one_of(129, 200, 257, 1000, 2049);
    const auto make = [&](index_t rows_of_table) { return random.table(rows_of_table, cols); };
    const gpu::matrix<float> y = make(one_of(200, 650));
    const bool is_against = round % 4 == 3;
    job of{.what = one_of(gpu::measure::pearson, gpu::measure::spearman, gpu::measure::spearman,
                          gpu::measure::cosine, gpu::measure::bicor),
           .x = make(rows),
           .y = is_against ? &y : nullptr,
           .sink = {.k = one_of(1, 3, 10, 60, 128),
                    .order = one_of(gpu::neighbor_order::by_value,
                                    gpu::neighbor_order::by_absolute_value)}};
    if (round % 3 == 1) of.sink.keep.min_abs = one_of(0.05, 0.3, 0.9);
    if (round % 5 == 2) of.sink.keep.side = one_of(gpu::tail::greater, gpu::tail::less);
    INFO("round " << round << ": " << of.x.rows() << (is_against ? " against others" : "") << " x "
                  << cols << ", k " << of.sink.k << ", measure " << static_cast<int>(of.what)
                  << ", least " << of.sink.keep.min_abs << ", tail "
                  << static_cast<int>(of.sink.keep.side) << ", order "
                  << static_cast<int>(of.sink.order));
    check_device(of);
    if (round % 6 == 0) of.options.part = {.index = 1, .of = 3};
    if (round % 7 == 0) of.options.exec.workspace_bytes = std::size_t{64} << 20;
    check_host(of);
  }
}

TEST_CASE("Best partners from estimates on CUDA, of ranks of three limbs", "[estimates][cuda]") {
  job of{.what = gpu::measure::spearman,
         .x = gpu_test::correlated_matrix<float>(
             {.rows = 130, .cols = 16'500, .pairs_in_blocks = 0.3, .levels = 0, .seed = 6}),
         .sink = {.k = 7}};
  check_host(of);
  check_device(of);
  of.sink.keep.max_p = 1e-3;
  check_device(of);
}

// Lists that are worth the search, and such that are not, for which statistics are written.
TEST_CASE("Best partners of ranks on CUDA, in whichever way is chosen", "[estimates][cuda]") {
  bool& of_process = gpu::detail::ways_in_force().cuda.never_short;
  const bool before = std::exchange(of_process, false);
  for (const index_t k : {1, 60}) {
    job of{.what = gpu::measure::spearman,
           .x = gpu_test::correlated_matrix<float>(
               {.rows = 600, .cols = 1100, .pairs_in_blocks = 0.05, .levels = 12, .seed = 7}),
           .sink = {.k = k, .order = gpu::neighbor_order::by_absolute_value}};
    check_host(of);
    check_device(of);
  }
  of_process = before;
}

TEST_CASE("Best partners from estimates on CUDA, of rows that are all alike", "[estimates][cuda]") {
  if (!gpu_test::applies(gpu::pair_variant::hopper)) return;
  const forcing_halves forced;
  for (const gpu::measure what : {gpu::measure::pearson, gpu::measure::spearman}) {
    job of{.what = what,
           .x = gpu_test::correlated_matrix<float>(
               {.rows = 400, .cols = 300, .pairs_in_blocks = 0.5, .levels = 0, .seed = 5}),
           .sink = {.k = 10}};
    for (index_t i = 1; i < of.x.rows(); ++i) {
      for (index_t k = 0; k < of.x.cols(); ++k) {
        of.x(i, k) = of.x(0, k) + (k == i % 7 ? 1e-4F : 0.0F) * static_cast<float>(i % 5);
      }
    }
    check_host(of);
    check_device(of);
  }
}

namespace {

// Of the statistics of the pairs of x, descending.
std::vector<double> magnitudes(const job& of) {
  gpu::pair_options options = of.options;
  options.exec.target = gpu::backend::cpu;
  options.part = {};
  const auto all = gpu::all_pairs(of.what, of.x, options, gpu::dense_sink{});
  std::vector<double> out;
  for (index_t i = 0; i < of.x.rows(); ++i) {
    for (index_t j = i + 1; j < of.x.rows(); ++j) {
      if (!std::isnan(all(i, j))) out.push_back(std::abs(all(i, j)));
    }
  }
  std::sort(out.begin(), out.end(), std::greater<>());
  return out;
}

// Edges and counts of a cut on both backends.
void check_cut(const job& of, const gpu::pair_filter& keep) {
  const auto on = [&](gpu::backend where, const auto& sink) {
    gpu::pair_options own = of.options;
    own.exec.target = where;
    return of.y == nullptr ? gpu::all_pairs(of.what, of.x, own, sink)
                           : gpu::all_pairs(of.what, of.x, *of.y, own, sink);
  };
  const auto counts = on(gpu::backend::cuda, gpu::count_sink{.keep = keep});
  const auto wanted = on(gpu::backend::cpu, gpu::count_sink{.keep = keep});
  CHECK(counts.kept == wanted.kept);
  CHECK(counts.degree == wanted.degree);
  CHECK(counts.y_degree == wanted.y_degree);
  CHECK(on(gpu::backend::cuda, gpu::edge_sink{.keep = keep}).summary.checksum ==
        on(gpu::backend::cpu, gpu::edge_sink{.keep = keep}).summary.checksum);
}

}  // namespace

TEST_CASE("Edges and counts from estimates on CUDA have the CPU's bits", "[estimates][cuda]") {
  if (!gpu_test::applies(gpu::pair_variant::hopper)) return;
  const forcing_halves forced;
  draws random(29);
  const auto one_of = [&](auto... values) { return random.one_of(values...); };
  for (int round = 0; round < 24; ++round) {
    const index_t cols = one_of(129, 257, 1000, 2049);
    const auto make = [&](index_t rows_of_table) { return random.table(rows_of_table, cols); };
    const gpu::matrix<float> y = make(one_of(200, 650));
    job of{.what = one_of(gpu::measure::pearson, gpu::measure::cosine, gpu::measure::bicor),
           .x = make(one_of(192, 257, 900)),
           .y = round % 4 == 3 ? &y : nullptr,
           .sink = {}};
    if (round % 6 == 0) of.options.part = {.index = 1, .of = 3};
    // Cuts are statistics of pairs: of which many, or few, are kept.
    const std::vector<double> sizes = magnitudes(of);
    if (sizes.empty()) continue;
    for (const std::size_t part : {std::size_t{2}, std::size_t{1024}}) {
      const double at = sizes[sizes.size() / part];
      INFO("round " << round << ": " << of.x.rows() << " x " << cols << ", measure "
                    << static_cast<int>(of.what) << ", cut " << at);
      check_cut(of, {.min_abs = at});
      check_cut(of, {.min_abs = std::nextafter(at, 2.0), .side = gpu::tail::greater});
    }
  }
}

// More pairs than the queue holds are as near to the cut as an estimate's error.
TEST_CASE("Edges and counts from estimates on CUDA, where these decide hardly any pair",
          "[estimates][cuda]") {
  if (!gpu_test::applies(gpu::pair_variant::hopper)) return;
  const forcing_halves forced;
  job of{.what = gpu::measure::pearson,
         .x = gpu_test::correlated_matrix<float>(
             {.rows = 600, .cols = 300, .pairs_in_blocks = 0.5, .levels = 0, .seed = 8}),
         .sink = {}};
  for (index_t i = 1; i < of.x.rows(); ++i) {
    for (index_t k = 0; k < of.x.cols(); ++k) {
      of.x(i, k) = of.x(0, k) + (k == i % 7 ? 1e-2F : 0.0F) * static_cast<float>(i % 5);
    }
  }
  check_cut(of, {.min_abs = 0.9999995});
}
