// Tanimoto similarities on the CPU against sets, and what is refused.
#include "tanimoto/tanimoto_cases.hpp"

#include <gpu/error.hpp>
#include <gpu/similarity.hpp>

namespace {

using gpu_test::bit_table;
using gpu_test::tanimoto_oracle;

const gpu::execution on_cpu{.target = gpu::backend::cpu};

}  // namespace

TEST_CASE("Tanimoto similarities on the CPU equal those of sets", "[tanimoto]") {
  for (const int threads : {1, 3}) {
    gpu::pair_options options{.exec = on_cpu};
    options.exec.cpu_threads = threads;
    gpu_test::check_tanimoto_shapes(options);
  }
}

TEST_CASE("Parts of a job are the whole", "[tanimoto]") {
  gpu_test::check_tanimoto_parts({.exec = on_cpu});
}

TEST_CASE("Values of SciPy and RDKit", "[tanimoto]") {
  // SciPy: 1 - jaccard([1,0,1,1,0], ...); RDKit: TanimotoSimilarity of the same bits.
  const bit_table x(5, {{0, 2, 3}, {0, 2, 3, 4}, {1, 4}, {}, {}, {0, 1, 2, 3, 4}});
  const auto s = gpu::tanimoto_all_pairs(x.view(), {.exec = on_cpu});
  CHECK(s(0, 1) == 0.75);
  CHECK(s(0, 2) == 0.0);
  CHECK(s(1, 2) == 0.2);
  CHECK(s(0, 5) == 0.6);
  CHECK(s(2, 5) == 0.4);
  CHECK(s(1, 5) == 0.8);
  CHECK(s(3, 4) == 0.0);  // two empty rows, as RDKit
  CHECK(s(3, 3) == 0.0);
  CHECK(s(3, 5) == 0.0);
  CHECK(s(5, 5) == 1.0);
  // 4 of 5 pass a cut of 0.8.
  const auto edges =
      gpu::tanimoto_all_pairs(x.view(), {.exec = on_cpu}, gpu::edge_sink{.keep = {.min_abs = 0.8}});
  REQUIRE(edges.edges.size() == 1);
  CHECK(edges.edges[0].row == 1);
  CHECK(edges.edges[0].col == 5);
  CHECK(edges.summary.constant_rows.empty());
  CHECK(edges.summary.pairs_tested == 15);
}

TEST_CASE("Every way to call gives the same", "[tanimoto]") {
  const bit_table data(20, 40, 0.3, 5);
  gpu::bit_matrix x(20, 40);
  for (gpu::index_t i = 0; i < 20; ++i) {
    std::copy_n(data.view().row(i), 2, x.view().row(i));
  }
  const gpu::top_k_sink best{.k = 2};
  const auto first = gpu::tanimoto_all_pairs(x);
  const auto second = gpu::tanimoto_all_pairs(x, x);
  const auto third = gpu::tanimoto_all_pairs(x, {}, gpu::dense_sink_f32{});
  const auto table = gpu::tanimoto_all_pairs(x, best);
  const auto against = gpu::tanimoto_all_pairs(x, x, best);
  CHECK(first(3, 7) == second(3, 7));
  CHECK(static_cast<float>(first(3, 7)) == third(3, 7));
  CHECK(table.summary.y_rows == 0);
  CHECK(against.summary.y_rows == 20);
  CHECK(against.statistic(6, 0) >= table.statistic(6, 0));
}

TEST_CASE("Tables without rows or columns", "[tanimoto]") {
  const bit_table none(0, 7, 0.5, 1);
  const bit_table some(4, 7, 0.5, 1);
  const bit_table blank(3, 0, 0.5, 1);
  for (const auto* x : {&none, &some, &blank}) {
    gpu_test::check_tanimoto(tanimoto_oracle(*x, *x), {.exec = on_cpu});
  }
  gpu_test::check_tanimoto(tanimoto_oracle(none, some), {.exec = on_cpu});
  gpu_test::check_tanimoto(tanimoto_oracle(some, none), {.exec = on_cpu});
}

TEST_CASE("Little memory cuts a job into ranges of rows", "[tanimoto]") {
  const bit_table x(300, 64, 0.3, 9);
  const tanimoto_oracle data(x, x);
  gpu::pair_options options{.exec = on_cpu};
  options.exec.cpu_threads = 1;
  options.exec.workspace_bytes = 100000;  // the rows take some 50,000
  gpu_test::check_list(data, options, 0);
  gpu_test::check_list(data, options, 0.4);
  options.exec.workspace_bytes = 1000;
  CHECK_THROWS_AS(run_tanimoto(data, options, gpu::edge_sink{}), gpu::out_of_memory);
}

