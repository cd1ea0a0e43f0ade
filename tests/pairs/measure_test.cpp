#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <gpu/all_pairs.hpp>
#include <gpu/connectivity.hpp>
#include <gpu/error.hpp>

#include "pairs/area.hpp"
#include "pairs/engine.hpp"
#include "pairs/measure_cases.hpp"

namespace {

using gpu::index_t;
using gpu::detail::measure_traits;
using gpu_test::const_view;
using gpu_test::statistic_table;

constexpr gpu_test::pair_target cpu{.where = gpu::backend::cpu};

template <class Table>
std::shared_ptr<const gpu::detail::prepared_table> prepared(const measure_traits& what,
                                                            const Table& table) {
  return gpu::cpu::prepare_table(
      {.what = what, .tables = {gpu::detail::read_elements(table)}, .exec = cpu.options().exec});
}

/// The sum of |statistic|^power of a row over all others, as the definition has it; NaN of a row
/// without a statistic.
long double reference_connectivity(const std::vector<double>& row, std::size_t own, double power) {
  if (std::isnan(row[own])) return std::nan("");
  long double sum = 0;
  for (std::size_t j = 0; j < row.size(); ++j) {
    if (j == own || std::isnan(row[j])) continue;
    sum += std::pow(std::fabs(static_cast<long double>(row[j])), static_cast<long double>(power));
  }
  return sum;
}

/// Row i of `table` is row first + i of the whole; `error` is that of a statistic.
void check_connectivity(const gpu::connectivity_table& got, const statistic_table& table,
                        index_t first, double error) {
  index_t wrong = 0;
  for (index_t i = 0; i < got.connectivity.rows(); ++i) {
    const auto row = static_cast<std::size_t>(first + i);
    for (std::size_t p = 0; p < got.powers.size(); ++p) {
      const double power = got.powers[p];
      const long double wanted = reference_connectivity(table[row], row, power);
      const double sum = got.connectivity(i, static_cast<index_t>(p));
      const auto terms = static_cast<double>(table.size());
      const double rounding = (terms / 8 + 2 * power + 8) * 0x1p-53;
      const double bound = rounding * static_cast<double>(wanted) + terms * power * error;
      const bool is_right = std::isnan(static_cast<double>(wanted))
                                ? std::isnan(sum)
                                : std::fabs(static_cast<double>(sum - wanted)) <= bound;
      wrong += !is_right;
    }
  }
  CHECK(wrong == 0);
}

template <class Toy, class Table>
void check_connectivity_of(const Table& data, double error) {
  const statistic_table table = Toy::oracle(const_view(data));
  const gpu::connectivity_sink sink{.powers = {1, 2, 6, 13}};
  const auto whole = Toy::run(data, cpu.options(), sink);
  REQUIRE(whole.connectivity.rows() == data.rows());
  check_connectivity(whole, table, 0, error);
  index_t next = 0;
  index_t different = 0;
  for (const index_t part : {0, 1, 2}) {
    gpu::pair_options options = cpu.options();
    options.part = {.index = part, .of = 3};
    const auto some = Toy::run(data, options, sink);
    REQUIRE(some.summary.part_begin == next);
    check_connectivity(some, table, next, error);
    for (index_t i = 0; i < some.connectivity.rows(); ++i, ++next) {
      different += !std::ranges::equal(some.connectivity.row(i), whole.connectivity.row(next),
                                       gpu_test::same_or_nan);
    }
  }
  CHECK(next == data.rows());
  CHECK(different == 0);
}

/// The plan of the engine names what the call then runs.
template <class Table>
void check_plan(const measure_traits& what, const Table& data) {
  const auto request =
      gpu_test::request_of(what, {gpu::detail::read_elements(data)}, cpu.options());
  const gpu::detail::engine_plan plan = gpu::cpu::plan_pair_engine(
      what, gpu::detail::input_of(request, gpu::detail::part_shape::equal_pairs));
  const auto edges = gpu::detail::run_all_pairs(request, gpu::edge_sink{});
  CHECK(plan.variant == edges.summary.variant);
  CHECK(plan.variant != gpu::pair_variant::automatic);
  CHECK(plan.device == edges.summary.device);
  CHECK(plan.tile_rows > 0);
  CHECK(plan.tile_cols > 0);
}

}  // namespace

TEST_CASE("Ranks of a descriptor alone have every sink", "[measure]") {
  gpu_test::rank_sinks_equal_the_oracle(cpu);
}

TEST_CASE("Ranks that fold have the edges of single rows", "[measure]") {
  gpu_test::folded_rows_have_the_edges(cpu);
}

TEST_CASE("Unit rows of a descriptor alone have every sink", "[measure]") {
  gpu_test::run_unit_cases(cpu);
}

