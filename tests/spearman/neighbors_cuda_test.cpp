// Top-k on a device with warpgroup tensor cores: the lists must be the CPU's, bit for bit, however
// many ties there are and wherever groups, panels and depths begin.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <gpu/all_pairs.hpp>
#include <gpu/execution.hpp>

#include "reference/correlation_reference.hpp"
#include "support/catch.hpp"
#include "support/device_offers.hpp"
#include "support/generators.hpp"

namespace {

using gpu::index_t;
using gpu::neighbor_order;

// Tensor cores at all.
bool is_offered() {
  return gpu_test::applies(gpu::pair_variant::tensor);
}

// The device's best, and the tensor cores without warpgroups.
const gpu::pair_options cuda{.exec = {.target = gpu::backend::cuda}};
const gpu::pair_options cuda_tensor{.variant = gpu::pair_variant::tensor,
                                    .exec = {.target = gpu::backend::cuda}};
const gpu::pair_options cpu{.exec = {.target = gpu::backend::cpu}};

// Number of rows whose lists differ.
index_t differences(const gpu::neighbor_table& got, const gpu::neighbor_table& wanted) {
  index_t different = got.count == wanted.count ? 0 : 1;
  for (index_t i = 0; i < wanted.index.rows(); ++i) {
    bool same = true;
    for (index_t e = 0; e < wanted.index.cols(); ++e) {
      const double a = got.statistic(i, e);
      const double b = wanted.statistic(i, e);
      same = same && got.index(i, e) == wanted.index(i, e) && (a == b || (a != a && b != b));
    }
    different += same ? 0 : 1;
  }
  return different;
}

template <class T>
void check_spearman(const gpu::matrix<T>& x, const gpu::top_k_sink& sink) {
  INFO(x.rows() << " x " << x.cols() << ", k " << sink.k << ", order "
                << static_cast<int>(sink.order) << ", p " << sink.keep.max_p << ", least "
                << sink.keep.min_abs << ", tail " << static_cast<int>(sink.keep.side));
  const auto wanted = gpu::spearman_all_pairs(x.view(), cpu, sink);
  CHECK(differences(gpu::spearman_all_pairs(x.view(), cuda, sink), wanted) == 0);
  CHECK(differences(gpu::spearman_all_pairs(x.view(), cuda_tensor, sink), wanted) == 0);
}

template <class T>
void check_pearson(const gpu::matrix<T>& x, const gpu::top_k_sink& sink) {
  INFO(x.rows() << " x " << x.cols() << ", k " << sink.k << ", order "
                << static_cast<int>(sink.order));
  CHECK(differences(gpu::pearson_all_pairs(x.view(), cuda, sink),
                    gpu::pearson_all_pairs(x.view(), cpu, sink)) == 0);
}

// `patterns` different rows, each many times, every third copy mirrored, every seventh constant.
gpu::matrix<std::int32_t> repeated_rows(index_t rows, index_t cols, index_t patterns) {
  const auto distinct = gpu_test::tied_matrix<std::int32_t>(patterns, cols, 9);
  gpu::matrix<std::int32_t> out(rows, cols);
  for (index_t i = 0; i < rows; ++i) {
    const std::int32_t sign = i % 3 == 2 ? -1 : 1;
    for (index_t j = 0; j < cols; ++j) {
      out(i, j) = i % 7 == 6 ? 3 : sign * distinct(i * i % patterns, j);
    }
  }
  return out;
}

constexpr neighbor_order orders[] = {neighbor_order::by_value, neighbor_order::by_absolute_value};

}  // namespace

TEST_CASE("Neighbours are the CPU's at every edge of groups and panels", "[spearman][neighbors]") {
  if (!is_offered()) return;
  for (const index_t rows : {1, 2, 3, 127, 128, 129, 383, 385, 512, 1535, 1536, 1537, 3100}) {
    const auto x = gpu_test::tied_matrix<std::int32_t>(rows, 30, 31, 0.7, 12);
    for (const neighbor_order order : orders) check_spearman(x, {.k = 10, .order = order});
  }
}

TEST_CASE("Neighbours are the CPU's at every depth", "[spearman][neighbors]") {
  if (!is_offered()) return;
  for (const index_t cols : {3, 4, 5, 16, 31, 32, 33, 64, 65, 96, 97, 128}) {
    const auto x = gpu_test::tied_matrix<std::int32_t>(1700, cols, 32, 0.9, 9);
    for (const neighbor_order order : orders) check_spearman(x, {.k = 7, .order = order});
  }
}

TEST_CASE("Lists of every length are the CPU's", "[spearman][neighbors]") {
  if (!is_offered()) return;
  const auto x = gpu_test::tied_matrix<std::int32_t>(2100, 30, 33, 0.9, 6);
  for (const index_t k : {1, 2, 31, 32, 33, 100, 127, 128, 129, 400}) {
    for (const neighbor_order order : orders) check_spearman(x, {.k = k, .order = order});
  }
  check_spearman(gpu_test::tied_matrix<std::int32_t>(50, 30, 33), {.k = 100});
}

