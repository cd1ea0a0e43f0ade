#include <gpu/p_value.hpp>

#include "arrays.hpp"
#include "bindings.hpp"
#include "option_names.hpp"

namespace gpu_python {
namespace {

gpu::tail tail_from(const char* name) {
  return enum_from_name<gpu::tail>("tail", name);
}

// p of every element of a contiguous double array, in an array of the same length.
nb::object p_values(nb::handle data, gpu::index_t observations, const char* side) {
  const host_array r(data, "r");
  const auto view = r.as<double>("r");
  const gpu::tail tail = tail_from(side);
  gpu::matrix<double> out(1, view.cols());
  {
    const nb::gil_scoped_release unlocked;
    // The first, NaN and what is out of range here: nothing may throw inside the parallel loop.
    const gpu::index_t count = view.cols();
    for (gpu::index_t i = 0; i < count; ++i) {
      if (!(view(0, i) >= -1.0 && view(0, i) <= 1.0) || i == 0) {
        out(0, i) = gpu::correlation_p_value(view(0, i), observations, tail);
      }
    }
#pragma omp parallel for schedule(static) if (count > 2048)
    for (gpu::index_t i = 0; i < count; ++i) {
      const double value = view(0, i);
      if (value >= -1.0 && value <= 1.0) {
        out(0, i) = gpu::correlation_p_value(value, observations, tail);
      }
    }
  }
  return matrix_to_numpy<double>(std::move(out), 1);
}

double critical_correlation(double p, gpu::index_t observations, const char* side) {
  return gpu::critical_correlation(p, observations, tail_from(side));
}

}  // namespace

void bind_p_value(nb::module_& module) {
  module.def("p_values", &p_values, nb::arg("r"), nb::arg("observations"), nb::arg("tail"));
  module.def("critical_correlation", &critical_correlation, nb::arg("p"), nb::arg("observations"),
             nb::arg("tail"));
}

}  // namespace gpu_python
