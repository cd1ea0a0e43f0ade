// The numbers that the public headers state, read from their text, are those at which the library
// changes its mind.
#include <cmath>
#include <fstream>
#include <iterator>
#include <regex>
#include <string>
#include <tuple>

#include <gpu/similarity.hpp>

#include "pairs/measures/measures.hpp"
#include "plan/fold_choice.hpp"
#include "plan/mean_filter_variants.hpp"
#include "plan/rank_variants.hpp"
#include "plan/top_k_variants.hpp"
#include "support/catch.hpp"

namespace {

using gpu::backend;
using gpu::index_t;

/// What the group of `pattern` matches in the header, comment marks and line ends as one blank.
double stated(const char* header, const std::string& pattern) {
  std::ifstream file(std::string(GPU_SIMILARITY_SOURCE_DIR) + "/include/gpu/" + header);
  REQUIRE(file);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  text = std::regex_replace(text, std::regex("\\s*\n\\s*(///<?)?\\s*"), " ");
  std::smatch found;
  INFO(header << ": " << pattern);
  REQUIRE(std::regex_search(text, found, std::regex(pattern)));
  std::string number = found[1];
  std::erase(number, ',');
  return std::stod(number);
}
index_t stated_index(const char* header, const std::string& pattern) {
  return static_cast<index_t>(stated(header, pattern));
}

/// Whether `call` is not refused as unsupported or invalid.
template <class Call>
bool offered(const Call& call) {
  try {
    static_cast<void>(call());
    return true;
  } catch (const gpu::unsupported&) {
    return false;
  } catch (const gpu::invalid_argument&) {
    return false;
  }
}

/// `call(n)` is offered up to the number that the header states, and not beyond.
template <class Call>
void check_most(const char* header, const std::string& pattern, const Call& call) {
  const index_t most = stated_index(header, pattern);
  CAPTURE(header, pattern, most);
  CHECK(offered([&] { return call(most); }));
  CHECK(!offered([&] { return call(most + 1); }));
}

}  // namespace

TEST_CASE("The bounds of top_k's variants", "[headers]") {
  const auto most_k = [](const std::string& pattern, gpu::top_k_variant variant, bool distinct) {
    check_most("top_k.hpp", pattern, [=](index_t k) {
      return gpu::detail::choose_top_k_variant({.cols = 1'000'000,
                                                .k = k,
                                                .distinct = distinct,
                                                .element_bytes = 4,
                                                .shared_bytes = 232448},
                                               backend::cuda, variant);
    });
  };
  most_k("threshold,.*?CUDA: k to (\\d+)", gpu::top_k_variant::threshold, false);
  most_k("threshold,.*?distinct (\\d+)\\.", gpu::top_k_variant::threshold, true);
  most_k("two_pass_insert,.*?k up to (\\d+), not distinct\\.", gpu::top_k_variant::two_pass_insert,
         false);
  most_k("block_rows,.*?k up to (\\d+)\\.", gpu::top_k_variant::block_rows, false);
  check_most("top_k.hpp", "warp_rows .*?rows and k up to (\\d+)\\.", [](index_t cols) {
    return gpu::detail::choose_top_k_variant({.rows = 2, .cols = cols, .k = cols}, backend::cuda,
                                             gpu::top_k_variant::warp_rows);
  });
}

TEST_CASE("The bounds of rank_rows' variants", "[headers]") {
  using gpu::detail::choose_rank_variant;
  const auto most_cols = [](const std::string& pattern, gpu::rank_variant variant, backend where,
                            std::size_t element_bytes) {
    check_most("rank.hpp", pattern, [=](index_t cols) {
      return choose_rank_variant(variant, where, cols, element_bytes);
    });
  };
  for (const backend where : {backend::cpu, backend::cuda}) {
    most_cols("counting,.*?rows of up to (\\d+) columns", gpu::rank_variant::counting, where, 4);
  }
  most_cols("block_sort,.*?up to (\\d+) columns", gpu::rank_variant::block_sort, backend::cuda, 4);
  most_cols("block_sort,.*?for double up to (\\d+)\\.", gpu::rank_variant::block_sort,
            backend::cuda, 8);
  const auto counts = [](backend where, index_t cols, gpu::tie_method ties) {
    return choose_rank_variant(gpu::rank_variant::automatic, where, cols, 4, ties) ==
           gpu::rank_variant::counting;
  };
  const index_t most = stated_index("rank.hpp", "comparisons per row up to (\\d+) columns");
  const index_t with_ties = stated_index("rank.hpp", "CUDA, no average ties: (\\d+)\\)");
  for (const auto& [where, ties, cols] :
       {std::tuple{backend::cpu, gpu::tie_method::min, most},
        std::tuple{backend::cpu, gpu::tie_method::average, most},
        std::tuple{backend::cuda, gpu::tie_method::average, most},
        std::tuple{backend::cuda, gpu::tie_method::min, with_ties}}) {
    CHECK(counts(where, cols, ties));
    CHECK(!counts(where, cols + 1, ties));
  }
}

