#include "bindings.hpp"
#include "pairs/pair_call.hpp"

namespace gpu_python {
namespace {

// The matrix and the summary.
template <class Value>
nb::tuple dense(nb::handle x, nb::handle y, nb::dict keywords) {
  const pair_tables tables(x, y);
  option_reader reader(std::move(keywords));
  pair_call call(reader);
  reader.check_all_read();
  auto result =
      call.context.run([&] { return call.all_pairs(tables, gpu::basic_dense_sink<Value>{}); });
  run_summary summary = summary_of(std::move(result.summary), tables);
  return nb::make_tuple(matrix_to_numpy<Value>(std::move(result), 2), std::move(summary));
}

}  // namespace

void bind_dense(nb::module_& module) {
  module.def("dense_f64", &dense<double>, nb::arg("x"), nb::arg("y").none(), nb::arg("options"));
  module.def("dense_f32", &dense<float>, nb::arg("x"), nb::arg("y").none(), nb::arg("options"));
}

}  // namespace gpu_python
