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
    gpu::tanimoto_options options{.exec = on_cpu};
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
  gpu::tanimoto_options options{.exec = on_cpu};
  options.exec.cpu_threads = 1;
  options.exec.workspace_bytes = 100000;  // the rows take some 50,000
  gpu_test::check_list(data, options, 0);
  gpu_test::check_list(data, options, 0.4);
  options.exec.workspace_bytes = 1000;
  CHECK_THROWS_AS(run_tanimoto(data, options, gpu::edge_sink{}), gpu::out_of_memory);
}

TEST_CASE("Tanimoto cuts beyond the table keep nothing", "[tanimoto]") {
  const bit_table x(30, 64, 0.3, 9);
  const gpu::tanimoto_options options{.exec = on_cpu};
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
  const gpu::tanimoto_options options{.exec = on_cpu};
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
  gpu::tanimoto_options part = options;
  part.part = {.index = 3, .of = 3};
  CHECK_THROWS_AS(gpu::tanimoto_all_pairs(bits, part), gpu::invalid_argument);
  gpu::tanimoto_options variant = options;
  variant.variant = gpu::binary_matmul_variant::hopper;
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
  gpu::tanimoto_options options{.exec = on_cpu};
  options.exec.on_progress = [](const gpu::progress&) { return gpu::progress_reply::cancel; };
  CHECK_THROWS_AS(gpu::tanimoto_all_pairs(x.view(), options, gpu::edge_sink{}), gpu::cancelled);
}