TEST_CASE("The bounds of the filters' variants", "[headers]") {
  using gpu::mean_filter_variant;
  const auto filter = [](mean_filter_variant variant) {
    return [=](index_t window) {
      return gpu::detail::choose_mean_filter_variant(
          backend::cuda, 4,
          {.rows = 1, .cols = 1'000'000, .output_cols = 1'000'000, .window = window}, variant);
    };
  };
  check_most("mean_filter.hpp", "shared_memory,.*?window <= (\\d+)\\.",
             filter(mean_filter_variant::shared_memory));
  check_most("mean_filter.hpp", "or, to (\\d+) weights,", [](index_t weights) {
    return gpu::detail::choose_convolve_variant(backend::cuda, 4,
                                                {.output_cols = 1'000'000, .window = weights},
                                                mean_filter_variant::block_sums);
  });
  check_most("mean_filter.hpp", "constant_memory,.*?window <= (\\d+)\\.",
             filter(mean_filter_variant::constant_memory));
  const index_t least = stated_index("mean_filter.hpp", "multi_level .*?window >= (\\d+)\\.");
  CHECK(offered([&] { return filter(mean_filter_variant::multi_level)(least); }));
  CHECK(!offered([&] { return filter(mean_filter_variant::multi_level)(least - 1); }));
  check_most("mean_filter.hpp", "max_convolve_weights = (\\d+);", [](index_t weights) {
    return gpu::plan_convolve<float>(1, 1000, weights, {.exec = {.target = backend::cpu}});
  });
  // Windows are refused: from so many elements, and twice the row.
  const index_t far = stated_index("mean_filter.hpp", "windows from (\\d+) elements on have to");
  const auto has_shape = [](index_t cols, index_t window) {
    return offered([&] {
      return gpu::detail::mean_filter_shape(1, cols,
                                            {.window = window, .boundary = gpu::boundary::nearest});
    });
  };
  CHECK(!has_shape(far / 2, far));
  CHECK(has_shape(far / 2, far - 1));
  CHECK(has_shape(far, 2 * far - 1));
}

TEST_CASE("The bounds of all pairs", "[headers]") {
  CHECK(gpu::info_of(gpu::measure::spearman).most_cols ==
        stated_index("all_pairs.hpp", "cols from 3 to ([\\d,]+)\\."));
  gpu::matrix<float> data(3, 4);
  for (index_t i = 0; i < 12; ++i) data.data()[i] = static_cast<float>(i * i % 7);
  check_most("pair_sinks.hpp", "0: none\\. At most ([\\d,]+)\\. Bin b", [&](index_t bins) {
    return gpu::spearman_all_pairs(data, {.exec = {.target = backend::cpu}},
                                   gpu::count_sink{.histogram_bins = bins});
  });
  CHECK(sizeof(gpu::edge) == stated("pair_sinks.hpp", "as a list\\. Memory: (\\d+) bytes an edge"));
  const auto observations = static_cast<index_t>(
      std::pow(10, stated("p_value.hpp", "observations from 3 to 10\\^(\\d+)")));
  CHECK(offered([&] { return gpu::correlation_p_value(0.5, observations); }));
  CHECK(!offered([&] { return gpu::correlation_p_value(0.5, observations + 1); }));
}

