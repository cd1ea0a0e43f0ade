// Differential correlation in parts: together they are the whole, bit for bit.
#include <gpu/differential.hpp>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gpu/all_pairs.hpp>
#include <gpu/discovery.hpp>
#include <gpu/error.hpp>

#include "differential/differences.hpp"
#include "support/catch.hpp"
#include "support/generators.hpp"
#include "support/refusals.hpp"

namespace {

using namespace gpu_test::differences;

// Rows that move together, some of them again under another number, constant ones, and NaN.
gpu::matrix<double> mixed_rows(gpu::index_t rows, gpu::index_t cols, std::mt19937_64& random) {
  auto data = make_rows<double>(rows, cols, random());
  for (gpu::index_t i = 1; i < rows; ++i) {
    const std::uint64_t kind = random() % 10;
    const auto other = static_cast<gpu::index_t>(random() % static_cast<std::uint64_t>(i));
    for (gpu::index_t k = 0; k < cols; ++k) {
      if (kind == 0) data(i, k) = data(other, k);
      if (kind == 1) data(i, k) = k % 3 == 0 ? 5 : data(i, k);
    }
    if (kind == 2) {
      data(i, static_cast<gpu::index_t>(random() % static_cast<std::uint64_t>(cols))) = nan_value;
    }
  }
  return data;
}

// One call, and the part of it.
struct job {
  gpu::measure what;
  gpu::matrix<double> data;
  groups of;
  gpu::differential_filter keep;
  gpu::pair_options options = {.nans = gpu::nan_policy::propagate,
                               .exec = {.target = gpu::backend::cpu}};

  template <class Sink>
  [[nodiscard]] auto part(gpu::index_t index, gpu::index_t of_parts, const Sink& sink) const {
    gpu::pair_options own = options;
    own.part = {.index = index, .of = of_parts};
    return gpu::differential_pairs(what, data, of.view(), own, sink);
  }
  template <class Sink>
  [[nodiscard]] auto whole(const Sink& sink) const {
    return gpu::differential_pairs(what, data, of.view(), options, sink);
  }
};

// By the definition: every value of a group is there, and they are not all equal.
std::vector<bool> have_statistic(const job& of) {
  std::vector<bool> out(static_cast<std::size_t>(of.data.rows()), true);
  for (gpu::index_t i = 0; i < of.data.rows(); ++i) {
    for (const auto* group : {&of.of.first, &of.of.second}) {
      bool is_constant = true;
      bool has_nan = false;
      for (const gpu::index_t k : *group) {
        has_nan |= std::isnan(of.data(i, k));
        is_constant &= of.data(i, k) == of.data(i, group->front());
      }
      if (is_constant || has_nan) out[static_cast<std::size_t>(i)] = false;
    }
  }
  return out;
}

// Pairs of a row in [begin, end) with a later one.
std::uint64_t tests_of(const std::vector<bool>& there, gpu::index_t begin, gpu::index_t end) {
  std::uint64_t out = 0;
  for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
    for (std::size_t j = i + 1; j < there.size(); ++j) {
      if (there[i] && there[j]) ++out;
    }
  }
  return out;
}

// That the parts follow on each other, that they are of one job, and what they say adds up.
class part_sums {
 public:
  explicit part_sums(const job& of) : there_(have_statistic(of)) {}
  void add(const gpu::differential_summary& s, const gpu::differential_summary& whole) {
    CHECK(s.part_begin == next_);
    CHECK(s.part_end >= s.part_begin);
    next_ = s.part_end;
    CHECK(s.pairs_tested == tests_of(there_, s.part_begin, s.part_end));
    tested_ += s.pairs_tested;
    kept_ += s.pairs_kept;
    CHECK(s.rows == whole.rows);
    CHECK(s.constant_rows == whole.constant_rows);
    CHECK(s.nan_rows == whole.nan_rows);
    CHECK(s.max_p_effective == whole.max_p_effective);
    CHECK(s.min_abs_z_effective == whole.min_abs_z_effective);
  }
  void check(const gpu::differential_summary& whole) const {
    CHECK(whole.part_begin == 0);
    CHECK(whole.part_end == whole.rows);
    CHECK(next_ == whole.rows);
    CHECK(tested_ == whole.pairs_tested);
    CHECK(kept_ == whole.pairs_kept);
  }

 private:
  std::vector<bool> there_;
  gpu::index_t next_ = 0;
  std::uint64_t tested_ = 0;
  std::uint64_t kept_ = 0;
};

std::uint64_t bits(double value) {
  return std::bit_cast<std::uint64_t>(value);
}

bool same_bits(const gpu::differential_edge& a, const gpu::differential_edge& b) {
  return a.row == b.row && a.col == b.col && bits(a.first) == bits(b.first) &&
         bits(a.second) == bits(b.second) && bits(a.z) == bits(b.z) && bits(a.p) == bits(b.p);
}

