#include "bindings.hpp"
#include "pairs/pair_call.hpp"
#include "pairs/patterns.hpp"

namespace gpu_python {
namespace {

// The folded edges, their patterns and the summary.
nb::tuple folded_edges(nb::handle x, nb::dict keywords) {
  const pair_tables tables(x, nb::none());
  option_reader reader(std::move(keywords));
  pair_call call(reader);
  gpu::folded_edge_sink sink{.keep = call.keep};
  reader.read("max_edges", sink.max_edges);
  reader.read("order", sink.order);
  reader.check_all_read();
  gpu::folded_edge_list result =
      call.context.run([&] { return gpu::spearman_all_pairs(tables.x(), call.options, sink); });
  return nb::make_tuple(vector_to_numpy(std::move(result.edges)),
                        patterns_tuple(std::move(result.patterns)),
                        summary_of(std::move(result.summary), tables));
}

}  // namespace

void bind_folded_edges(nb::module_& module) {
  module.def("folded_edges", &folded_edges, nb::arg("x"), nb::arg("options"));
}

}  // namespace gpu_python
