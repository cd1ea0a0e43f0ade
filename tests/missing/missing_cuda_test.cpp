#include "missing/missing_cases.hpp"

using gpu_test::pair_target;

namespace {

constexpr pair_target device{.where = gpu::backend::cuda};
constexpr pair_target host{.where = gpu::backend::cpu};
const std::vector<std::pair<gpu::index_t, gpu::index_t>> shapes{
    {2, 3}, {9, 5}, {40, 30}, {33, 100}, {21, 257}};

bool same_bits(double a, double b) {
  return a == b || (a != a && b != b);
}

// Every sink on both backends, bit for bit.
void backends_agree(gpu::measure what, const gpu::matrix<double>& data, double min_abs) {
  const auto on = [&](const pair_target& where, const auto& sink) {
    return gpu::all_pairs(what, data.view(), gpu_test::pairwise_options(where), sink);
  };
  const auto dense = on(device, gpu::dense_sink{});
  const auto wanted = on(host, gpu::dense_sink{});
  std::size_t wrong = 0;
  for (gpu::index_t i = 0; i < data.rows(); ++i) {
    for (gpu::index_t j = 0; j < data.rows(); ++j) wrong += !same_bits(dense(i, j), wanted(i, j));
  }
  CHECK(wrong == 0);
  CHECK(dense.summary.constant_rows == wanted.summary.constant_rows);
  const bool has_p = what != gpu::measure::cosine;
  const gpu::pair_filter keep{.max_p = has_p ? 1e-3 : 1.0, .min_abs = min_abs};
  CHECK(on(device, gpu::edge_sink{.keep = keep}).summary.checksum ==
        on(host, gpu::edge_sink{.keep = keep}).summary.checksum);
  CHECK(on(device, gpu::count_sink{.keep = keep}).degree ==
        on(host, gpu::count_sink{.keep = keep}).degree);
  CHECK(on(device, gpu::top_k_sink{.k = 7, .keep = keep}).summary.checksum ==
        on(host, gpu::top_k_sink{.k = 7, .keep = keep}).summary.checksum);
  if (!has_p) return;
  const gpu::pair_filter found{.max_p = 0.05, .adjust = gpu::adjustment::benjamini_hochberg};
  const auto edges = on(device, gpu::edge_sink{.keep = found});
  const auto others = on(host, gpu::edge_sink{.keep = found});
  CHECK(edges.summary.checksum == others.summary.checksum);
  CHECK(edges.summary.pairs_tested == others.summary.pairs_tested);
  CHECK(
      std::equal(edges.edges.begin(), edges.edges.end(), others.edges.begin(), others.edges.end()));
}

}  // namespace

TEST_CASE("Missing values on CUDA equal the oracle", "[missing][cuda]") {
  gpu_test::run_missing_cases(device, gpu_test::missing_spearman, shapes);
  gpu_test::run_missing_cases(device, gpu_test::missing_pearson, shapes);
  gpu_test::run_missing_cases(device, gpu_test::missing_cosine, {{40, 30}, {33, 100}});
  gpu_test::run_missing_cases(device, gpu_test::missing_spearman, {{4, 4200}});
}

TEST_CASE("Missing values on CUDA have the CPU's bits", "[missing][cuda]") {
  for (const gpu_test::holes kind : {gpu_test::holes::scattered, gpu_test::holes::many,
                                     gpu_test::holes::masks, gpu_test::holes::tied}) {
    for (const auto& [rows, cols] : std::vector<std::pair<gpu::index_t, gpu::index_t>>{
             {700, 100}, {1500, 31}, {300, 1300}, {130, 5003}}) {
      INFO(rows << " x " << cols << ", holes " << static_cast<int>(kind));
      const auto data = gpu_test::rows_with_holes(rows, cols, kind, 99);
      backends_agree(gpu::measure::spearman, data, 0.1);
      backends_agree(gpu::measure::pearson, data, 0.1);
      backends_agree(gpu::measure::cosine, data, 0.6137);
    }
  }
}

TEST_CASE("Few missing values on CUDA", "[missing][cuda][small]") {
  const auto data = gpu_test::rows_with_holes(40, 37, gpu_test::holes::tied, 5);
  backends_agree(gpu::measure::spearman, data, 0.1);
  backends_agree(gpu::measure::pearson, data, 0.1);
  backends_agree(gpu::measure::spearman,
                 gpu_test::rows_with_holes(20, 300, gpu_test::holes::many, 6), 0.1);
}