void check_edges(const job& of, gpu::index_t parts) {
  const gpu::differential_edge_sink sink{.keep = of.keep};
  const auto whole = of.whole(sink);
  part_sums sums(of);
  std::vector<gpu::differential_edge> all;
  for (gpu::index_t k = 0; k < parts; ++k) {
    const auto found = of.part(k, parts, sink);
    sums.add(found.summary, whole.summary);
    CHECK(found.summary.pairs_kept == found.edges.size());
    CHECK(std::all_of(found.edges.begin(), found.edges.end(), [&](const auto& e) {
      return found.summary.part_begin <= e.row && e.row < found.summary.part_end;
    }));
    all.insert(all.end(), found.edges.begin(), found.edges.end());
  }
  sums.check(whole.summary);
  REQUIRE(all.size() == whole.edges.size());
  CHECK(std::equal(all.begin(), all.end(), whole.edges.begin(), same_bits));
}

void check_counts(const job& of, gpu::index_t parts) {
  const gpu::differential_count_sink sink{of.keep};
  const auto whole = of.whole(sink);
  part_sums sums(of);
  std::vector<std::uint32_t> degree(static_cast<std::size_t>(of.data.rows()));
  for (gpu::index_t k = 0; k < parts; ++k) {
    const auto found = of.part(k, parts, sink);
    sums.add(found.summary, whole.summary);
    REQUIRE(found.degree.size() == degree.size());
    for (std::size_t i = 0; i < degree.size(); ++i) degree[i] += found.degree[i];
  }
  sums.check(whole.summary);
  CHECK(degree == whole.degree);
}

void check_partners(const job& of, gpu::index_t parts, gpu::index_t k) {
  const gpu::differential_top_k_sink sink{.k = k, .keep = of.keep};
  const auto whole = of.whole(sink);
  part_sums sums(of);
  for (gpu::index_t number = 0; number < parts; ++number) {
    const auto found = of.part(number, parts, sink);
    sums.add(found.summary, whole.summary);
    const gpu::index_t begin = found.summary.part_begin;
    REQUIRE(found.index.rows() == found.summary.part_end - begin);
    REQUIRE(found.count.size() == static_cast<std::size_t>(found.index.rows()));
    bool are_same = true;
    for (gpu::index_t i = 0; i < found.index.rows(); ++i) {
      are_same &= found.count[static_cast<std::size_t>(i)] ==
                  whole.count[static_cast<std::size_t>(begin + i)];
      for (gpu::index_t e = 0; e < k; ++e) {
        are_same &= found.index(i, e) == whole.index(begin + i, e);
        for (const auto& [own, of_whole] :
             {std::pair(&found.first, &whole.first), std::pair(&found.second, &whole.second),
              std::pair(&found.z, &whole.z), std::pair(&found.p, &whole.p)}) {
          are_same &= bits((*own)(i, e)) == bits((*of_whole)(begin + i, e));
        }
      }
    }
    CHECK(are_same);
  }
  sums.check(whole.summary);
}

// Benjamini and Hochberg's cut, counted by parts.
void check_discoveries(const job& of, gpu::index_t parts) {
  gpu::differential_filter keep = of.keep;
  keep.adjust = gpu::adjustment::benjamini_hochberg;
  const auto whole = of.whole(gpu::differential_edge_sink{.keep = keep});
  gpu::discovery_sink sink{.keep = {.max_p = of.keep.max_p, .side = of.keep.side}};
  for (int passes = 0; !sink.search || !sink.search->is_decided(); ++passes) {
    REQUIRE(passes < 4);
    gpu::discovery_counts sum = of.part(0, parts, sink);
    for (gpu::index_t k = 1; k < parts; ++k) sum += of.part(k, parts, sink);
    sink.search = gpu::next_search(sum);
  }
  CHECK(sink.search->max_p_effective() == whole.summary.max_p_effective);
  CHECK(sink.search->family == whole.summary.pairs_tested);
  keep.adjust = gpu::adjustment::none;
  keep.max_p = sink.search->max_p_effective();
  std::vector<gpu::differential_edge> all;
  for (gpu::index_t k = 0; k < parts; ++k) {
    const auto found = of.part(k, parts, gpu::differential_edge_sink{.keep = keep});
    all.insert(all.end(), found.edges.begin(), found.edges.end());
  }
  CHECK(all == whole.edges);
}

}  // namespace

