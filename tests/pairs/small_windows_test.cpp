// Long rows under a limit that holds no window for the kernels: the CPU packs 16 rows or little
// more at a time, and every sink says the bytes that it says without a limit.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gpu/prepared_rows.hpp>
#include <gpu/similarity.hpp>

#include "support/catch.hpp"
#include "support/cpu_level.hpp"
#include "support/csr_cases.hpp"
#include "support/generators.hpp"
#include "support/layout_cases.hpp"
#include "support/least_workspace.hpp"

namespace {

using gpu::index_t;
using gpu::measure;

gpu::pair_options three_thread_options() {
  gpu::pair_options out;
  out.exec.target = gpu::backend::cpu;
  out.exec.cpu_threads = 3;
  return out;
}

// Columns whose packed rows are so long that windows may be small.
index_t long_cols(measure what, bool has_missing, std::mt19937_64& engine) {
  // By signs, or sorted.
  if (what == measure::kendall) return engine() % 4 == 0 ? 2200 : 900;
  if (has_missing) return static_cast<index_t>(3000 + engine() % 3000);
  // Ranks of 16 and of 32 bits.
  return static_cast<index_t>((engine() % 3 == 0 ? 33'000 : 14'000) + engine() % 3000);
}

// Which sinks a call takes, and whether its rows may be folded.
struct taken_sinks {
  bool discoveries = true;
  bool folding = true;
  bool connectivity = true;
};

// Says for every sink what it says without a limit: run(options, sink) is a call.
template <class Run>
void says_the_same(const Run& run, measure what, const taken_sinks& takes,
                   gpu::pair_options options, std::mt19937_64& engine) {
  const gpu::measure_info& info = gpu::info_of(what);
  const auto said = [&](const gpu::pair_options& how) {
    auto out = gpu_test::what_sinks_say([&](const auto& sink) { return run(how, sink); },
                                        takes.discoveries && info.test != gpu::significance::none);
    if (takes.folding && info.equals == gpu::equal_rows::folded) {
      gpu::pair_options folding = how;
      folding.fold = gpu::row_folding::always;
      const auto folded = run(folding, gpu::edge_sink{.keep = {.max_p = 0.2}});
      gpu_test::add_result(out.emplace_back("folded rows", "").second, folded);
    }
    if (takes.connectivity) {
      const auto sums = run(how, gpu::connectivity_sink{.powers = {1, 2.5, 6}});
      gpu_test::add_bytes(out.emplace_back("connectivity", "").second, sums.connectivity);
    }
    return out;
  };
  const auto wanted = said(options);
  // Of a part, dense results need the rows before it too.
  const std::size_t least = gpu_test::least_workspace(
      [&](const auto& how) { static_cast<void>(run(how, gpu::dense_sink{})); }, options);
  REQUIRE(least > 0);
  for (const std::size_t limit : {least, least + least * (engine() % 200) / 100}) {
    INFO("limit " << limit << " of at least " << least);
    options.exec.workspace_bytes = limit;
    CHECK(gpu_test::first_difference(said(options), wanted) == "");
  }
}

template <class T>
gpu::matrix<T> with_missing(gpu::matrix<T> rows, std::mt19937_64& engine) {
  for (index_t i = 0; i < rows.rows(); ++i) {
    for (index_t k = static_cast<index_t>(engine() % 50); k < rows.cols() && i % 3 != 0;) {
      rows(i, k) = std::numeric_limits<T>::quiet_NaN();
      k += static_cast<index_t>(1 + engine() % 90);
    }
  }
  return rows;
}

template <class T>
gpu::matrix<T> random_rows(index_t rows, index_t cols, std::mt19937_64& engine) {
  return gpu_test::mixed_rows<T>(rows, cols, engine());
}

}  // namespace

