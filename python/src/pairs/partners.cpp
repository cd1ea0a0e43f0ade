#include "bindings.hpp"
#include "pairs/pair_call.hpp"

namespace gpu_python {
namespace {

// Indices, statistics, counts, q (None where it is not asked for) and the summary.
nb::tuple partners(nb::handle x, nb::handle y, gpu::index_t k, nb::dict keywords) {
  const pair_tables tables(x, y);
  option_reader reader(std::move(keywords));
  pair_call call(reader);
  gpu::top_k_sink sink{.k = k, .keep = call.keep};
  reader.read("order", sink.order);
  reader.read("q", sink.q);
  const bool has_q = sink.q == gpu::neighbor_q::exact;
  reader.check_all_read();
  gpu::neighbor_table result = call.context.run([&] { return call.all_pairs(tables, sink); });
  return nb::make_tuple(matrix_to_numpy<gpu::node_id>(std::move(result.index), 2),
                        matrix_to_numpy<double>(std::move(result.statistic), 2),
                        vector_to_numpy(std::move(result.count)),
                        has_q ? matrix_to_numpy<double>(std::move(result.q), 2) : nb::none(),
                        summary_of(std::move(result.summary), tables));
}

}  // namespace

void bind_partners(nb::module_& module) {
  module.def("partners", &partners, nb::arg("x"), nb::arg("y").none(), nb::arg("k"),
             nb::arg("options"));
}

}  // namespace gpu_python
