#pragma once
// What the CUDA backend gives, beside what the CPU gives: the same bits from every sink.

#include <cmath>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <gpu/all_pairs.hpp>
#include <gpu/error.hpp>

#include "support/catch.hpp"
#include "support/generators.hpp"

namespace gpu_test {

struct spearman_op {
  static constexpr const char* name = "spearman";
  template <class T, class Sink>
  static auto run(const gpu::matrix<T>& x, const gpu::pair_options& options, const Sink& sink) {
    return gpu::spearman_all_pairs(x.view(), options, sink);
  }
};
struct pearson_op {
  static constexpr const char* name = "pearson";
  template <class T, class Sink>
  static auto run(const gpu::matrix<T>& x, const gpu::pair_options& options, const Sink& sink) {
    return gpu::pearson_all_pairs(x.view(), options, sink);
  }
};

inline gpu::pair_options cpu_options() {
  return {.exec = {.target = gpu::backend::cpu}};
}
inline gpu::pair_options cuda_options(gpu::pair_variant variant, std::size_t workspace_bytes = 0) {
  return {.variant = variant,
          .exec = {.target = gpu::backend::cuda, .workspace_bytes = workspace_bytes}};
}

/// Element by element, NaN equal to NaN.
template <class Value>
void check_same_values(const gpu::matrix<Value>& got, const gpu::matrix<Value>& wanted,
                       double tolerance = 0) {
  REQUIRE(got.rows() == wanted.rows());
  REQUIRE(got.cols() == wanted.cols());
  std::size_t different = 0;
  for (gpu::index_t i = 0; i < got.rows() * got.cols(); ++i) {
    const double a = static_cast<double>(got.data()[i]);
    const double b = static_cast<double>(wanted.data()[i]);
    const bool same = (a != a && b != b) || std::abs(a - b) <= tolerance;
    different += same ? 0u : 1u;
  }
  CHECK(different == 0);
}

inline void check_same_edges(std::span<const gpu::edge> got, std::span<const gpu::edge> wanted) {
  REQUIRE(got.size() == wanted.size());
  std::size_t different = 0;
  for (std::size_t e = 0; e < got.size(); ++e) different += got[e] == wanted[e] ? 0u : 1u;
  CHECK(different == 0);
}

template <class Op, class T>
void check_edges(const gpu::matrix<T>& x, const gpu::pair_options& options,
                 const gpu::pair_filter& keep) {
  const gpu::edge_sink sink{.keep = keep};
  const auto got = Op::run(x, options, sink);
  const auto wanted = Op::run(x, cpu_options(), sink);
  check_same_edges(got.edges, wanted.edges);
  CHECK(got.summary.constant_rows == wanted.summary.constant_rows);
  CHECK(got.summary.nan_rows == wanted.summary.nan_rows);
  CHECK(got.summary.infinite_rows == wanted.summary.infinite_rows);
  CHECK(got.summary.pairs_tested == wanted.summary.pairs_tested);
}

template <class Op, class T>
void check_counts(const gpu::matrix<T>& x, const gpu::pair_options& options,
                  const gpu::pair_filter& keep, gpu::index_t bins) {
  const gpu::count_sink sink{.keep = keep, .histogram_bins = bins};
  const auto got = Op::run(x, options, sink);
  const auto wanted = Op::run(x, cpu_options(), sink);
  CHECK(got.kept == wanted.kept);
  CHECK(got.tested == wanted.tested);
  CHECK(got.degree == wanted.degree);
  CHECK(got.histogram == wanted.histogram);
}

template <class Op, class T>
void check_top_k(const gpu::matrix<T>& x, const gpu::pair_options& options,
                 const gpu::pair_filter& keep, gpu::index_t k, gpu::neighbor_order order) {
  const gpu::top_k_sink sink{.k = k, .keep = keep, .order = order};
  const auto got = Op::run(x, options, sink);
  const auto wanted = Op::run(x, cpu_options(), sink);
  CHECK(got.count == wanted.count);
  check_same_values(got.index, wanted.index);
  check_same_values(got.statistic, wanted.statistic);
}

}  // namespace gpu_test
