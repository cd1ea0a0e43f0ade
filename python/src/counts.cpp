#include "bindings.hpp"
#include "pairs.hpp"

namespace gpu_python {
namespace {

// Tested, kept, degrees, histogram and the summary.
nb::tuple counts(nb::handle data, nb::dict keywords) {
  const host_array table(data, "x");
  option_reader reader(std::move(keywords));
  pair_call call(reader);
  gpu::count_sink sink{.keep = call.keep};
  reader.read("histogram_bins", sink.histogram_bins);
  reader.check_all_read();
  gpu::pair_counts result = call.context.run([&] { return call.all_pairs(table, sink); });
  return nb::make_tuple(result.tested, result.kept, vector_to_numpy(std::move(result.degree)),
                        vector_to_numpy(std::move(result.histogram)),
                        summary_tuple(std::move(result.summary), table.cols()));
}

}  // namespace

void bind_counts(nb::module_& module) {
  module.def("counts", &counts, nb::arg("x"), nb::arg("options"));
}

}  // namespace gpu_python
