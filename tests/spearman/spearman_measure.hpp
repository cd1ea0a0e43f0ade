#pragma once
// Spearman as a measure of tests/support/pair_cases.hpp: every statistic is exact.

#include <gpu/all_pairs.hpp>
#include <gpu/plan.hpp>
#include <gpu/prepared_rows.hpp>

#include "reference/correlation_reference.hpp"

namespace gpu_test {

struct spearman_measure {
  static constexpr bool ties_are_exact = true;

  template <class View, class Sink>
  static auto run(const View& data, const gpu::pair_options& options, const Sink& sink) {
    return gpu::spearman_all_pairs(data, options, sink);
  }
  template <class X, class Y, class Sink>
  static auto against(const X& x, const Y& y, const gpu::pair_options& options, const Sink& sink) {
    return gpu::spearman_all_pairs(x, y, options, sink);
  }
  template <class Data>
  static gpu::prepared_rows prepare(const Data& data, const gpu::pair_options& options = {}) {
    return gpu::prepare_rows(gpu::measure::spearman, data, options);
  }
  template <class View>
  static auto plan(const View& data, const gpu::pair_options& options,
                   const gpu::pair_filter& keep) {
    return gpu::plan_all_pairs(gpu::measure::spearman, data, options, keep);
  }
  template <class X, class Y>
  static auto plan_against(const X& x, const Y& y, const gpu::pair_options& options,
                           const gpu::pair_filter& keep) {
    return gpu::plan_all_pairs(gpu::measure::spearman, x, y, options, keep);
  }
  template <class T>
  static statistic_table oracle(gpu::matrix_view<const T> data) {
    return reference_spearman(data);
  }
  static bool same(double got, double wanted) { return got == wanted; }
  static bool same_dense(double got, double wanted) { return got == wanted; }
};

}  // namespace gpu_test
