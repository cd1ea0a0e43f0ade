#pragma once
// Results that stay on the device beside those that come to the host.

#include "pairs/cpu_parity.hpp"
#include "pairs/device_cases.hpp"
#include "support/device_call.hpp"

namespace gpu_test {

/// Every sink of device results beside the host result of the same call. `single` is what a dense
/// result in float may differ by, where its products have single precision.
template <class X, class Y>
void check_device_results(const device_call<X, Y>& call, const gpu::pair_filter& keep,
                          gpu::index_t k, gpu::index_t gap, double single = 0) {
  const auto dense = call.run(gpu::dense_sink{});
  const gpu::index_t rows = dense.rows();
  CHECK(same_values(call.template dense<double>(rows, gap), dense));
  check_same_values(call.template dense<float>(rows, gap), call.run(gpu::dense_sink_f32{}), single);

  const auto edges = call.run(gpu::edge_sink{.keep = keep});
  const auto got_edges = call.edges(keep, edges.edges.size() + 100);
  CHECK(got_edges.found == edges.edges.size());
  CHECK(same_list(got_edges.edges, edges.edges));

  for (const auto order : {gpu::neighbor_order::by_absolute_value, gpu::neighbor_order::by_value}) {
    const gpu::top_k_sink sink{.k = k, .keep = keep, .order = order};
    const auto wanted = call.run(sink);
    const auto got = call.top_k(rows, sink, gap);
    CHECK(same_values(got.index, wanted.index));
    CHECK(same_values(got.statistic, wanted.statistic));
    CHECK(got.count == wanted.count);
  }

  const gpu::count_sink sink{.keep = keep, .histogram_bins = 40};
  const auto wanted = call.run(sink);
  const auto got = call.counts(sink);
  CHECK(got.degree == wanted.degree);
  CHECK(got.y_degree == wanted.y_degree);
  CHECK(got.histogram == wanted.histogram);
  const gpu::pair_summary& said = wanted.summary;
  const auto invalid = said.constant_rows.size() + said.nan_rows.size() +
                       said.infinite_rows.size() + said.y_constant_rows.size() +
                       said.y_nan_rows.size() + said.y_infinite_rows.size();
  REQUIRE(got.totals.size() == 3);
  CHECK(got.totals[0] == wanted.tested);
  CHECK(got.totals[1] == wanted.kept);
  if (call.options.part.of == 1) CHECK(got.totals[2] == invalid);
}

}  // namespace gpu_test
