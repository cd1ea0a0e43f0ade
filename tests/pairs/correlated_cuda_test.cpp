// Rows that move together on CUDA: many edges, and cuts between those that few and many pairs pass,
// from every sink as the CPU gives them.
#include "pairs/cpu_parity.hpp"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "support/correlated_rows.hpp"

using gpu::index_t;
using gpu::pair_variant;

namespace {

using namespace gpu_test;

constexpr double cuts[] = {0.5, 0.05, 1e-4, 1e-9, 1e-14};

gpu::pair_options unfolded(pair_variant variant, std::size_t workspace_bytes = 0) {
  gpu::pair_options out = cuda_options(variant, workspace_bytes);
  out.fold = gpu::row_folding::never;
  return out;
}

std::vector<gpu::edge> in_order(std::vector<gpu::edge> edges) {
  std::sort(edges.begin(), edges.end(), [](const gpu::edge& a, const gpu::edge& b) {
    return std::pair(a.row, a.col) < std::pair(b.row, b.col);
  });
  return edges;
}

// Lists of many and of few threads: processors that compute p fast unpack with many what others
// receive whole.
template <class Op, class T>
void check_lists(const gpu::matrix<T>& x, gpu::pair_options options, const gpu::pair_filter& keep,
                 std::span<const gpu::edge> wanted) {
  gpu::pair_checksum sum;
  for (const gpu::edge& e : wanted) sum += gpu::checksum_of(e.row, e.col, e.statistic);
  for (const int threads : {1, 16}) {
    INFO(threads << " threads");
    options.exec.cpu_threads = threads;
    const gpu::edge_list list = Op::run(x, options, gpu::edge_sink{.keep = keep});
    check_same_edges(list.edges, wanted);
    CHECK(list.summary.checksum == sum);
    const gpu::edge_sink as_found{.keep = keep, .order = gpu::edge_order::unspecified};
    check_same_edges(in_order(Op::run(x, options, as_found).edges.to_vector()), wanted);
  }
}

// Every way that edges leave, and their number.
template <class Op, class T>
void check_ways(const gpu::matrix<T>& x, const gpu::pair_options& options,
                const gpu::pair_filter& keep) {
  INFO(Op::name << ", p <= " << keep.max_p << ", " << gpu::to_string(options.variant));
  const std::vector<gpu::edge> wanted =
      Op::run(x, cpu_options(), gpu::edge_sink{.keep = keep}).edges.to_vector();
  check_lists<Op>(x, options, keep, wanted);

  std::vector<gpu::edge> streamed;
  const auto summary =
      Op::run(x, options,
              gpu::stream_sink{.keep = keep,
                               .consume =
                                   [&](std::span<const gpu::edge> batch) {
                                     streamed.insert(streamed.end(), batch.begin(), batch.end());
                                   },
                               .batch_edges = 10'007});
  check_same_edges(streamed, wanted);
  CHECK(summary.pairs_kept == wanted.size());
  CHECK(Op::run(x, options, gpu::count_sink{.keep = keep}).kept == wanted.size());
  if (wanted.size() < 2) return;

  const auto all = static_cast<index_t>(wanted.size());
  check_same_edges(Op::run(x, options, gpu::edge_sink{.keep = keep, .max_edges = all}).edges,
                   wanted);
  for (const index_t most : {all - 1, all / 2, index_t{1}}) {
    try {
      static_cast<void>(Op::run(x, options, gpu::edge_sink{.keep = keep, .max_edges = most}));
      FAIL_CHECK("no error at a capacity of " << most << " of " << all);
    } catch (const gpu::capacity_exceeded& failure) {
      CHECK(failure.required() == all);
    }
  }
}

template <class Op, class T>
void check_cuts(const correlated_shape& shape) {
  INFO(shape.rows << " x " << shape.cols << ", " << shape.levels << " levels");
  const gpu::matrix<T> x = correlated_matrix<T>(shape);
  for (const pair_variant variant : {pair_variant::automatic, pair_variant::shared_tiled}) {
    for (const double p : cuts) check_ways<Op>(x, unfolded(variant), {.max_p = p});
  }
}

}  // namespace

TEST_CASE("Spearman edges of rows that move together equal the CPU's") {
  check_cuts<spearman_op, float>(
      {.rows = 1500, .cols = 57, .pairs_in_blocks = 0.05, .factor_variance = 0.8});
  check_cuts<spearman_op, std::int32_t>(
      {.rows = 1300, .cols = 30, .pairs_in_blocks = 0.01, .factor_variance = 0.6, .levels = 6});
  check_cuts<spearman_op, float>({.rows = 700, .cols = 128, .pairs_in_blocks = 0.3});
  check_cuts<spearman_op, float>(
      {.rows = 500, .cols = 300, .pairs_in_blocks = 0.1, .blocks_side_by_side = false});
}

TEST_CASE("Pearson edges of rows that move together equal the CPU's") {
  check_cuts<pearson_op, float>(
      {.rows = 1500, .cols = 57, .pairs_in_blocks = 0.05, .factor_variance = 0.8});
  check_cuts<pearson_op, double>({.rows = 600, .cols = 300, .pairs_in_blocks = 0.3});
}

TEST_CASE("One-sided cuts and adjustments of rows that move together") {
  const auto x = correlated_matrix<float>(
      {.rows = 900, .cols = 40, .pairs_in_blocks = 0.05, .factor_variance = 0.7});
  const gpu::pair_options options = unfolded(pair_variant::automatic);
  for (const gpu::tail side : {gpu::tail::greater, gpu::tail::less}) {
    check_ways<spearman_op>(x, options, {.max_p = 0.01, .side = side});
    check_ways<pearson_op>(x, options, {.max_p = 0.01, .side = side});
  }
  for (const gpu::adjustment adjust :
       {gpu::adjustment::bonferroni, gpu::adjustment::benjamini_hochberg}) {
    check_ways<spearman_op>(x, options, {.max_p = 0.05, .adjust = adjust});
  }
}

TEST_CASE("Dense rows after sparse ones overflow no queue unnoticed") {
  // The last rows are all alike, the others independent; and the other way round.
  for (const bool dense_first : {false, true}) {
    INFO("dense first " << dense_first);
    auto x = random_matrix<float>(4000, 30, 5);
    for (index_t i = 0; i < 1500; ++i) {
      const index_t row = dense_first ? i : 3999 - i;
      for (index_t k = 0; k < 30; ++k) {
        x(row, k) = static_cast<float>(k) + 0.3F * x(row, k);
      }
    }
    for (const std::size_t workspace : {std::size_t{0}, std::size_t{6} << 20}) {
      check_ways<spearman_op>(x, unfolded(pair_variant::automatic, workspace), {.max_p = 1e-6});
      check_ways<spearman_op>(x, unfolded(pair_variant::automatic, workspace), {.max_p = 0.05});
    }
  }
}

TEST_CASE("Folded rows that move together give the same edges") {
  auto x = correlated_matrix<std::int32_t>(
      {.rows = 2000, .cols = 8, .pairs_in_blocks = 0.1, .factor_variance = 0.5, .levels = 2});
  gpu::pair_options options = cuda_options(pair_variant::automatic);
  options.fold = gpu::row_folding::always;
  for (const double p : {0.5, 0.01}) check_ways<spearman_op>(x, options, {.max_p = p});
}
