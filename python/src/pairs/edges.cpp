#include "bindings.hpp"
#include "pairs/pair_call.hpp"

namespace gpu_python {
namespace {

// The edges and the summary.
nb::tuple edges(nb::handle x, nb::handle y, nb::dict keywords) {
  const pair_tables tables(x, y);
  option_reader reader(std::move(keywords));
  pair_call call(reader);
  gpu::edge_sink sink{.keep = call.keep};
  reader.read("max_edges", sink.max_edges);
  reader.read("order", sink.order);
  reader.check_all_read();
  gpu::edge_list result = call.context.run([&] { return call.all_pairs(tables, sink); });
  return nb::make_tuple(vector_to_numpy(std::move(result.edges)),
                        summary_of(std::move(result.summary), tables));
}

}  // namespace

void bind_edges(nb::module_& module) {
  module.def("edges", &edges, nb::arg("x"), nb::arg("y").none(), nb::arg("options"));
}

}  // namespace gpu_python