TEST_CASE("Small windows of one table give the bytes of all rows at once", "[windows]") {
  for (const measure what : gpu::all_measures()) {
    std::mt19937_64 engine(static_cast<std::uint64_t>(what) + 1);
    for (int trial = gpu_test::at_named_level() ? 1 : 0; trial < 2; ++trial) {
      const auto rows = static_cast<index_t>(17 + engine() % 40);
      const index_t cols = long_cols(what, false, engine);
      INFO(gpu::to_string(what) << " of " << rows << " x " << cols);
      gpu::pair_options options = three_thread_options();
      if (trial == 1) options.fold = gpu::row_folding::never;
      if (trial == 1 && engine() % 2 == 0) options.part = {.index = 1, .of = 3};
      const auto run = [&](const auto& table) {
        says_the_same([&](const gpu::pair_options& how,
                          const auto& sink) { return gpu::all_pairs(what, table, how, sink); },
                      what, {}, options, engine);
      };
      if (trial == 0) {
        run(random_rows<float>(rows, cols, engine));
      } else {
        run(random_rows<std::int16_t>(rows, cols, engine));
      }
    }
  }
}

TEST_CASE("Small windows of x against y give the bytes of all rows at once", "[windows]") {
  for (const measure what : gpu::all_measures()) {
    std::mt19937_64 engine(static_cast<std::uint64_t>(what) + 10);
    const index_t cols = long_cols(what, false, engine);
    for (const auto& [of_x, of_y] :
         std::vector<std::pair<index_t, index_t>>{{3, 4}, {1, 41}, {37, 2}, {19, 26}}) {
      if (gpu_test::at_named_level() && of_x > 3) continue;
      INFO(gpu::to_string(what) << ": " << of_x << " against " << of_y << " of " << cols);
      const auto x = random_rows<double>(of_x, cols, engine);
      const auto y = random_rows<std::uint8_t>(of_y, cols, engine);
      says_the_same([&](const gpu::pair_options& how,
                        const auto& sink) { return gpu::all_pairs(what, x, y, how, sink); },
                    what, {.connectivity = false}, three_thread_options(), engine);
    }
  }
}

TEST_CASE("Small windows of rows with missing values give the bytes of all rows at once",
          "[windows]") {
  for (const measure what : gpu::all_measures()) {
    std::mt19937_64 engine(static_cast<std::uint64_t>(what) + 20);
    const index_t cols = long_cols(what, true, engine);
    const auto rows = static_cast<index_t>(18 + engine() % 20);
    INFO(gpu::to_string(what) << " of " << rows << " x " << cols);
    const auto table = with_missing(random_rows<double>(rows, cols, engine), engine);
    gpu::pair_options options = three_thread_options();
    options.nans = gpu::nan_policy::pairwise;
    says_the_same([&](const gpu::pair_options& how,
                      const auto& sink) { return gpu::all_pairs(what, table, how, sink); },
                  what, {.discoveries = false, .folding = false}, options, engine);
  }
}

