// Random tables with missing values, of one to 600 rows, so that every way of the sinks is taken:
// edges, counts and best partners must be those that the dense result and p of each pair say. The
// dense result has an oracle in missing_cases.hpp.
#include <algorithm>
#include <cmath>
#include <optional>
#include <random>
#include <vector>

#include <gpu/observations.hpp>

#include "missing/missing_cases.hpp"

using gpu_test::pair_target;

namespace {

// What is drawn for a call.
struct random_call {
  gpu::measure what;
  gpu::index_t masks;  // 0: scattered
  gpu::matrix<double> x;
  std::optional<gpu::matrix<double>> y;
  gpu::pair_options options;
  gpu::top_k_sink best;
  gpu::matrix<double> statistics = {};
  gpu::matrix<gpu::node_id> shared = {};

  template <class Sink>
  [[nodiscard]] auto run(const Sink& sink) const {
    return y ? gpu::all_pairs(what, x.view(), y->view(), options, sink)
             : gpu::all_pairs(what, x.view(), options, sink);
  }
  [[nodiscard]] gpu::index_t cols() const { return (y ? *y : x).rows(); }
  [[nodiscard]] bool keeps(gpu::index_t i, gpu::index_t j) const {
    const double r = statistics(i, j);
    if ((!y && i == j) || !(std::abs(r) >= best.keep.min_abs)) return false;
    return best.keep.max_p >= 1 ||
           gpu::correlation_p_value(r, gpu::index_t{shared(i, j)}) <= best.keep.max_p;
  }
};

class generator {
 public:
  explicit generator(std::uint64_t seed) : random_(seed) {}

  gpu::index_t from(gpu::index_t least, gpu::index_t most) {
    return least +
           static_cast<gpu::index_t>(random_() % static_cast<std::uint64_t>(most - least + 1));
  }
  bool is_heads() { return from(0, 1) == 1; }
  double unit() { return static_cast<double>(random_() >> 11U) * 0x1p-53; }

  // Rows [begin, end) of a table, of which every fourth moves with the others; some are constant.
  gpu::matrix<double> rows(gpu::index_t begin, gpu::index_t end, gpu::index_t cols,
                           gpu::index_t masks, double share, bool is_tied) {
    std::normal_distribution<double> normal;
    gpu::matrix<double> out(end - begin, cols);
    for (gpu::index_t i = 0; i < out.rows(); ++i) {
      const gpu::index_t row = begin + i;
      generator mask(masks > 0 ? 77 + static_cast<std::uint64_t>(row % masks) : random_());
      const bool is_constant = from(0, 60) == 0;
      for (gpu::index_t k = 0; k < cols; ++k) {
        double value = normal(random_);
        if (row % 4 == 0) value += 2 * std::sin(static_cast<double>(5 * k));
        if (is_tied) value = std::floor(1.5 * value);
        out(i, k) = mask.unit() < share ? gpu_test::missing : is_constant ? 3 : value;
      }
    }
    return out;
  }

