#pragma once
// Pearson as a measure of tests/support/pair_cases.hpp: decisions and edges carry the double
// precision r, a dense result may have float32-level error.

#include <cmath>

#include <gpu/all_pairs.hpp>
#include <gpu/plan.hpp>
#include <gpu/prepared_rows.hpp>

#include "reference/correlation_reference.hpp"

namespace gpu_test {

struct pearson_measure {
  static constexpr bool ties_are_exact = false;

  template <class View, class Sink>
  static auto run(const View& data, const gpu::pair_options& options, const Sink& sink) {
    return gpu::pearson_all_pairs(data, options, sink);
  }
  template <class X, class Y, class Sink>
  static auto against(const X& x, const Y& y, const gpu::pair_options& options, const Sink& sink) {
    return gpu::pearson_all_pairs(x, y, options, sink);
  }
  template <class Data>
  static gpu::prepared_rows prepare(const Data& data, const gpu::pair_options& options = {}) {
    return gpu::prepare_rows(gpu::measure::pearson, data, options);
  }
  template <class View>
  static auto plan(const View& data, const gpu::pair_options& options,
                   const gpu::pair_filter& keep) {
    return gpu::plan_all_pairs(gpu::measure::pearson, data, options, keep);
  }
  template <class X, class Y>
  static auto plan_against(const X& x, const Y& y, const gpu::pair_options& options,
                           const gpu::pair_filter& keep) {
    return gpu::plan_all_pairs(gpu::measure::pearson, x, y, options, keep);
  }
  template <class T>
  static statistic_table oracle(gpu::matrix_view<const T> data) {
    return reference_pearson(data);
  }
  static bool same(double got, double wanted) { return std::abs(got - wanted) <= 4e-15; }
  static bool same_dense(double got, double wanted) { return std::abs(got - wanted) <= 2e-6; }
};

}  // namespace gpu_test
