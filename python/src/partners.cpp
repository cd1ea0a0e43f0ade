#include "bindings.hpp"
#include "pairs.hpp"

namespace gpu_python {
namespace {

// Indices, statistics, counts and the summary.
nb::tuple partners(nb::handle data, gpu::index_t k, nb::dict keywords) {
  const host_array table(data, "x");
  option_reader reader(std::move(keywords));
  pair_call call(reader);
  gpu::top_k_sink sink{.k = k, .keep = call.keep};
  reader.read("order", sink.order);
  reader.check_all_read();
  gpu::neighbor_table result = call.context.run([&] { return call.all_pairs(table, sink); });
  return nb::make_tuple(matrix_to_numpy<gpu::node_id>(std::move(result.index), 2),
                        matrix_to_numpy<double>(std::move(result.statistic), 2),
                        vector_to_numpy(std::move(result.count)),
                        summary_tuple(std::move(result.summary), table.cols()));
}

}  // namespace

void bind_partners(nb::module_& module) {
  module.def("partners", &partners, nb::arg("x"), nb::arg("k"), nb::arg("options"));
}

}  // namespace gpu_python
