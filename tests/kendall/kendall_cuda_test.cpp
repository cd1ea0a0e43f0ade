#include "kendall/kendall_cases.hpp"
#include "support/measure_cuda_cases.hpp"

using gpu_test::pair_target;

namespace {

constexpr std::array sides{gpu::tail::two_sided, gpu::tail::greater, gpu::tail::less};

// Both backends: edges with p, counts, discoveries, partners and dense results are the same bits.
template <class T>
void agrees_with_the_cpu(const gpu::matrix<T>& data, const gpu::pair_filter& keep) {
  using namespace gpu_test;
  INFO("[" << data.rows() << ", " << data.cols() << "], max_p " << keep.max_p << ", tail "
           << static_cast<int>(keep.side) << ", adjust " << static_cast<int>(keep.adjust));
  const auto on = [&](const pair_target& target, const auto& sink) {
    return gpu::kendall_all_pairs(data.view(), target.options(), sink);
  };
  const gpu::edge_sink edges{.keep = keep};
  const auto wanted = on(cpu_tiled, edges);
  const auto got = on(cuda_best, edges);
  CHECK(got.summary.used == gpu::backend::cuda);
  CHECK(got.edges == wanted.edges);
  CHECK(got.summary.checksum == wanted.summary.checksum);
  CHECK(got.summary.max_p_effective == wanted.summary.max_p_effective);
  CHECK(got.summary.constant_rows == wanted.summary.constant_rows);

  const gpu::count_sink counts{.keep = keep, .histogram_bins = 37};
  const auto wanted_counts = on(cpu_tiled, counts);
  const auto got_counts = on(cuda_best, counts);
  CHECK(got_counts.kept == wanted.edges.size());
  CHECK(got_counts.degree == wanted_counts.degree);
  CHECK(got_counts.histogram == wanted_counts.histogram);

  for (const auto order : {gpu::neighbor_order::by_value, gpu::neighbor_order::by_absolute_value}) {
    const gpu::top_k_sink partners{.k = 7, .keep = keep, .order = order};
    const auto wanted_best = on(cpu_tiled, partners);
    const auto got_best = on(cuda_best, partners);
    const auto entries = static_cast<std::size_t>(wanted_best.index.rows() * 7);
    CHECK(got_best.count == wanted_best.count);
    CHECK(std::equal(got_best.index.data(), got_best.index.data() + entries,
                     wanted_best.index.data()));
    CHECK(std::equal(got_best.statistic.data(), got_best.statistic.data() + entries,
                     wanted_best.statistic.data(), gpu_test::same_or_nan));
  }
}

bool same_matrix(const gpu::matrix<double>& a, const gpu::matrix<double>& b) {
  const auto elements = static_cast<std::size_t>(a.rows() * a.cols());
  return a.rows() == b.rows() && a.cols() == b.cols() &&
         std::equal(a.data(), a.data() + elements, b.data(), gpu_test::same_or_nan);
}

}  // namespace

TEST_CASE("Kendall, CUDA automatic", "[kendall]") {
  gpu_test::run_kendall_cases(gpu_test::cuda_best);
}

TEST_CASE("Kendall, CUDA shared_tiled", "[kendall]") {
  gpu_test::run_kendall_cases(gpu_test::cuda_shared);
}

TEST_CASE("Kendall on CUDA agrees with the CPU bit for bit", "[kendall]") {
  for (const gpu::index_t cols : {12, 30, 33, 34, 100, 200}) {
    const gpu::index_t rows = cols > 100 ? 300 : 700;
    for (const gpu::tail side : sides) {
      agrees_with_the_cpu(gpu_test::mixed_rows<float>(rows, cols, 5),
                          {.max_p = 1e-3, .side = side});
      agrees_with_the_cpu(gpu_test::random_matrix<float>(rows, cols, 6),
                          {.max_p = 0.05, .side = side});
    }
    agrees_with_the_cpu(gpu_test::mixed_rows<std::int8_t>(rows, cols, 7),
                        {.max_p = 0.01, .min_abs = 0.4});
    agrees_with_the_cpu(gpu_test::mixed_rows<double>(rows, cols, 8),
                        {.max_p = 0.05, .adjust = gpu::adjustment::bonferroni});
    for (const gpu::tail side : sides) {
      for (const double max_p : {0.05, 1.0}) {
        agrees_with_the_cpu(
            gpu_test::mixed_rows<float>(rows, cols, 9),
            {.max_p = max_p, .side = side, .adjust = gpu::adjustment::benjamini_hochberg});
      }
    }
  }
}

TEST_CASE("Kendall of more rows than a tile on CUDA is the CPU's", "[kendall]") {
  agrees_with_the_cpu(gpu_test::mixed_rows<float>(5000, 30, 11), {.max_p = 1e-9});
  agrees_with_the_cpu(gpu_test::tied_matrix<std::int32_t>(3000, 30, 12), {.max_p = 1e-6});
}

