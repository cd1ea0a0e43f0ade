#pragma once
// Cases of a measure of unit rows on CUDA that need a device: tables and results in its memory, and
// rows that do not fit the budget.

#include <algorithm>
#include <cstdint>
#include <vector>

#include <gpu/similarity.hpp>

#include "support/catch.hpp"
#include "support/device_memory.hpp"
#include "support/device_offers.hpp"
#include "support/device_table.hpp"
#include "support/pair_target.hpp"
#include "support/same_or_nan.hpp"

namespace gpu_test {

inline constexpr pair_target cpu_tiled{.where = gpu::backend::cpu,
                                       .variant = gpu::pair_variant::tiled};
inline constexpr pair_target cuda_naive{.where = gpu::backend::cuda,
                                        .variant = gpu::pair_variant::naive};
inline constexpr pair_target cuda_shared{.where = gpu::backend::cuda,
                                         .variant = gpu::pair_variant::shared_tiled};
inline pair_target cuda_tensor() {
  return {.where = gpu::backend::cuda, .variant = tensor_or_tiles()};
}
inline constexpr pair_target cuda_best{.where = gpu::backend::cuda};

/// Edges and degrees of a table in device memory, to the host and to device memory.
inline void measure_of_device_tables(gpu::measure what, const gpu::matrix<float>& data,
                                     const gpu::pair_filter& keep) {
  const device_table<float> there(data, 3);
  const gpu::device_matrix_view<const float> view = there.view();
  const gpu::edge_sink sink{.keep = keep};
  const auto wanted = gpu::all_pairs(what, data.view(), cpu_tiled.options(), sink);
  CHECK(wanted.edges.size() > 1000);
  CHECK(gpu::all_pairs(what, view, cuda_best.options(), sink).summary.checksum ==
        wanted.summary.checksum);

  const auto capacity = static_cast<gpu::index_t>(wanted.edges.size()) + 5;
  const device_array<gpu::edge> edges(static_cast<std::size_t>(capacity));
  const device_array<std::uint64_t> found(1);
  gpu::all_pairs(what, view, cuda_best.options(),
                 gpu::device_edge_sink{
                     .edges = {edges.data(), capacity}, .found = {found.data(), 1}, .keep = keep});
  std::vector<gpu::edge> got(static_cast<std::size_t>(capacity));
  edges.copy_to(got.data());
  std::uint64_t number = 0;
  found.copy_to(&number);
  CHECK(number == wanted.edges.size());
  gpu::index_t wrong = 0;
  for (std::size_t e = 0; e < wanted.edges.size(); ++e) {
    wrong += got[e].row != wanted.edges[e].row || got[e].col != wanted.edges[e].col ||
             got[e].statistic != wanted.edges[e].statistic ||
             !same_or_nan(got[e].p, wanted.edges[e].p);
  }
  CHECK(wrong == 0);

  const gpu::index_t rows = data.rows();
  const device_array<std::uint32_t> degree(static_cast<std::size_t>(rows));
  gpu::all_pairs(what, view, cuda_best.options(),
                 gpu::device_count_sink{.degree = {degree.data(), rows}, .keep = keep});
  std::vector<std::uint32_t> degrees(static_cast<std::size_t>(rows));
  degree.copy_to(degrees.data());
  CHECK(
      degrees ==
      gpu::all_pairs(what, data.view(), cpu_tiled.options(), gpu::count_sink{.keep = keep}).degree);
}

/// Rows that do not fit the budget are prepared for other tiles, and staged in blocks.
/// `same_dense(a, b)` says whether two dense results of the measure agree.
template <class Same>
void measure_of_staged_rows(gpu::measure what, const gpu::matrix<float>& data,
                            const gpu::pair_filter& keep, const Same& same_dense) {
  const gpu::count_sink counts{.keep = keep, .histogram_bins = 20};
  const gpu::top_k_sink partners{.k = 10};
  const auto wanted = gpu::all_pairs(what, data.view(), cpu_tiled.options(), counts);
  const auto best_partners = gpu::all_pairs(what, data.view(), cpu_tiled.options(), partners);
  const auto wanted_dense =
      gpu::all_pairs(what, data.view(), cpu_tiled.options(), gpu::dense_sink{});
  CHECK(wanted.kept > 1000);
  for (const pair_target& target : {cuda_best, cuda_tensor(), cuda_shared, cuda_naive}) {
    gpu::pair_options options = target.options();
    options.exec.workspace_bytes = std::size_t{1} << 20;
    const auto got = gpu::all_pairs(what, data.view(), options, counts);
    CHECK(got.kept == wanted.kept);
    CHECK(got.degree == wanted.degree);
    CHECK(got.histogram == wanted.histogram);
    const auto edges = gpu::all_pairs(what, data.view(), options, gpu::edge_sink{counts.keep});
    CHECK(edges.edges.size() == wanted.kept);
    const auto found = gpu::all_pairs(what, data.view(), options, partners);
    const auto entries = static_cast<std::size_t>(found.index.rows() * found.index.cols());
    CHECK(std::equal(found.index.data(), found.index.data() + entries, best_partners.index.data()));
    const auto dense = gpu::all_pairs(what, data.view(), options, gpu::dense_sink{});
    gpu::index_t wrong = 0;
    for (gpu::index_t i = 0; i < dense.rows(); ++i) {
      for (gpu::index_t j = 0; j < dense.cols(); ++j) {
        const double a = dense(i, j);
        const double b = wanted_dense(i, j);
        wrong += !(a != a && b != b) && !same_dense(a, b);
      }
    }
    CHECK(wrong == 0);
  }
}

}  // namespace gpu_test
