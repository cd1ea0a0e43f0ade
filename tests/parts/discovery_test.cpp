// Benjamini and Hochberg's cut from counts of parts: that of the whole call, and of the textbook.
#include <gpu/all_pairs.hpp>
#include <gpu/discovery.hpp>
#include <gpu/error.hpp>

#include <algorithm>
#include <random>
#include <vector>

#include "support/catch.hpp"

namespace {

constexpr gpu::index_t rows = 180;
constexpr gpu::index_t cols = 14;

/// Groups of rows that move together, with ties, and two constant rows.
gpu::matrix<int> some_rows() {
  std::mt19937 random(5);  // NOLINT: the same rows on every run
  gpu::matrix<int> out(rows, cols);
  std::vector<int> factor(cols);
  for (gpu::index_t i = 0; i < rows; ++i) {
    if (i % 30 == 0) {
      for (int& f : factor) f = static_cast<int>(random() % 20);
    }
    for (gpu::index_t j = 0; j < cols; ++j) {
      const bool is_constant = i == 3 || i == 99;
      out(i, j) = is_constant ? 1
                              : factor[static_cast<std::size_t>(j)] +
                                    static_cast<int>(random() % static_cast<unsigned>(2 + i % 30));
    }
  }
  return out;
}

template <class Count>
gpu::discovery_search search_by_parts(const gpu::pair_filter& keep, gpu::index_t of,
                                      const Count& count) {
  std::optional<gpu::discovery_search> search;
  do {
    gpu::discovery_counts sum;
    for (gpu::index_t part = of - 1; part >= 0; --part) {  // in any order
      gpu::pair_options options;
      options.part = {.index = part, .of = of};
      gpu::discovery_counts counts =
          count(options, gpu::discovery_sink{.keep = keep, .search = search});
      if (part == of - 1) {
        sum = std::move(counts);
      } else {
        sum += counts;
      }
    }
    search = gpu::next_search(sum);
  } while (!search->is_decided());
  return *search;
}

}  // namespace

TEST_CASE("Parts find the cut of the whole call, the same double", "[discovery]") {
  const gpu::matrix<int> x = some_rows();
  for (const gpu::tail side : {gpu::tail::two_sided, gpu::tail::greater, gpu::tail::less}) {
    for (const double max_p : {0.2, 0.05, 1e-6, 1e-30}) {
      const gpu::pair_filter keep{
          .max_p = max_p, .side = side, .adjust = gpu::adjustment::benjamini_hochberg};
      const auto whole = gpu::spearman_all_pairs(x, gpu::edge_sink{.keep = keep});
      const auto whole_r = gpu::pearson_all_pairs(x, gpu::count_sink{.keep = keep});
      for (const gpu::index_t of : {1, 2, 7}) {
        INFO(max_p << " of " << of);
        const auto found = search_by_parts(keep, of, [&](const auto& options, const auto& sink) {
          return gpu::spearman_all_pairs(x, options, sink);
        });
        CHECK(found.max_p_effective() == whole.summary.max_p_effective);
        const gpu::pair_filter pinned{.max_p = found.max_p_effective(), .side = side};
        const auto again = gpu::spearman_all_pairs(x, gpu::edge_sink{.keep = pinned});
        CHECK(again.edges.size() == whole.edges.size());
        CHECK(std::equal(again.edges.begin(), again.edges.end(), whole.edges.begin(),
                         whole.edges.end()));
        const auto found_r = search_by_parts(keep, of, [&](const auto& options, const auto& sink) {
          return gpu::pearson_all_pairs(x, options, sink);
        });
        CHECK(found_r.max_p_effective() == whole_r.summary.max_p_effective);
      }
    }
  }
}

TEST_CASE("The discoveries are those of the textbook", "[discovery]") {
  const gpu::matrix<int> x = some_rows();
  constexpr double max_p = 0.05;
  const auto all = gpu::spearman_all_pairs(x, gpu::edge_sink{});
  std::vector<double> p;
  for (const gpu::edge& e : all.edges) p.push_back(e.p);
  std::sort(p.begin(), p.end());
  std::size_t discoveries = 0;
  for (std::size_t k = 1; k <= p.size(); ++k) {
    if (p[k - 1] <= max_p * static_cast<double>(k) / static_cast<double>(p.size())) discoveries = k;
  }
  const auto found =
      search_by_parts({.max_p = max_p}, 5, [&](const auto& options, const auto& sink) {
        return gpu::spearman_all_pairs(x, options, sink);
      });
  CHECK(found.family == p.size());
  CHECK(found.most == discoveries);
  CHECK(discoveries > 0);
}

TEST_CASE("Counts that do not belong together are refused", "[discovery]") {
  const gpu::matrix<int> x = some_rows();
  gpu::pair_options first;
  first.part = {.index = 0, .of = 2};
  const gpu::discovery_sink sink{.keep = {.max_p = 0.05}};
  gpu::discovery_counts counts = gpu::spearman_all_pairs(x, first, sink);
  CHECK_THROWS_AS(gpu::next_search(counts), gpu::invalid_argument);
  const auto other =
      gpu::spearman_all_pairs(x, first, gpu::discovery_sink{.keep = {.max_p = 0.01}});
  CHECK_THROWS_AS(counts += other, gpu::invalid_argument);
  CHECK_THROWS_AS(
      gpu::spearman_all_pairs(
          x, first, gpu::discovery_sink{.keep = {.max_p = 0.01}, .search = counts.search}),
      gpu::invalid_argument);
  // Without a test there is nothing to discover.
  gpu::matrix<int> constant(3, 5);
  std::fill(constant.data(), constant.data() + 15, 1);
  const auto none = gpu::spearman_all_pairs(constant, sink);
  CHECK(none.search.is_decided());
  CHECK(gpu::next_search(none).max_p_effective() == 0.05);
}