TEST_CASE("Tanimoto cuts beyond the table keep nothing", "[tanimoto]") {
  const bit_table x(30, 64, 0.3, 9);
  const gpu::pair_options options{.exec = on_cpu};
  constexpr double none = std::numeric_limits<double>::infinity();
  for (const gpu::pair_filter keep : {gpu::pair_filter{.min_abs = none},
                                      gpu::pair_filter{.min_abs = 0.1, .side = gpu::tail::less}}) {
    CHECK(gpu::tanimoto_all_pairs(x.view(), options, gpu::edge_sink{.keep = keep}).edges.empty());
    CHECK(gpu::tanimoto_all_pairs(x.view(), options, gpu::count_sink{.keep = keep}).kept == 0);
    CHECK(gpu::tanimoto_all_pairs(x.view(), options, gpu::top_k_sink{.k = 2, .keep = keep})
              .count[0] == 0);
  }
  const gpu::pair_filter all{.side = gpu::tail::less};
  CHECK(gpu::tanimoto_all_pairs(x.view(), options, gpu::count_sink{.keep = all}).kept == 435);
}

TEST_CASE("What Tanimoto refuses", "[tanimoto]") {
  const bit_table x(30, 64, 0.3, 9);
  const bit_table other(30, 65, 0.3, 9);
  const gpu::pair_options options{.exec = on_cpu};
  const auto bits = x.view();
  CHECK_THROWS_AS(gpu::tanimoto_all_pairs(bits, other.view(), options), gpu::invalid_argument);
  CHECK_THROWS_AS(gpu::tanimoto_all_pairs(bits, options, gpu::edge_sink{.keep = {.max_p = 0.1}}),
                  gpu::unsupported);
  CHECK_THROWS_AS(gpu::tanimoto_all_pairs(bits, options, gpu::edge_sink{.keep = {.min_abs = 1.5}}),
                  gpu::invalid_argument);
  CHECK_THROWS_AS(gpu::tanimoto_all_pairs(bits, options, gpu::top_k_sink{.k = 0}),
                  gpu::invalid_argument);
  CHECK_THROWS_AS(gpu::tanimoto_all_pairs(bits, options, gpu::count_sink{.histogram_bins = -1}),
                  gpu::invalid_argument);
  gpu::pair_options part = options;
  part.part = {.index = 3, .of = 3};
  CHECK_THROWS_AS(gpu::tanimoto_all_pairs(bits, part), gpu::invalid_argument);
  gpu::pair_options variant = options;
  variant.variant = gpu::pair_variant::hopper;
  CHECK_THROWS_AS(gpu::tanimoto_all_pairs(bits, variant), gpu::unsupported);
  try {
    (void)gpu::tanimoto_all_pairs(bits, options, gpu::edge_sink{.max_edges = 10});
    FAIL("no error");
  } catch (const gpu::capacity_exceeded& error) {
    CHECK(error.required() == 435);
  }
}

TEST_CASE("Progress of Tanimoto can cancel", "[tanimoto]") {
  const bit_table x(300, 64, 0.3, 9);
  gpu::pair_options options{.exec = on_cpu};
  options.exec.on_progress = [](const gpu::progress&) { return gpu::progress_reply::cancel; };
  CHECK_THROWS_AS(gpu::tanimoto_all_pairs(x.view(), options, gpu::edge_sink{}), gpu::cancelled);
}

TEST_CASE("Prepared rows of bits are those of the table", "[tanimoto]") {
  const bit_table x(70, 90, 0.3, 9);
  const bit_table y(130, 90, 0.3, 10);
  const gpu::pair_options options{.alpha = 0.25, .beta = 2, .exec = on_cpu};
  const auto kept = gpu::prepare_rows(gpu::measure::tversky, y.view(), options);
  CHECK(kept.cols() == 90);
  CHECK(kept.rows() == 130);
  const auto both = [&](const auto& sink) {
    return std::pair(gpu::tversky_all_pairs(x.view(), y.view(), options, sink),
                     gpu::tversky_all_pairs(x.view(), kept, options, sink));
  };
  const auto edges = both(gpu::edge_sink{.keep = {.min_abs = 0.3}});
  gpu_test::check_edges(gpu_test::span_of(edges.second), {edges.first.begin(), edges.first.end()});
  CHECK(edges.second.edges.size() > 100);
  const auto best = both(gpu::top_k_sink{.k = 5});
  CHECK(best.first.summary.checksum == best.second.summary.checksum);
  const auto dense = both(gpu::dense_sink{});
  CHECK(dense.first(3, 77) == dense.second(3, 77));
  const bit_table narrow(3, 89, 0.3, 9);
  CHECK_THROWS_AS(gpu::tversky_all_pairs(narrow.view(), kept, options), gpu::invalid_argument);
  CHECK_THROWS_AS(gpu::tanimoto_all_pairs(x.view(), kept), gpu::invalid_argument);
}

