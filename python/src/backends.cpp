
#include <gpu/execution.hpp>
#include <gpu/measure.hpp>
#include <gpu/version.hpp>

#include "bindings.hpp"
#include "option_names.hpp"

namespace gpu_python {
namespace {

nb::list backends() {
  nb::list out;
  for (const gpu::backend_info& info : gpu::available_backends()) {
    out.append(nb::make_tuple(info.name, info.description, info.usable, info.reason));
  }
  return out;
}

nb::list devices() {
  nb::list out;
  for (const gpu::device_info& info : gpu::available_devices()) {
    out.append(nb::make_tuple(info.ordinal, info.name, info.compute_major, info.compute_minor,
                              info.multiprocessors, info.memory_bytes, info.l2_bytes,
                              gpu::to_string(info.code), info.code_major, info.code_minor));
  }
  return out;
}

// Name, title, symbol of the statistic, whether it has a p, and whether order alone counts.
nb::list measures(bool of_bits) {
  nb::list out;
  for (const gpu::measure what : of_bits ? gpu::bit_measures() : gpu::all_measures()) {
    const gpu::measure_info& info = gpu::info_of(what);
    out.append(nb::make_tuple(info.name, info.title, info.symbol,
                              info.test != gpu::significance::none,
                              info.scale == gpu::value_scale::ordinal));
  }
  return out;
}

}  // namespace

void bind_backends(nb::module_& module) {
  module.attr("version") = GPU_SIMILARITY_VERSION;
  module.def("backends", &backends);
  module.def("devices", &devices);
  module.def("measures", &measures, nb::arg("of_bits"));
  module.def("before_fork", &before_fork);
  module.def("after_fork_in_child", &after_fork_in_child);
}

}  // namespace gpu_python
