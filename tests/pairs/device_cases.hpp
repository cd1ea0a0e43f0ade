#pragma once
// What tests of all pairs in device memory share.

#include <cstddef>

#include <gpu/all_pairs.hpp>
#include <gpu/error.hpp>

#include "support/catch.hpp"
#include "support/device_offers.hpp"
#include "support/device_table.hpp"
#include "support/generators.hpp"
#include "support/refusals.hpp"

namespace gpu_test {

inline constexpr auto message_of = [](const auto& call) {
  return refusal_of<gpu::invalid_argument>(call);
};

struct spearman_call {
  static constexpr const char* name = "spearman";
  template <class Data, class Sink>
  static auto run(const Data& data, const gpu::pair_options& options, const Sink& sink) {
    return gpu::spearman_all_pairs(data, options, sink);
  }
  template <class X, class Y, class Sink>
  static auto run(const X& x, const Y& y, const gpu::pair_options& options, const Sink& sink) {
    return gpu::spearman_all_pairs(x, y, options, sink);
  }
};
struct pearson_call {
  static constexpr const char* name = "pearson";
  template <class Data, class Sink>
  static auto run(const Data& data, const gpu::pair_options& options, const Sink& sink) {
    return gpu::pearson_all_pairs(data, options, sink);
  }
  template <class X, class Y, class Sink>
  static auto run(const X& x, const Y& y, const gpu::pair_options& options, const Sink& sink) {
    return gpu::pearson_all_pairs(x, y, options, sink);
  }
};

/// Element by element, NaN equal to NaN.
template <class Value>
bool same_values(const gpu::matrix<Value>& got, const gpu::matrix<Value>& wanted) {
  if (got.rows() != wanted.rows() || got.cols() != wanted.cols()) return false;
  for (gpu::index_t i = 0; i < got.rows() * got.cols(); ++i) {
    const Value a = got.data()[i];
    const Value b = wanted.data()[i];
    if (!(a == b || (a != a && b != b))) return false;
  }
  return true;
}

template <class T>
bool same_entry(const T& a, const T& b) {
  return a == b;
}
/// A measure without a test leaves p NaN.
inline bool same_entry(const gpu::edge& a, const gpu::edge& b) {
  const bool same_p = a.p == b.p || (a.p != a.p && b.p != b.p);
  return a.row == b.row && a.col == b.col && a.statistic == b.statistic && same_p;
}

template <class Got, class Wanted>
bool same_list(const Got& got, const Wanted& wanted) {
  if (got.size() != wanted.size()) return false;
  for (std::size_t e = 0; e < got.size(); ++e) {
    if (!same_entry(got[e], wanted[e])) return false;
  }
  return true;
}

}  // namespace gpu_test