TEST_CASE("Kendall of tables in device memory", "[kendall]") {
  using namespace gpu_test;
  const auto data = mixed_rows<float>(400, 45, 21);
  const auto other = mixed_rows<float>(150, 45, 22);
  const device_table<float> there(data, 3);
  const device_table<float> other_there(other, 1);
  const gpu::device_matrix_view<const float> x = there.view();
  const gpu::device_matrix_view<const float> y = other_there.view();
  const gpu::pair_filter keep{.max_p = 0.01};
  const gpu::edge_sink sink{.keep = keep};
  const auto wanted = gpu::kendall_all_pairs(data.view(), cpu_tiled.options(), sink);
  CHECK(wanted.edges.size() > 1000);
  CHECK(gpu::kendall_all_pairs(x, cuda_best.options(), sink).edges == wanted.edges);
  CHECK(gpu::kendall_all_pairs(x, y, cuda_best.options(), sink).edges ==
        gpu::kendall_all_pairs(data.view(), other.view(), cpu_tiled.options(), sink).edges);
  CHECK(gpu::kendall_ties(x) == gpu::kendall_ties(data));

  const gpu::index_t rows = data.rows();
  const device_array<std::uint32_t> degree(static_cast<std::size_t>(rows));
  const device_array<std::uint64_t> totals(3);
  for (const gpu::pair_filter& each :
       {keep, gpu::pair_filter{.max_p = 0.05, .adjust = gpu::adjustment::bonferroni},
        gpu::pair_filter{.max_p = 0.02, .min_abs = 0.4, .side = gpu::tail::greater}}) {
    gpu::kendall_all_pairs(
        x, cuda_best.options(),
        gpu::device_count_sink{
            .degree = {degree.data(), rows}, .totals = {totals.data(), 3}, .keep = each});
    std::vector<std::uint32_t> degrees(static_cast<std::size_t>(rows));
    degree.copy_to(degrees.data());
    CHECK(degrees ==
          gpu::kendall_all_pairs(data.view(), cpu_tiled.options(), gpu::count_sink{.keep = each})
              .degree);
  }

  const device_table<double> dense(rows, rows, 1);
  gpu::kendall_all_pairs(x, cuda_best.options(), gpu::device_dense_sink{.out = dense.view()});
  CHECK(same_matrix(dense.read(), gpu::kendall_all_pairs(data.view(), cpu_tiled.options())));

  const device_table<gpu::node_id> index(rows, 5);
  const device_table<double> statistic(rows, 5);
  gpu::kendall_all_pairs(x, cuda_best.options(),
                         gpu::device_top_k_sink{.index = index.view(),
                                                .statistic = statistic.view(),
                                                .count = {degree.data(), rows},
                                                .keep = keep});
  const auto best = gpu::kendall_all_pairs(data.view(), cpu_tiled.options(),
                                           gpu::top_k_sink{.k = 5, .keep = keep});
  const auto got_index = index.read();
  CHECK(std::equal(got_index.data(), got_index.data() + rows * 5, best.index.data()));
  CHECK(same_matrix(statistic.read(), best.statistic));

  const device_array<gpu::edge> edges(10);
  const device_array<std::uint64_t> found(1);
  CHECK_THROWS_AS(gpu::kendall_all_pairs(x, cuda_best.options(),
                                         gpu::device_edge_sink{.edges = {edges.data(), 10},
                                                               .found = {found.data(), 1}}),
                  gpu::unsupported);
}

TEST_CASE("Kendall of prepared rows on CUDA", "[kendall]") {
  using namespace gpu_test;
  const auto data = mixed_rows<float>(900, 26, 31);
  const auto queries = mixed_rows<float>(70, 26, 32);
  const gpu::edge_sink sink{.keep = {.max_p = 1e-3}};
  const gpu::edge_sink hochberg{
      .keep = {.max_p = 0.05, .adjust = gpu::adjustment::benjamini_hochberg}};
  const auto prepared = gpu::prepare_rows(gpu::measure::kendall, data.view(), cuda_best.options());
  CHECK(gpu::kendall_ties(prepared) == gpu::kendall_ties(data));
  for (const gpu::edge_sink& each : {sink, hochberg}) {
    CHECK(gpu::all_pairs(gpu::measure::kendall, queries.view(), prepared, cuda_best.options(), each)
              .edges ==
          gpu::kendall_all_pairs(queries.view(), data.view(), cpu_tiled.options(), each).edges);
  }
}

TEST_CASE("Kendall that does not fit the device's budget is refused", "[kendall]") {
  gpu::pair_options options = gpu_test::cuda_best.options();
  options.exec.workspace_bytes = std::size_t{1} << 20;
  CHECK_THROWS_AS(gpu::kendall_all_pairs(gpu_test::mixed_rows<float>(500, 60, 1).view(), options,
                                         gpu::edge_sink{}),
                  gpu::out_of_memory);
}