TEST_CASE("Filtered neighbours are the CPU's", "[spearman][neighbors]") {
  if (!is_offered()) return;
  const auto x = gpu_test::tied_matrix<std::int32_t>(1600, 30, 34, 0.9, 6);
  for (const gpu::tail side : {gpu::tail::two_sided, gpu::tail::greater, gpu::tail::less}) {
    for (const neighbor_order order : orders) {
      for (const index_t k : {3, 60}) {
        check_spearman(x, {.k = k, .keep = {.max_p = 0.05, .side = side}, .order = order});
        check_spearman(x, {.k = k, .keep = {.max_p = 1e-6, .side = side}, .order = order});
        check_spearman(x, {.k = k, .keep = {.max_p = 0.9, .side = side}, .order = order});
        check_spearman(x, {.k = k, .keep = {.min_abs = 0.75, .side = side}, .order = order});
        check_spearman(x, {.k = k, .keep = {.min_abs = 1.0, .side = side}, .order = order});
      }
    }
  }
}

TEST_CASE("Ties go to the lowest partner however many there are", "[spearman][neighbors]") {
  if (!is_offered()) return;
  for (const index_t patterns : {1, 2, 7, 90, 700}) {
    const auto x = repeated_rows(2500, 30, patterns);
    for (const neighbor_order order : orders) {
      for (const index_t k : {1, 10, 100}) check_spearman(x, {.k = k, .order = order});
    }
  }
  // Three columns have thirteen rank vectors; one nonzero of thirty has thirty.
  check_spearman(gpu_test::tied_matrix<std::int32_t>(3000, 3, 35), {.k = 20});
  auto spikes = gpu_test::tied_matrix<std::int32_t>(3000, 30, 36, 0.0, 1);
  for (index_t i = 0; i < spikes.rows(); ++i) {
    for (index_t j = 0; j < 30; ++j) {
      spikes(i, j) = j == i * 7 % 30 ? 2 : (i % 5 == 0 && j == i % 29 ? 1 : 0);
    }
  }
  for (const neighbor_order order : orders) {
    for (const index_t k : {1, 10, 120}) check_spearman(spikes, {.k = k, .order = order});
  }
}

TEST_CASE("Neighbours are those of an independent oracle", "[spearman][neighbors]") {
  if (!is_offered()) return;
  const auto x = gpu_test::tied_matrix<std::int32_t>(700, 30, 37, 0.98, 8);
  const auto rho = gpu_test::reference_spearman(gpu::matrix_view<const std::int32_t>(x.view()));
  for (const neighbor_order order : orders) {
    const auto got =
        gpu::spearman_all_pairs(x.view(), cuda, gpu::top_k_sink{.k = 12, .order = order});
    index_t wrong = 0;
    for (std::size_t i = 0; i < rho.size(); ++i) {
      std::vector<std::size_t> partners;
      for (std::size_t j = 0; j < rho.size(); ++j) {
        if (j != i && rho[i][j] == rho[i][j]) partners.push_back(j);
      }
      std::stable_sort(partners.begin(), partners.end(), [&](std::size_t a, std::size_t b) {
        if (order == neighbor_order::by_value) return rho[i][a] > rho[i][b];
        return std::abs(rho[i][a]) > std::abs(rho[i][b]);
      });
      const std::size_t count = std::min<std::size_t>(12, partners.size());
      wrong += got.count[i] != count;
      for (std::size_t e = 0; e < count; ++e) {
        wrong += got.index(static_cast<index_t>(i), static_cast<index_t>(e)) != partners[e];
        wrong +=
            got.statistic(static_cast<index_t>(i), static_cast<index_t>(e)) != rho[i][partners[e]];
      }
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("A small workspace finds the same neighbours in several blocks",
          "[spearman][neighbors]") {
  if (!is_offered()) return;
  const auto x = gpu_test::tied_matrix<std::int32_t>(8000, 30, 38, 0.9, 6);
  const auto wanted = gpu::spearman_all_pairs(x.view(), cuda, gpu::top_k_sink{.k = 5});
  for (const std::size_t bytes :
       {std::size_t{3} << 20, std::size_t{4} << 20, std::size_t{1} << 20}) {
    gpu::pair_options small = cuda;
    small.exec.workspace_bytes = bytes;
    CHECK(differences(gpu::spearman_all_pairs(x.view(), small, gpu::top_k_sink{.k = 5}), wanted) ==
          0);
  }
}

TEST_CASE("Pearson's neighbours are the CPU's", "[pearson][neighbors]") {
  if (!is_offered()) return;
  for (const index_t cols : {3, 8, 30, 32, 33, 64, 65, 97, 128}) {
    const auto smooth = gpu_test::random_matrix<double>(1600, cols, 39);
    const auto counts = gpu_test::tied_matrix<float>(1600, cols, 40);
    for (const neighbor_order order : orders) {
      check_pearson(smooth, {.k = 10, .order = order});
      check_pearson(counts, {.k = 10, .keep = {.max_p = 0.5}, .order = order});
    }
  }
  auto strange = gpu_test::random_matrix<double>(500, 30, 41);
  strange(3, 4) = std::numeric_limits<double>::infinity();
  for (index_t j = 0; j < 30; ++j) strange(7, j) = 1e-300 * strange(9, j), strange(8, j) = 5;
  check_pearson(strange, {.k = 10});
}