TEST_CASE("From when on rows are folded", "[headers]") {
  const index_t least = stated_index("pair_options.hpp", "at least (\\d+) rows \\(");
  using gpu::detail::fold_scope;
  const auto looks = [](backend used, const gpu::detail::fold_job& job) {
    return gpu::detail::looks_for_patterns(gpu::detail::spearman_traits, used,
                                           gpu::pair_variant::tiled, job);
  };
  const index_t about = stated_index("pair_options.hpp", "on CUDA about (\\d+),000") * 1000;
  for (const fold_scope scope : {fold_scope::many_rows, fold_scope::both}) {
    CHECK(looks(backend::cpu, {least, 30, scope}));
    CHECK(!looks(backend::cpu, {least - 1, 30, scope}));
    CHECK(looks(backend::cuda, {about * 11 / 10, 30, scope}));
    CHECK(!looks(backend::cuda, {about * 9 / 10, 30, scope}));
  }
  for (const backend used : {backend::cpu, backend::cuda}) {
    CHECK(!looks(used, {index_t{1} << 40, 30, fold_scope::few_patterns}));
    CHECK(!looks(used, {index_t{1} << 40, 30, fold_scope::never}));
    CHECK(looks(used, {2, 30, fold_scope::always}));
  }
  // Of few columns, on the CPU alone.
  const index_t rows_per_order =
      stated_index("pair_options.hpp", "from (\\d+) rows for each order");
  for (index_t cols = 2; cols < 9; ++cols) {
    // Each order of `cols` values that may tie has a first group of k of them.
    std::vector<index_t> orders{1};
    for (index_t n = 1; n <= cols; ++n) {
      index_t sum = 0;
      index_t choices = 1;
      for (index_t k = 1; k <= n; ++k) {
        choices = choices * (n - k + 1) / k;
        sum += choices * orders[static_cast<std::size_t>(n - k)];
      }
      orders.push_back(sum);
    }
    const index_t rows = rows_per_order * orders.back();
    CHECK(gpu::detail::has_few_patterns(rows, cols));
    CHECK(!gpu::detail::has_few_patterns(rows - 1, cols));
    CHECK(looks(backend::cpu, {rows, cols, fold_scope::few_patterns}));
    CHECK(!looks(backend::cpu, {rows - 1, cols, fold_scope::few_patterns}));
    CHECK(!looks(backend::cuda, {rows, cols, fold_scope::few_patterns}));
    CHECK(looks(backend::cpu, {std::min(rows, least), cols, fold_scope::both}));
    CHECK(!looks(backend::cpu, {std::min(rows, least) - 1, cols, fold_scope::both}));
    CHECK(!looks(backend::cpu, {least - 1, cols, fold_scope::many_rows}));
    CHECK(!looks(backend::cuda, {least - 1, cols, fold_scope::both}));
  }
  CHECK(!looks(backend::cpu, {index_t{1} << 40, 9, fold_scope::few_patterns}));
  using gpu::row_folding;
  CHECK(gpu::detail::scope_of(row_folding::automatic, fold_scope::both) == fold_scope::both);
  CHECK(gpu::detail::scope_of(row_folding::never, fold_scope::both) == fold_scope::never);
  CHECK(gpu::detail::scope_of(row_folding::always, fold_scope::never) == fold_scope::always);
  CHECK(gpu::detail::scope_of_edges(gpu::edge_order::by_row_then_column) == fold_scope::both);
  CHECK(gpu::detail::scope_of_edges(gpu::edge_order::unspecified) == fold_scope::many_rows);
  CHECK(gpu::detail::scope_of_counts({.max_p = 0.5}) == fold_scope::few_patterns);
  CHECK(gpu::detail::scope_of_counts({.max_p = 1e-6}) == fold_scope::both);
  CHECK(gpu::detail::scope_of_counts({.max_p = 0.5, .min_abs = 0.9}) == fold_scope::both);
  CHECK(gpu::detail::scope_of_counts({.max_p = 0.5, .adjust = gpu::adjustment::bonferroni}) ==
        fold_scope::both);
  CHECK(gpu::detail::most_pattern_share(fold_scope::many_rows, backend::cpu,
                                        gpu::pair_variant::tiled) ==
        stated("pair_options.hpp", "and at most ([\\d.]+) patterns a row"));
  CHECK(gpu::detail::most_pattern_share(fold_scope::many_rows, backend::cuda,
                                        gpu::pair_variant::hopper) == 1.0 / 3);
}