TEST_CASE("parts of differential correlation are the whole", "[differential][parts]") {
  std::mt19937_64 random(20);
  std::uint64_t kept = 0;
  for (int trial = 0; trial < 240; ++trial) {
    const auto rows = static_cast<gpu::index_t>(trial % 4 == 0 ? random() % 6 : random() % 90);
    const auto cols = static_cast<gpu::index_t>(12 + random() % 40);
    const auto parts = static_cast<gpu::index_t>(2 + random() % 15);
    const std::uint64_t cut = random();
    job of{.what = measures[random() % 2],
           .data = mixed_rows(rows, cols, random),
           .of = some_groups(cols),
           .keep = {.max_p = cut % 3 == 0 ? 1.0 : 0.3,
                    .min_abs_z = cut % 5 == 0 ? 0.7 : 0.0,
                    .side = sides[random() % 3],
                    .adjust = cut % 7 == 0 ? gpu::adjustment::bonferroni : gpu::adjustment::none}};
    of.options.exec.cpu_threads = trial % 8 == 0 ? 3 : 1;
    INFO("trial " << trial << ": " << gpu::to_string(of.what) << ", " << rows << " x " << cols
                  << ", " << parts << " parts, tail " << static_cast<int>(of.keep.side));
    check_edges(of, parts);
    check_counts(of, parts);
    check_partners(of, parts, static_cast<gpu::index_t>(1 + random() % 8));
    if (of.keep.min_abs_z == 0) check_discoveries(of, parts);
    kept += of.whole(gpu::differential_count_sink{of.keep}).summary.pairs_kept;
  }
  CHECK(kept > 1000);
}

TEST_CASE("parts of differential correlation of more rows than a block has",
          "[differential][parts]") {
  // The panels begin and end within blocks of the whole, and one of two is longer than a block.
  std::mt19937_64 random(21);
  for (const gpu::measure what : measures) {
    job of{.what = what,
           .data = mixed_rows(4500, 24, random),
           .of = some_groups(24),
           .keep = {.max_p = 0.001}};
    const gpu::differential_edge_sink edges{.keep = of.keep};
    const gpu::differential_top_k_sink partners{.k = 3};
    const auto whole = of.whole(edges);
    const auto best = of.whole(partners);
    for (const gpu::index_t parts : {2, 5}) {
      INFO(gpu::to_string(what) << ", " << parts << " parts");
      std::vector<gpu::differential_edge> all;
      bool are_same = true;
      gpu::index_t next = 0;
      for (gpu::index_t k = 0; k < parts; ++k) {
        const auto found = of.part(k, parts, edges);
        all.insert(all.end(), found.edges.begin(), found.edges.end());
        const auto own = of.part(k, parts, partners);
        for (gpu::index_t i = 0; i < own.index.rows(); ++i, ++next) {
          for (gpu::index_t e = 0; e < 3; ++e) {
            are_same &= own.index(i, e) == best.index(next, e);
            are_same &= bits(own.first(i, e)) == bits(best.first(next, e));
            are_same &= bits(own.second(i, e)) == bits(best.second(next, e));
            are_same &= bits(own.z(i, e)) == bits(best.z(next, e));
          }
        }
      }
      CHECK(all.size() > 1000);
      CHECK(std::equal(all.begin(), all.end(), whole.edges.begin(), whole.edges.end(), same_bits));
      CHECK(next == 4500);
      CHECK(are_same);
    }
  }
}

TEST_CASE("parts of differential correlation are cut as those of other measures",
          "[differential][parts]") {
  const auto data = make_rows<double>(77, 30, 22);
  const groups of = some_groups(30);
  for (gpu::index_t parts = 1; parts < 20; ++parts) {
    for (gpu::index_t k = 0; k < parts; ++k) {
      const gpu::pair_options options{.part = {.index = k, .of = parts}};
      const auto edges = gpu::differential_pairs(gpu::measure::pearson, data, of.view(), options);
      const auto wanted = gpu::pearson_all_pairs(data, options, gpu::edge_sink{}).summary;
      CHECK(edges.summary.part_begin == wanted.part_begin);
      CHECK(edges.summary.part_end == wanted.part_end);
      const auto best = gpu::differential_pairs(gpu::measure::pearson, data, of.view(), options,
                                                gpu::differential_top_k_sink{.k = 2});
      const auto rows = gpu::pearson_all_pairs(data, options, gpu::top_k_sink{.k = 2}).summary;
      CHECK(best.summary.part_begin == rows.part_begin);
      CHECK(best.summary.part_end == rows.part_end);
    }
  }
}

