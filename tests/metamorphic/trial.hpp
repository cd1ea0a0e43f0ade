#pragma once
// Random jobs of all pairs for tests that compare a job with a changed one: what a change of the
// input must do to the result is known, whatever the result is.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <random>
#include <span>
#include <tuple>
#include <vector>

#include <gpu/all_pairs.hpp>

#include "support/catch.hpp"

namespace gpu_test {

/// One job: values from 0 to 100 that every element type holds, a cut, and how it runs.
struct trial {
  std::uint64_t seed = 0;
  gpu::matrix<std::int32_t> data;
  gpu::pair_filter keep;
  gpu::pair_options options;
};

/// Rows in groups that move together, so that every cut keeps some pairs; ties, constant rows and
/// equal rows among them.
inline gpu::matrix<std::int32_t> random_groups(std::mt19937_64& engine) {
  const auto up_to = [&](gpu::index_t most) {
    return static_cast<gpu::index_t>(engine() % static_cast<std::uint64_t>(most + 1));
  };
  const gpu::index_t rows = 2 + up_to(engine() % 4 == 0 ? 140 : 40);
  const gpu::index_t cols = 3 + up_to(engine() % 4 == 0 ? 140 : 37);
  const gpu::index_t largest = engine() % 2 == 0 ? 100 : 1 + up_to(8);
  const gpu::index_t groups = 1 + up_to(5);
  const gpu::index_t noise = 1 + up_to(9);
  gpu::matrix<std::int32_t> centres(groups, cols);
  for (gpu::index_t k = 0; k < groups * cols; ++k) {
    centres.data()[k] = static_cast<std::int32_t>(up_to(largest));
  }
  gpu::matrix<std::int32_t> out(rows, cols);
  for (gpu::index_t i = 0; i < rows; ++i) {
    const bool is_constant = engine() % 30 == 0;
    const bool repeats = i > 0 && engine() % 8 == 0;
    const gpu::index_t group = up_to(groups - 1);
    for (gpu::index_t j = 0; j < cols; ++j) {
      const bool is_noise = up_to(9) < noise;
      out(i, j) = is_constant ? 7
                  : repeats   ? out(i - 1, j)
                  : is_noise  ? static_cast<std::int32_t>(up_to(largest))
                              : centres(group, j);
    }
  }
  return out;
}

inline trial random_trial(std::uint64_t seed) {
  std::mt19937_64 engine(seed);
  trial out{.seed = seed, .data = random_groups(engine), .keep = {}, .options = {}};
  constexpr double cuts[] = {1.0, 0.7, 0.0513, 1.1e-3, 1.3e-6, 1.7e-9};
  out.keep.max_p = cuts[engine() % 6];
  if (engine() % 3 == 0) out.keep.min_abs = 0.3137;
  out.keep.side = static_cast<gpu::tail>(engine() % 3);
  out.keep.adjust = static_cast<gpu::adjustment>(engine() % 3);
  out.options.exec.target = gpu::backend::cpu;
  out.options.exec.cpu_threads = 1 + static_cast<int>(engine() % 2);
  out.options.fold = static_cast<gpu::row_folding>(engine() % 3);
  if (engine() % 3 == 0) out.options.variant = gpu::pair_variant::naive;
  return out;
}

using gpu::measure;

template <class T, class Sink>
auto run(measure statistic, const gpu::matrix<T>& data, gpu::pair_options options,
         const Sink& sink) {
  // Pearson has no ranks to fold by.
  if (statistic == measure::pearson) options.fold = gpu::row_folding::automatic;
  return gpu::all_pairs(statistic, data.view(), options, sink);
}

template <class T>
std::vector<gpu::edge> edges_of(measure statistic, const gpu::matrix<T>& data, const trial& job) {
  const auto result = run(statistic, data, job.options, gpu::edge_sink{.keep = job.keep});
  return {result.edges.begin(), result.edges.end()};
}

/// data with each value changed by `change`.
template <class T, class Change>
gpu::matrix<T> mapped(const gpu::matrix<std::int32_t>& data, const Change& change) {
  gpu::matrix<T> out(data.rows(), data.cols());
  for (gpu::index_t k = 0; k < data.rows() * data.cols(); ++k) {
    out.data()[k] = static_cast<T>(change(data.data()[k]));
  }
  return out;
}

/// Row i of the result is row order[i] of `data`.
template <class T>
gpu::matrix<T> with_rows(const gpu::matrix<T>& data, const std::vector<gpu::index_t>& order) {
  gpu::matrix<T> out(static_cast<gpu::index_t>(order.size()), data.cols());
  for (gpu::index_t i = 0; i < out.rows(); ++i) {
    const auto source = data.row(order[static_cast<std::size_t>(i)]);
    std::copy(source.begin(), source.end(), out.row(i).begin());
  }
  return out;
}

inline std::vector<gpu::index_t> random_order(gpu::index_t count, std::uint64_t seed) {
  std::vector<gpu::index_t> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), gpu::index_t{0});
  std::mt19937_64 engine(seed);
  std::shuffle(order.begin(), order.end(), engine);
  return order;
}

inline void sort_by_place(std::vector<gpu::edge>& edges) {
  std::sort(edges.begin(), edges.end(), [](const gpu::edge& a, const gpu::edge& b) {
    return std::tie(a.row, a.col) < std::tie(b.row, b.col);
  });
}

/// Edges between rows order[i] and order[j], for edges between i and j.
inline std::vector<gpu::edge> named_by(std::vector<gpu::edge> edges,
                                       const std::vector<gpu::index_t>& order) {
  for (gpu::edge& e : edges) {
    const auto a = static_cast<gpu::node_id>(order[e.row]);
    const auto b = static_cast<gpu::node_id>(order[e.col]);
    e.row = std::min(a, b);
    e.col = std::max(a, b);
  }
  sort_by_place(edges);
  return edges;
}

/// Whether both are the same but for rounding of the last places, which p magnifies near 1 and -1.
inline bool are_close(std::span<const gpu::edge> a, const std::vector<gpu::edge>& b) {
  return std::equal(
      a.begin(), a.end(), b.begin(), b.end(), [](const gpu::edge& x, const gpu::edge& y) {
        return x.row == y.row && x.col == y.col && std::abs(x.statistic - y.statistic) <= 1e-13 &&
               (std::abs(x.statistic) > 1 - 1e-6 ||
                std::abs(x.p - y.p) <= 1e-7 * std::max(x.p, y.p));
      });
}

#define GPU_TEST_TRIAL_INFO(job)                                                                   \
  INFO("seed " << (job).seed << ", " << (job).data.rows() << " x " << (job).data.cols()            \
               << ", max_p " << (job).keep.max_p << ", side " << static_cast<int>((job).keep.side) \
               << ", adjust " << static_cast<int>((job).keep.adjust) << ", fold "                  \
               << static_cast<int>((job).options.fold))

}  // namespace gpu_test