TEST_CASE("Rows of a descriptor alone are prepared once for many queries", "[measure]") {
  for (const index_t cols : {3, 17, 130, 300}) {
    INFO(cols << " columns");
    const auto y = gpu_test::tied_matrix<float>(57, cols, 4);
    const auto ranks = prepared(gpu_test::plain_ranks, y);
    const auto units = prepared(gpu_test::tested_units, y);
    CHECK(ranks->what == gpu_test::plain_ranks.info.what);
    CHECK(units->rows == 57);
    for (const index_t rows : {1, 40}) {
      const auto x = gpu_test::tied_matrix<std::int32_t>(rows, cols, 3);
      const auto both = gpu_test::reference_stack(x, y);
      const auto query = [&](const measure_traits& what, const auto& of) {
        return [&](const auto& sink) {
          const gpu::detail::pair_tables tables{.x = gpu::detail::read_elements(x),
                                                .prepared_y = of};
          return gpu::detail::run_all_pairs(gpu_test::request_of(what, tables, cpu.options()),
                                            sink);
        };
      };
      const auto block =
          gpu_test::reference_block(gpu_test::rank_toy::oracle(const_view(both)), rows);
      const auto run = query(gpu_test::plain_ranks, ranks);
      gpu_test::check_rank_sinks(run, block, gpu_test::reference_rectangle_pairs(block), false);
      gpu_test::check_partners_of_ranks(run(gpu::top_k_sink{.k = 3}), block, 3);

      const auto cosines =
          gpu_test::reference_block(gpu_test::unit_toy::oracle(const_view(both)), rows);
      const auto of_units = query(gpu_test::tested_units, units);
      const gpu::matrix<double>& dense = of_units(gpu::dense_sink{});
      REQUIRE(dense.rows() == rows);
      REQUIRE(dense.cols() == 57);
      index_t wrong = 0;
      for (index_t i = 0; i < rows; ++i) {
        for (index_t j = 0; j < 57; ++j) {
          const double wanted = cosines[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)];
          wrong += std::isnan(wanted) ? !std::isnan(dense(i, j))
                                      : !gpu_test::unit_toy::same(dense(i, j), wanted);
        }
      }
      CHECK(wrong == 0);
      const gpu::edge_sink significant{.keep = {.max_p = 0.1}};
      CHECK(of_units(significant).edges ==
            gpu_test::unit_toy::against(x, y, cpu.options(), significant).edges);
      CHECK_THROWS_AS(query(gpu_test::tested_units, ranks)(significant), gpu::invalid_argument);
    }
  }
}

TEST_CASE("Rows of a descriptor alone have a connectivity, whole and in parts", "[measure]") {
  for (const index_t cols : {3, 30, 130}) {
    INFO(cols << " columns");
    check_connectivity_of<gpu_test::rank_toy>(gpu_test::tied_matrix<std::int32_t>(71, cols, 9), 0);
    check_connectivity_of<gpu_test::unit_toy>(gpu_test::random_matrix<float>(71, cols, 10), 4e-15);
  }
}

TEST_CASE("The plan of a descriptor alone is what its calls run", "[measure]") {
  for (const index_t cols : {3, 30, 300}) {
    INFO(cols << " columns");
    const auto data = gpu_test::tied_matrix<std::int32_t>(50, cols, 11);
    check_plan(gpu_test::plain_ranks, data);
    check_plan(gpu_test::folded_ranks, data);
    check_plan(gpu_test::tested_units, data);
  }
}

TEST_CASE("What a descriptor lacks is refused before any work", "[measure]") {
  gpu_test::what_is_not_described_is_refused(cpu);
}

TEST_CASE("Measures are found by their names", "[measure]") {
  for (const gpu::measure what : gpu::all_measures()) {
    CHECK(gpu::measure_of(gpu::to_string(what)) == what);
    CHECK(gpu::info_of(what).what == what);
    CHECK(gpu::info_of(what).least_cols >= 1);
  }
  for (const gpu::measure what : gpu::bit_measures()) {
    CHECK(gpu::measure_of(gpu::to_string(what)) == what);
    CHECK(gpu::info_of(what).what == what);
  }
  CHECK_THROWS_AS(gpu::measure_of("Spearman"), gpu::invalid_argument);
  std::string message;
  try {
    (void)gpu::info_of(gpu::measure{99});
  } catch (const gpu::invalid_argument& e) {
    message = e.what();
  }
  const std::size_t last = gpu::all_measures().size() + gpu::bit_measures().size() - 1;
  CHECK(message == "measure: got 99, expected 0 to " + std::to_string(last));
  CHECK(gpu::to_string(gpu::measure{99}) == "unknown");
  const auto data = gpu_test::tied_matrix<std::int32_t>(4, 9, 3);
  CHECK_THROWS_AS(gpu::all_pairs(gpu::measure{99}, data.view()), gpu::invalid_argument);
}