TEST_CASE("a part of differential correlation may be empty", "[differential][parts]") {
  const auto data = make_rows<double>(3, 30, 23);
  const groups of = some_groups(30);
  // Panels of 0 or 1 rows, and the last row has no later one.
  gpu::index_t empty = 0;
  for (gpu::index_t k = 0; k < 16; ++k) {
    const gpu::pair_options options{.part = {.index = k, .of = 16}};
    const auto found = gpu::differential_pairs(gpu::measure::spearman, data, of.view(), options);
    if (found.summary.part_begin == found.summary.part_end) {
      ++empty;
      CHECK(found.edges.empty());
      CHECK(found.summary.pairs_tested == 0);
      CHECK(found.summary.rows == 3);
    }
    const auto best = gpu::differential_pairs(gpu::measure::spearman, data, of.view(), options,
                                              gpu::differential_top_k_sink{.k = 2});
    CHECK(best.index.rows() == best.summary.part_end - best.summary.part_begin);
    CHECK(best.index.cols() == 2);
  }
  CHECK(empty >= 13);
}

TEST_CASE("a part of differential correlation reports its pairs as progress",
          "[differential][parts]") {
  job of{.what = gpu::measure::pearson,
         .data = make_rows<double>(100, 30, 24),
         .of = some_groups(30),
         .keep = {}};
  gpu::progress last;
  of.options.exec.on_progress = [&](const gpu::progress& state) {
    last = state;
    return gpu::progress_reply::proceed;
  };
  for (gpu::index_t k = 0; k < 3; ++k) {
    const auto edges = of.part(k, 3, gpu::differential_edge_sink{});
    const auto rows = static_cast<std::uint64_t>(edges.summary.part_end - edges.summary.part_begin);
    const auto later = static_cast<std::uint64_t>(100 - edges.summary.part_end);
    CHECK(last.total == rows * (rows - 1) / 2 + rows * later);
    CHECK(last.done == last.total);
    const auto best = of.part(k, 3, gpu::differential_top_k_sink{.k = 1});
    const auto own = static_cast<std::uint64_t>(best.summary.part_end - best.summary.part_begin);
    CHECK(last.total == own * (own - 1) / 2 + own * (100 - own));
    CHECK(last.done == last.total);
  }
}

TEST_CASE("wrong parts of differential correlation are refused by name", "[differential][parts]") {
  const auto data = make_rows<double>(8, 30, 25);
  const groups of = some_groups(30);
  const auto refusal = [&](gpu::pair_part part, const auto& sink) {
    return gpu_test::refusal_of([&] {
      return gpu::differential_pairs(gpu::measure::pearson, data, of.view(), {.part = part}, sink);
    });
  };
  const auto check_all = [&](const auto& sink) {
    CHECK(refusal({.index = 0, .of = 0}, sink) == "options.part.of: got 0, expected at least 1");
    CHECK(refusal({.index = 0, .of = -2}, sink) == "options.part.of: got -2, expected at least 1");
    CHECK(refusal({.index = -1, .of = 3}, sink) == "options.part.index: got -1, expected 0 to 2");
    CHECK(refusal({.index = 3, .of = 3}, sink) == "options.part.index: got 3, expected 0 to 2");
  };
  check_all(gpu::differential_edge_sink{});
  check_all(gpu::differential_count_sink{});
  check_all(gpu::differential_top_k_sink{});
  check_all(gpu::discovery_sink{});
  const gpu::differential_filter keep{.max_p = 0.1, .adjust = gpu::adjustment::benjamini_hochberg};
  const auto check_adjusted = [&](const auto& sink) {
    CHECK(refusal({.index = 1, .of = 3}, sink).find("differential_filter.adjust") == 0);
    CHECK_THROWS_AS(gpu::differential_pairs(gpu::measure::pearson, data, of.view(),
                                            {.part = {.index = 1, .of = 3}}, sink),
                    gpu::unsupported);
    (void)gpu::differential_pairs(gpu::measure::pearson, data, of.view(), {}, sink);
  };
  check_adjusted(gpu::differential_edge_sink{.keep = keep});
  check_adjusted(gpu::differential_count_sink{keep});
  check_adjusted(gpu::differential_top_k_sink{.k = 1, .keep = keep});
}

TEST_CASE("a search for discoveries of another call is refused", "[differential][parts]") {
  const auto data = make_rows<double>(20, 30, 26);
  const groups of = some_groups(30);
  const auto count = [&](const gpu::discovery_sink& sink) {
    return gpu::differential_pairs(gpu::measure::pearson, data, of.view(),
                                   {.part = {.index = 0, .of = 2}}, sink);
  };
  const auto first = count({.keep = {.max_p = 0.2}});
  CHECK(first.summary.pairs_tested > 0);
  CHECK(first.summary.cols == 30);
  CHECK(first.search.observations == 0);
  CHECK(gpu_test::refusal_of([&] {
          return count({.keep = {.max_p = 0.1}, .search = first.search});
        }).find("discovery_sink.search: ") == 0);
  CHECK_THROWS_AS(count({.keep = {.max_p = 0}}), gpu::invalid_argument);
  // Counts of some parts are not those of the job.
  CHECK_THROWS_AS(gpu::next_search(first), gpu::invalid_argument);
}