TEST_CASE("A plan of bits counts a sample", "[tanimoto]") {
  const bit_table x(300, 64, 0.3, 9);
  const bit_table y(200, 64, 0.3, 10);
  for (const gpu::measure what : gpu::bit_measures()) {
    const gpu::edge_sink sink{.keep = {.min_abs = 0.4}};
    const gpu::pair_options options{.exec = on_cpu};
    const auto plan = gpu::plan_all_pairs(what, x.view(), options, sink);
    const auto kept = gpu::all_pairs(what, x.view(), options, sink).edges.size();
    CHECK(std::llround(plan.kept_estimate) == static_cast<long long>(kept));
    CHECK(plan.variant == gpu::pair_variant::tiled);
    CHECK(plan.pairs == 44850);
    CHECK(plan.workspace_bytes > 300 * 8);
    const auto against = gpu::plan_all_pairs(what, x.view(), y.view(), options, sink);
    const auto met = gpu::all_pairs(what, x.view(), y.view(), options, sink).edges.size();
    CHECK(std::llround(against.kept_estimate) == static_cast<long long>(met));
  }
}

TEST_CASE("Connectivity of bits is the sum of powers", "[tanimoto]") {
  const bit_table x(90, 64, 0.3, 9);
  const gpu::connectivity_sink sink{.powers = {1, 2.5, 6, 0.3}};
  const gpu::pair_options options{.exec = on_cpu};
  const auto dense = gpu::dice_all_pairs(x.view(), options);
  const auto found = gpu::dice_all_pairs(x.view(), options, sink);
  for (gpu::index_t i = 0; i < 90; ++i) {
    for (gpu::index_t p = 0; p < 4; ++p) {
      double sum = 0;
      for (gpu::index_t j = 0; j < 90; ++j) {
        if (j != i) sum += std::pow(dense(i, j), sink.powers[static_cast<std::size_t>(p)]);
      }
      CHECK(std::abs(found.connectivity(i, p) - sum) <= 1e-12 * (1 + sum));
    }
  }
}

TEST_CASE("Tversky takes fractions, and no pair without an order", "[tanimoto]") {
  const bit_table x(30, 64, 0.3, 9);
  const auto said = [&](const gpu::pair_options& options, bool is_against) {
    try {
      (void)(is_against ? gpu::tversky_all_pairs(x.view(), x.view(), options)
                        : gpu::tversky_all_pairs(x.view(), options));
    } catch (const gpu::invalid_argument& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  CHECK(said({.alpha = 1.0 / 3, .beta = 0.125, .exec = on_cpu}, true).empty());
  CHECK(said({.alpha = 1.0 / 3, .beta = 0.125, .exec = on_cpu}, false) ==
        "options.alpha, options.beta: got 0.3333333333333333 and 0.125 for the pairs of one table, "
        "which have no order, expected equal numbers, or x against y");
  for (const auto& [alpha, beta] :
       {std::pair(-0.5, 1.0), std::pair(1.0, 1000.5), std::pair(0.0, 0.0),
        std::pair(0.1234567, 1.0), std::pair(1.0, std::nan("")), std::pair(1.0 / 999, 1.0 / 7)}) {
    CHECK(said({.alpha = alpha, .beta = beta, .exec = on_cpu}, true).find("expected fractions") !=
          std::string::npos);
  }
  CHECK_THROWS_AS(gpu::dice_all_pairs(x.view(), {.alpha = 2, .exec = on_cpu}), gpu::unsupported);
  gpu::matrix<float> numbers(4, 5);
  for (gpu::index_t i = 0; i < 20; ++i) numbers.data()[i] = static_cast<float>(i * i % 7);
  CHECK_THROWS_AS(gpu::pearson_all_pairs(numbers, {.beta = 2, .exec = on_cpu}), gpu::unsupported);
}

TEST_CASE("Numbers and bits are not taken for each other", "[tanimoto]") {
  const bit_table x(30, 64, 0.3, 9);
  gpu::matrix<double> numbers(4, 5);
  for (gpu::index_t i = 0; i < 20; ++i) numbers.data()[i] = static_cast<double>(i * i % 7);
  for (const gpu::measure what : gpu::bit_measures()) {
    CHECK_THROWS_AS(gpu::all_pairs(what, numbers), gpu::unsupported);
    CHECK_THROWS_AS(gpu::prepare_rows(what, numbers), gpu::unsupported);
    CHECK_THROWS_AS(gpu::plan_all_pairs(what, numbers), gpu::unsupported);
    CHECK_THROWS_AS(gpu::max_t(what, numbers), gpu::unsupported);
    const gpu::pair_options pairwise{.nans = gpu::nan_policy::pairwise, .exec = on_cpu};
    CHECK_THROWS_AS(gpu::all_pairs(what, x.view(), pairwise), gpu::unsupported);
    const gpu::pair_options folded{.fold = gpu::row_folding::always, .exec = on_cpu};
    CHECK_THROWS_AS(gpu::all_pairs(what, x.view(), folded), gpu::unsupported);
  }
  for (const gpu::measure what : gpu::all_measures()) {
    CHECK_THROWS_AS(gpu::all_pairs(what, x.view()), gpu::unsupported);
    CHECK_THROWS_AS(gpu::prepare_rows(what, x.view()), gpu::unsupported);
  }
}
