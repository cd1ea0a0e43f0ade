#include "bindings.hpp"
#include "pairs.hpp"

namespace gpu_python {
namespace {

// The edges and the summary.
nb::tuple edges(nb::handle data, nb::dict keywords) {
  const host_array table(data, "x");
  option_reader reader(std::move(keywords));
  pair_call call(reader);
  gpu::edge_sink sink{.keep = call.keep};
  reader.read("max_edges", sink.max_edges);
  reader.read("order", sink.order);
  reader.check_all_read();
  gpu::edge_list result = call.context.run([&] { return call.all_pairs(table, sink); });
  return nb::make_tuple(vector_to_numpy(std::move(result.edges)),
                        summary_tuple(std::move(result.summary), table.cols()));
}

}  // namespace

void bind_edges(nb::module_& module) {
  module.def("edges", &edges, nb::arg("x"), nb::arg("options"));
}

}  // namespace gpu_python