 private:
  std::mt19937_64 random_;
};

random_call draw(std::uint64_t seed) {
  constexpr gpu::measure measures[]{gpu::measure::spearman, gpu::measure::pearson,
                                    gpu::measure::cosine, gpu::measure::bicor};
  constexpr gpu::index_t mask_counts[]{0, 1, 2, 5, 20};
  generator random(seed);
  random_call out{.what = measures[random.from(0, 3)],
                  .masks = mask_counts[random.from(0, 4)],
                  .x = {},
                  .y = {},
                  .options = gpu_test::pairwise_options({.where = gpu::backend::cpu}),
                  .best = {}};
  const gpu::index_t rows = random.is_heads() ? random.from(2, 60) : random.from(250, 600);
  const gpu::index_t cols = random.from(3, 140);
  const double share = 0.02 + 0.08 * static_cast<double>(random.from(0, 2));
  const bool is_tied = random.is_heads();
  const gpu::index_t first = random.from(0, 2) == 0 ? random.from(1, rows - 1) : rows;
  out.x = random.rows(0, first, cols, out.masks, share, is_tied);
  if (first < rows) out.y = random.rows(first, rows, cols, out.masks, share, is_tied);
  out.options.min_observations = random.from(0, 2) == 0 ? random.from(3, cols) : 3;
  out.options.exec.cpu_threads = static_cast<int>(random.from(1, 2));
  if (random.from(0, 3) == 0) {
    out.options.exec.workspace_bytes = static_cast<std::size_t>(random.from(8, 40)) << 20U;
  }
  if (random.is_heads()) out.best.keep.min_abs = 0.6 * random.unit();
  if (out.what != gpu::measure::cosine && random.is_heads()) {
    out.best.keep.max_p = std::pow(10.0, -static_cast<double>(random.from(1, 4)));
  }
  out.best.k = random.from(1, 12);
  out.best.order =
      random.is_heads() ? gpu::neighbor_order::by_value : gpu::neighbor_order::by_absolute_value;
  return out;
}

// Pairs of which edges or degrees differ.
gpu::index_t wrong_edges(const random_call& call) {
  const auto edges = call.run(gpu::edge_sink{.keep = call.best.keep});
  const auto counts = call.run(gpu::count_sink{.keep = call.best.keep});
  gpu::index_t wrong = 0;
  auto next = edges.edges.begin();
  for (gpu::index_t i = 0; i < call.x.rows(); ++i) {
    gpu::index_t degree = 0;
    for (gpu::index_t j = 0; j < call.cols(); ++j) {
      if (!call.keeps(i, j)) continue;
      ++degree;
      if (!call.y && j < i) continue;
      const bool is_next = next != edges.edges.end() && next->row == i && next->col == j &&
                           next->statistic == call.statistics(i, j);
      if (is_next) {
        ++next;
      } else {
        ++wrong;
      }
    }
    wrong += gpu::index_t{counts.degree[static_cast<std::size_t>(i)]} != degree;
  }
  return wrong + (edges.edges.end() - next);
}

// Rows whose best partners differ.
gpu::index_t wrong_partners(const random_call& call) {
  const auto got = call.run(call.best);
  gpu::index_t wrong = 0;
  for (gpu::index_t i = 0; i < call.x.rows(); ++i) {
    const auto best = gpu_test::best_partners(
        call.best, call.cols(), [&](gpu::index_t j) { return call.statistics(i, j); },
        [&](gpu::index_t j) { return call.keeps(i, j); });
    wrong += !gpu_test::has_partners(got, i, best);
  }
  return wrong;
}

}  // namespace

TEST_CASE("Every sink of random tables with missing values", "[missing]") {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    random_call call = draw(seed);
    INFO("seed " << seed << ": " << gpu::info_of(call.what).name << ", " << call.x.rows() << " and "
                 << (call.y ? call.y->rows() : 0) << " x " << call.x.cols() << ", " << call.masks
                 << " masks, k " << call.best.k << ", min_abs " << call.best.keep.min_abs
                 << ", max_p " << call.best.keep.max_p << ", min_observations "
                 << call.options.min_observations);
    const auto dense = call.run(gpu::dense_sink{});
    call.statistics = gpu::matrix<double>(call.x.rows(), call.cols());
    for (gpu::index_t i = 0; i < call.x.rows(); ++i) {
      for (gpu::index_t j = 0; j < call.cols(); ++j) call.statistics(i, j) = dense(i, j);
    }
    call.shared = call.y ? gpu::shared_observations(call.x.view(), call.y->view())
                         : gpu::shared_observations(call.x.view());
    CHECK(wrong_edges(call) == 0);
    CHECK(wrong_partners(call) == 0);
  }
}

TEST_CASE("Complete rows of too few columns have no statistic", "[missing]") {
  const auto data = gpu_test::random_matrix<float>(40, 6, 3);
  for (const gpu::measure what : gpu::all_measures()) {
    for (const gpu::index_t least : {6, 7}) {
      gpu::pair_options options{.nans = gpu::nan_policy::pairwise, .min_observations = least};
      options.exec.target = gpu::backend::cpu;
      const auto edges = gpu::all_pairs(what, data.view(), options, gpu::edge_sink{});
      CHECK(edges.edges.size() == (least == 6 ? 780U : 0U));
      CHECK(edges.summary.pairs_tested == (least == 6 ? 780U : 0U));
      CHECK(std::isnan(gpu::all_pairs(what, data.view(), options)(0, 1)) == (least == 7));
    }
  }
}
