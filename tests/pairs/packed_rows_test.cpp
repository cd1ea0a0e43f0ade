// The CPU's packed rows take another way while a job runs: what the sample missed the first tiles
// show, and what was found stays.

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <set>
#include <utility>

#include <gpu/all_pairs.hpp>

#include "cpu/pairs/choice/policy.hpp"
#include "cpu/pairs/loops/kernels.hpp"
#include "cpu/pairs/rows/pair_rows.hpp"
#include "support/catch.hpp"
#include "support/correlated_rows.hpp"

namespace {

using gpu::index_t;
using gpu::cpu::pair_rows;
using gpu::cpu::pair_search;
using row_pairs = std::set<std::pair<index_t, index_t>>;
namespace policy = gpu::cpu::pair_policy;

constexpr gpu::detail::keep_range strict{.at_least = 0.9, .at_most = -0.9};

// Independent rows, of which none reaches the cut, behind `alike` rows that all do.
gpu::matrix<float> rows_behind_some_alike(index_t rows, index_t alike) {
  gpu::matrix<float> out = gpu_test::correlated_matrix<float>(
      {.rows = rows, .cols = 57, .pairs_in_blocks = 1e-9, .block_variance = 0});
  for (index_t i = 1; i < alike; ++i) {
    for (index_t k = 0; k < out.cols(); ++k) {
      out(i, k) = out(0, k) + 0.01F * static_cast<float>((i * 31 + k * 17) % 7);
    }
  }
  return out;
}

std::unique_ptr<pair_rows> pack(const gpu::matrix<float>& rows) {
  return gpu::cpu::prepare_unit_rows({.x = rows.view()},
                                     {.what = gpu::detail::pearson_traits,
                                      .variant = gpu::pair_variant::tiled,
                                      .in_windows = false,
                                      .looks_for_patterns = false,
                                      .most_pattern_share = 0,
                                      .refuses_nan = true,
                                      .selection = {.sections = {{0, rows.rows()}}},
                                      .group = gpu::cpu::row_layout{}.group,
                                      .threads = 2,
                                      .piece_rows = 64})
      .rows;
}

void add_matches(pair_search& search, index_t rows, index_t begin, index_t end, row_pairs& out) {
  gpu::cpu::hit_buffer hits;
  for (index_t i = begin; i < end; i += policy::task_rows) {
    search.matches({i, std::min(i + policy::task_rows, end), i, rows}, search.scratch(0), hits);
  }
  const std::size_t before = out.size();
  for (const gpu::cpu::pair_hit& hit : hits.hits()) out.emplace(hit.row, hit.col);
  CHECK(out.size() == before + hits.hits().size());  // none twice
}

gpu::cpu::pair_task matches_of(const gpu::detail::keep_range& keep) {
  return {.wanted = gpu::cpu::pair_task::output::matches, .keep = keep};
}

bool is_screened(const pair_search& search) {
  return search.explain().starts_with("screened");
}

}  // namespace

TEST_CASE("A screen that the first rows prove wrong is left, and what it found stays",
          "[pairs][cpu]") {
  int left = 0;
  for (const index_t alike : {2, 100, 250, 300, 400, 500, 800}) {
    CAPTURE(alike);
    const gpu::matrix<float> values = rows_behind_some_alike(3000, alike);
    const std::unique_ptr<pair_rows> rows = pack(values);
    const std::unique_ptr<pair_search> search = rows->search(matches_of(strict), 2, nullptr);
    const bool was_screened = is_screened(*search);
    row_pairs found;
    add_matches(*search, rows->size(), 0, policy::first_panel_rows, found);
    search->reconsider();
    if (was_screened && !is_screened(*search)) ++left;
    if (alike == 2) CHECK(is_screened(*search) == was_screened);
    add_matches(*search, rows->size(), policy::first_panel_rows, rows->size(), found);
    row_pairs expected;
    for (index_t i = 0; i < alike; ++i) {
      for (index_t j = i + 1; j < alike; ++j) expected.emplace(i, j);
    }
    CHECK(found == expected);
  }
  if (gpu::cpu::usable_pair_kernels().screen.search != nullptr) CHECK(left > 0);
}