TEST_CASE("Small windows of tables that are gathered or prepared", "[windows]") {
  std::mt19937_64 engine(5);
  const auto table = gpu_test::thin_rows<float>(33, 17'000, 6);
  const gpu_test::in_csr<float> sparse(table);
  const gpu_test::in_columns<float> columns(table);
  for (const measure what : {measure::spearman, measure::pearson}) {
    INFO(gpu::to_string(what));
    const auto run = [&](const auto& view) {
      says_the_same([&](const gpu::pair_options& how,
                        const auto& sink) { return gpu::all_pairs(what, view, how, sink); },
                    what, {}, three_thread_options(), engine);
    };
    run(sparse.view());
    run(columns.view());
    const auto prepared = gpu::prepare_rows(what, table, three_thread_options());
    const auto x = random_rows<float>(20, 17'000, engine);
    says_the_same([&](const gpu::pair_options& how,
                      const auto& sink) { return gpu::all_pairs(what, x, prepared, how, sink); },
                  what, {.folding = false, .connectivity = false}, three_thread_options(), engine);
  }
}

TEST_CASE("Small windows give what the definition gives", "[windows]") {
  // Ranks and moments from the counts of few values.
  constexpr index_t rows = 40;
  constexpr index_t cols = 15'000;
  constexpr int values = 7;
  gpu::matrix<std::int32_t> data(rows, cols);
  std::mt19937_64 engine(9);
  for (index_t i = 0; i < rows; ++i) {
    for (index_t k = 0; k < cols; ++k) {
      const bool follows = i % 4 != 0 && engine() % 3 == 0;
      data(i, k) = follows ? data(i - 1, k) : static_cast<std::int32_t>(engine() % values);
    }
  }
  const auto rank_of = [&](index_t i) {
    std::vector<std::int64_t> count(values);
    for (index_t k = 0; k < cols; ++k) ++count[static_cast<std::size_t>(data(i, k))];
    std::vector<std::int64_t> u(values);
    std::int64_t below = 0;
    for (std::size_t v = 0; v < count.size(); ++v) {
      u[v] = 2 * below + count[v] - cols;
      below += count[v];
    }
    return u;
  };
  gpu::pair_options options = three_thread_options();
  const auto spearman = [&](const gpu::pair_options& how) {
    return gpu::spearman_all_pairs(data, how, gpu::edge_sink{.keep = {.max_p = 1.0}});
  };
  const auto pearson = [&](const gpu::pair_options& how) {
    return gpu::pearson_all_pairs(data, how, gpu::edge_sink{.keep = {.max_p = 1.0}});
  };
  options.exec.workspace_bytes = gpu_test::least_workspace(spearman, options);
  const auto rho = spearman(options).edges;
  options.exec.workspace_bytes = gpu_test::least_workspace(pearson, options);
  // Less than the rows take as doubles.
  CHECK(options.exec.workspace_bytes < rows * cols * sizeof(double));
  const auto r = pearson(options).edges;
  REQUIRE(rho.size() == rows * (rows - 1) / 2);
  REQUIRE(r.size() == rho.size());
  index_t wrong = 0;
  std::size_t at = 0;
  for (index_t i = 0; i < rows; ++i) {
    const auto of_i = rank_of(i);
    for (index_t j = i + 1; j < rows; ++j, ++at) {
      const auto of_j = rank_of(j);
      std::int64_t xy = 0;
      std::int64_t xx = 0;
      std::int64_t yy = 0;
      std::int64_t sums[5] = {};
      for (index_t k = 0; k < cols; ++k) {
        const std::int64_t x = data(i, k);
        const std::int64_t y = data(j, k);
        const std::int64_t u = of_i[static_cast<std::size_t>(x)];
        const std::int64_t v = of_j[static_cast<std::size_t>(y)];
        xy += u * v;
        xx += u * u;
        yy += v * v;
        sums[0] += x;
        sums[1] += y;
        sums[2] += x * x;
        sums[3] += y * y;
        sums[4] += x * y;
      }
      const double expected =
          static_cast<double>(xy) / std::sqrt(static_cast<double>(xx) * static_cast<double>(yy));
      wrong += rho[at].row != i || rho[at].col != j || rho[at].statistic != expected;
      const auto moment = [&](std::int64_t product, std::int64_t a, std::int64_t b) {
        return static_cast<long double>(cols * product - a * b);
      };
      const long double exact =
          moment(sums[4], sums[0], sums[1]) /
          std::sqrt(moment(sums[2], sums[0], sums[0]) * moment(sums[3], sums[1], sums[1]));
      wrong += r[at].row != i || r[at].col != j ||
               std::abs(static_cast<long double>(r[at].statistic) - exact) > 1e-12L;
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE("Fewer threads run where memory holds no more", "[windows]") {
  std::mt19937_64 engine(31);
  const auto table = random_rows<double>(30, 30'000, engine);
  gpu::pair_options one = three_thread_options();
  one.exec.cpu_threads = 1;
  gpu::pair_options many = three_thread_options();
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
