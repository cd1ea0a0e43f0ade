#include "cosine/cosine_cases.hpp"

using gpu_test::pair_target;

namespace {

constexpr pair_target tiled{.where = gpu::backend::cpu, .variant = gpu::pair_variant::tiled};
constexpr pair_target naive{.where = gpu::backend::cpu, .variant = gpu::pair_variant::naive};

}  // namespace

TEST_CASE("Cosine, CPU tiled", "[cosine]") {
  gpu_test::run_cosine_cases(tiled);
}

TEST_CASE("Cosine, CPU naive", "[cosine][naive]") {
  gpu_test::run_cosine_cases(naive);
}

// Rows of +1 and -1: every product of rounded values is the same, so that the roundings of a sum in
// single precision go in one direction and are no smaller than the margin allows for.
TEST_CASE("Sums in single precision that drift lose and add no pair", "[cosine]") {
  for (gpu::index_t cols = 260; cols < 512; cols += 7) {
    gpu::matrix<float> data(40, cols);
    for (gpu::index_t i = 0; i < data.rows(); ++i) {
      for (gpu::index_t k = 0; k < cols; ++k) {
        const bool is_turned = i < 20 ? k < i % 5 : (k * 37 + i * 11) % 23 < 11;
        data(i, k) = is_turned ? -1.0F : 1.0F;
      }
    }
    const auto dense = gpu::cosine_all_pairs(data.view(), naive.options());
    for (const gpu::index_t j : {1, 2, 4}) {
      for (const double cut : {dense(0, j), std::nextafter(dense(0, j), 2.0)}) {
        INFO(cols << " columns, cut " << cut);
        const gpu::count_sink sink{.keep = {.min_abs = cut}};
        const auto got = gpu::cosine_all_pairs(data.view(), tiled.options(), sink);
        const auto wanted = gpu::cosine_all_pairs(data.view(), naive.options(), sink);
        CHECK(got.kept == wanted.kept);
        CHECK(got.degree == wanted.degree);
        const gpu::edge_sink edges{.keep = sink.keep};
        CHECK(gpu::cosine_all_pairs(data.view(), tiled.options(), edges).edges.size() ==
              wanted.kept);
      }
    }
  }
}

TEST_CASE("Cosine is the product of the rows over their lengths", "[cosine]") {
  const std::vector<double> values{1, 2, 3, -1, 0.5, 2, 4, 4, 4};
  const auto got = gpu::cosine_all_pairs(gpu::as_matrix(values, 3, 3));
  CHECK(got(0, 1) == Approx(6 / std::sqrt(14 * 5.25)));
  CHECK(got(0, 2) == Approx(24 / std::sqrt(14.0 * 48)));
  CHECK(got(1, 2) == Approx(6 / std::sqrt(5.25 * 48)));
}
