#include <gpu/differential.hpp>

#include <cstdint>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "bindings.hpp"
#include "pairs/pair_call.hpp"

namespace gpu_python {
namespace {

std::vector<gpu::index_t> columns_of(const nb::list& columns) {
  std::vector<gpu::index_t> out;
  for (const nb::handle column : columns) out.push_back(nb::cast<gpu::index_t>(column));
  return out;
}

// A member of every edge as an array.
template <class Value>
nb::object column_of(const std::vector<gpu::differential_edge>& edges,
                     Value gpu::differential_edge::* member) {
  std::vector<Value> out;
  out.reserve(edges.size());
  for (const gpu::differential_edge& e : edges) out.push_back(e.*member);
  return vector_to_numpy(std::move(out));
}

nb::tuple summary_of(gpu::differential_summary&& s) {
  return nb::make_tuple(
      s.rows, s.first_cols, s.second_cols, s.standard_error,
      vector_to_numpy(std::move(s.constant_rows)), vector_to_numpy(std::move(s.nan_rows)),
      vector_to_numpy(std::move(s.infinite_rows)), s.part_begin, s.part_end, s.pairs_tested,
      s.pairs_kept, s.max_p_effective, s.min_abs_z_effective, s.device, s.seconds);
}

gpu::differential_filter filter_of(const pair_call& call, double min_abs_z) {
  return {.max_p = call.keep.max_p,
          .min_abs_z = min_abs_z,
          .side = call.keep.side,
          .adjust = call.keep.adjust};
}

// row, col, first, second, z, p and the summary.
nb::tuple differential(nb::handle x, const nb::list& first, const nb::list& second,
                       double min_abs_z, gpu::index_t max_edges, nb::dict keywords) {
  const pair_tables tables(x, nb::none());
  option_reader reader(std::move(keywords));
  pair_call call(reader);
  reader.check_all_read();
  const std::vector<gpu::index_t> of_first = columns_of(first);
  const std::vector<gpu::index_t> of_second = columns_of(second);
  const gpu::differential_edge_sink sink{.keep = filter_of(call, min_abs_z),
                                         .max_edges = max_edges};
  gpu::differential_edges found = call.context.run([&] {
    return gpu::detail::differential_pairs(call.what, tables.x(), {of_first, of_second},
                                           call.options, sink);
  });
  using edge = gpu::differential_edge;
  return nb::make_tuple(column_of(found.edges, &edge::row), column_of(found.edges, &edge::col),
                        column_of(found.edges, &edge::first), column_of(found.edges, &edge::second),
                        column_of(found.edges, &edge::z), column_of(found.edges, &edge::p),
                        summary_of(std::move(found.summary)));
}

// index, first, second, z, p, the counts and the summary.
nb::tuple differential_partners(nb::handle x, const nb::list& first, const nb::list& second,
                                gpu::index_t k, double min_abs_z, nb::dict keywords) {
  const pair_tables tables(x, nb::none());
  option_reader reader(std::move(keywords));
  pair_call call(reader);
  reader.check_all_read();
  const std::vector<gpu::index_t> of_first = columns_of(first);
  const std::vector<gpu::index_t> of_second = columns_of(second);
  const gpu::differential_top_k_sink sink{.k = k, .keep = filter_of(call, min_abs_z)};
  gpu::differential_partners found = call.context.run([&] {
    return gpu::detail::differential_pairs(call.what, tables.x(), {of_first, of_second},
                                           call.options, sink);
  });
  return nb::make_tuple(matrix_to_numpy<gpu::node_id>(std::move(found.index), 2),
                        matrix_to_numpy<double>(std::move(found.first), 2),
                        matrix_to_numpy<double>(std::move(found.second), 2),
                        matrix_to_numpy<double>(std::move(found.z), 2),
                        matrix_to_numpy<double>(std::move(found.p), 2),
                        vector_to_numpy(std::move(found.count)),
                        summary_of(std::move(found.summary)));
}

}  // namespace

void bind_differential(nb::module_& module) {
  module.def("differential", &differential, nb::arg("x"), nb::arg("first"), nb::arg("second"),
             nb::arg("min_abs_z"), nb::arg("max_edges"), nb::arg("options"));
  module.def("differential_partners", &differential_partners, nb::arg("x"), nb::arg("first"),
             nb::arg("second"), nb::arg("k"), nb::arg("min_abs_z"), nb::arg("options"));
}

}  // namespace gpu_python