TEST_CASE("So few pairs that no search pays are decided without a sample", "[pairs][cpu]") {
  for (const index_t count : {2, 11, 100}) {  // 1, 55 and 4950 pairs
    CAPTURE(count);
    const gpu::matrix<float> values = rows_behind_some_alike(count, 2);
    const std::unique_ptr<pair_rows> rows = pack(values);
    const std::unique_ptr<pair_search> search = rows->search(matches_of(strict), 2, nullptr);
    const bool has_sample = search->explain().find(" of 64 sampled;") != std::string::npos;
    CHECK(has_sample == (count == 100));
    row_pairs found;
    add_matches(*search, rows->size(), 0, rows->size(), found);
    CHECK(found == row_pairs{{0, 1}});
  }
}

TEST_CASE(
    "Searches of the same rows know nothing of each other, and one goes on where another ends",
    "[pairs][cpu]") {
  constexpr gpu::detail::keep_range loose{.at_least = 0.1, .at_most = -0.1};
  using output = gpu::cpu::pair_task::output;
  const gpu::matrix<float> values = rows_behind_some_alike(600, 40);
  const std::unique_ptr<pair_rows> rows = pack(values);
  const auto found_by = [&](pair_search& search) {
    row_pairs out;
    add_matches(search, rows->size(), 0, rows->size(), out);
    return out;
  };
  std::unique_ptr<pair_search> strict_search = rows->search(matches_of(strict), 2, nullptr);
  const row_pairs strict_pairs = found_by(*strict_search);
  CHECK(strict_pairs.size() == 40 * 39 / 2);
  const std::unique_ptr<pair_search> loose_search = rows->search(matches_of(loose), 2, nullptr);
  const row_pairs loose_pairs = found_by(*loose_search);
  CHECK(loose_pairs.size() > strict_pairs.size());
  CHECK(found_by(*strict_search) == strict_pairs);
  CHECK(found_by(*loose_search) == loose_pairs);

  // Through every task and back, each with what the one before has packed.
  std::unique_ptr<pair_search> next = std::move(strict_search);
  for (const output wanted : {output::statistics, output::above, output::counts}) {
    next = rows->search({.wanted = wanted, .keep = loose}, 2, std::move(next));
  }
  next = rows->search(matches_of(loose), 2, std::move(next));
  CHECK(next->explain() == loose_search->explain());
  CHECK(found_by(*next) == loose_pairs);
  next = rows->search(matches_of(strict), 2, std::move(next));
  CHECK(found_by(*next) == strict_pairs);
}

// Nothing is packed for such a cut, whether the pairs are enough for a sample or not.
TEST_CASE("A cut that no statistic reaches keeps nothing of any number of rows", "[pairs][cpu]") {
  const gpu::index_t cols = GENERATE(4, 57, 200, 600, 9000);
  for (const index_t count : {2, 11, 12, 40}) {
    CAPTURE(cols, count);
    const gpu::matrix<float> values = gpu_test::correlated_matrix<float>(
        {.rows = count, .cols = cols, .pairs_in_blocks = 1e-9, .block_variance = 0});
    for (const gpu::measure what : gpu::all_measures()) {
      for (const gpu::tail side : {gpu::tail::two_sided, gpu::tail::greater, gpu::tail::less}) {
        const gpu::pair_filter none{.min_abs = std::numeric_limits<double>::infinity(),
                                    .side = side};
        const gpu::pair_options options{.exec = {.target = gpu::backend::cpu}};
        const auto run = [&](const auto& sink) {
          return gpu::all_pairs(what, values.view(), options, sink);
        };
        CHECK(run(gpu::edge_sink{.keep = none}).edges.empty());
        CHECK(run(gpu::count_sink{.keep = none}).kept == 0);
        CHECK(run(gpu::count_sink{.keep = none, .histogram_bins = 5}).kept == 0);
        CHECK(run(gpu::top_k_sink{.k = 2, .keep = none}).count[0] == 0);
        CHECK(gpu::all_pairs(what, values.view(), values.view(), options,
                             gpu::edge_sink{.keep = none})
                  .edges.empty());
      }
    }
  }
}

// The least p of a permutation of four columns is 1 / 12.
TEST_CASE("A cut below the least exact p keeps nothing", "[pairs][cpu]") {
  for (const index_t count : {2, 8, 30}) {
    const gpu::matrix<float> values = gpu_test::correlated_matrix<float>(
        {.rows = count, .cols = 4, .pairs_in_blocks = 1e-9, .block_variance = 0});
    const gpu::pair_options options{.p_method = gpu::p_method::exact,
                                    .exec = {.target = gpu::backend::cpu}};
    const gpu::edge_sink strict_p{.keep = {.max_p = 0.05}};
    CHECK(gpu::all_pairs(gpu::measure::spearman, values.view(), options, strict_p).edges.empty());
  }
}
