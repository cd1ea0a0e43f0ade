// Every way of the CPU that a measurement forces gives the answers of the chosen one, bit for bit.

#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <gpu/all_pairs.hpp>
#include <gpu/error.hpp>

#include "cpu/pairs/loops/kernels.hpp"
#include "plan/forced/forced_ways.hpp"
#include "support/catch.hpp"

using gpu::index_t;
using gpu::cpu::can_take_rank_form;
using gpu::cpu::cpu_pair_way;
using gpu::cpu::cpu_row_form;
using gpu::detail::forced_cpu_ways;
using gpu::detail::ways_in_force;

namespace {

struct forcing {
  explicit forcing(const forced_cpu_ways& ways) { ways_in_force().cpu = ways; }
  ~forcing() { ways_in_force() = {}; }
  forcing(const forcing&) = delete;
  forcing& operator=(const forcing&) = delete;
};

// Half of a row is that of the row before, so that some pairs pass strict cuts.
gpu::matrix<float> rows_alike(index_t rows, index_t cols) {
  std::mt19937_64 random(7);
  std::normal_distribution<float> normal;
  gpu::matrix<float> out(rows, cols);
  for (index_t i = 0; i < rows; ++i) {
    for (index_t k = 0; k < cols; ++k) {
      const float before = i % 3 == 0 ? 0.0F : 2 * out(i - 1, k);
      out(i, k) = std::round(8 * (before + normal(random))) / 8;
    }
  }
  return out;
}

std::vector<forced_cpu_ways> all_ways(gpu::measure what, index_t cols) {
  std::vector<forced_cpu_ways> out;
  for (const cpu_pair_way way : {cpu_pair_way::screen, cpu_pair_way::search, cpu_pair_way::every}) {
    if (what == gpu::measure::pearson) {
      out.push_back({.way = way, .form = cpu_row_form::floats});
      out.push_back({.way = way, .form = cpu_row_form::wide});
      continue;
    }
    const bool has_int8_sums = gpu::cpu::usable_pair_kernels().int8.search != nullptr;
    for (const cpu_row_form form :
         {cpu_row_form::bytes, cpu_row_form::short_sums, cpu_row_form::wide}) {
      if (!can_take_rank_form(form, cols, has_int8_sums)) continue;
      out.push_back({.way = way, .form = form});
    }
  }
  return out;
}

}  // namespace

TEST_CASE("Every forced way gives the answers of the chosen one", "[forced_ways]") {
  const gpu::measure what = GENERATE(gpu::measure::spearman, gpu::measure::pearson);
  const index_t rows = GENERATE(2, 11, 150);
  const index_t cols = GENERATE(5, 60, 300, 1000, 9000);
  const double max_p = GENERATE(0.05, 1e-6);
  CAPTURE(rows, cols, max_p);
  const gpu::matrix<float> data = rows_alike(rows, cols);
  const gpu::pair_options options{.exec = {.target = gpu::backend::cpu}};
  const gpu::edge_sink edges{.keep = {.max_p = max_p}};
  const gpu::count_sink counts{.keep = {.max_p = max_p}, .histogram_bins = 16};
  const auto edges_chosen = gpu::all_pairs(what, data.view(), options, edges);
  const auto counts_chosen = gpu::all_pairs(what, data.view(), options, counts);
  const auto dense_chosen = gpu::all_pairs(what, data.view(), options, gpu::dense_sink{});
  int taken = 0;
  for (const forced_cpu_ways& ways : all_ways(what, cols)) {
    const forcing forced(ways);
    try {
      const auto edges_forced = gpu::all_pairs(what, data.view(), options, edges);
      const auto counts_forced = gpu::all_pairs(what, data.view(), options, counts);
      const auto dense_forced = gpu::all_pairs(what, data.view(), options, gpu::dense_sink{});
      CHECK(std::equal(edges_forced.edges.begin(), edges_forced.edges.end(),
                       edges_chosen.edges.begin(), edges_chosen.edges.end()));
      CHECK(counts_forced.degree == counts_chosen.degree);
      CHECK(counts_forced.histogram == counts_chosen.histogram);
      CHECK(std::equal(dense_forced.view().data(), dense_forced.view().data() + rows * rows,
                       dense_chosen.view().data(), [](double x, double y) {
                         return x == y || (std::isnan(x) && std::isnan(y));
                       }));
      ++taken;
    } catch (const gpu::unsupported&) {  // these rows have no such way
    }
  }
  CHECK(taken >= 2);  // to search, and to decide every pair
}
