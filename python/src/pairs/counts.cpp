#include "bindings.hpp"
#include "pairs/pair_call.hpp"

namespace gpu_python {
namespace {

// Tested, kept, degrees of x and of y (or None), histogram and the summary.
nb::tuple counts(nb::handle x, nb::handle y, nb::dict keywords) {
  const pair_tables tables(x, y);
  option_reader reader(std::move(keywords));
  pair_call call(reader);
  gpu::count_sink sink{.keep = call.keep};
  reader.read("histogram_bins", sink.histogram_bins);
  reader.check_all_read();
  gpu::pair_counts result = call.context.run([&] { return call.all_pairs(tables, sink); });
  return nb::make_tuple(result.tested, result.kept, vector_to_numpy(std::move(result.degree)),
                        tables.has_y() ? vector_to_numpy(std::move(result.y_degree)) : nb::none(),
                        vector_to_numpy(std::move(result.histogram)),
                        summary_of(std::move(result.summary), tables));
}

}  // namespace

void bind_counts(nb::module_& module) {
  module.def("counts", &counts, nb::arg("x"), nb::arg("y").none(), nb::arg("options"));
}

}  // namespace gpu_python
