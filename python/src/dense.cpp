#include "bindings.hpp"
#include "pairs.hpp"

namespace gpu_python {
namespace {

// The matrix and the summary.
template <class Value>
nb::tuple dense(nb::handle data, nb::dict keywords) {
  const host_array table(data, "x");
  option_reader reader(std::move(keywords));
  pair_call call(reader);
  reader.check_all_read();
  auto result =
      call.context.run([&] { return call.all_pairs(table, gpu::basic_dense_sink<Value>{}); });
  nb::tuple summary = summary_tuple(std::move(result.summary), table.cols());
  return nb::make_tuple(matrix_to_numpy<Value>(std::move(result), 2), std::move(summary));
}

}  // namespace

void bind_dense(nb::module_& module) {
  module.def("dense_f64", &dense<double>, nb::arg("x"), nb::arg("options"));
  module.def("dense_f32", &dense<float>, nb::arg("x"), nb::arg("options"));
}

}  // namespace gpu_python
