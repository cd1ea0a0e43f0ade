#include <gpu/rank.hpp>

#include "arrays.hpp"
#include "bindings.hpp"
#include "option_names.hpp"

namespace gpu_python {
namespace {

gpu::rank_options read_options(option_reader& reader, const execution_context& context) {
  gpu::rank_options options;
  reader.read("ties", options.ties);
  reader.read("order", options.order);
  reader.read("nans", options.nans);
  reader.read("variant", options.variant);
  options.exec = context.execution();
  reader.check_all_read();
  return options;
}

nb::object rank(nb::handle data, nb::dict keywords) {
  const host_array table(data, "x", array_form::table);
  option_reader reader(std::move(keywords));
  execution_context context(reader);
  const gpu::rank_options options = read_options(reader, context);
  gpu::matrix<double> ranks =
      context.run([&] { return gpu::detail::rank_rows_of(table.table(), options); });
  return matrix_to_numpy<double>(std::move(ranks), table.dimensions());
}

// On the device: `out` receives the ranks.
void rank_device(const nb::tuple& data, const nb::tuple& out, nb::dict keywords) {
  option_reader reader(std::move(keywords));
  execution_context context(reader);
  const gpu::rank_options options = read_options(reader, context);
  const auto ranks = device_view_of<double>(out);
  const any_device_view in = device_view(data);
  context.run(
      [&] { std::visit([&](const auto view) { gpu::rank_rows(view, ranks, options); }, in); });
}

}  // namespace

void bind_rank(nb::module_& module) {
  module.def("rank", &rank, nb::arg("x"), nb::arg("options"));
  module.def("rank_device", &rank_device, nb::arg("x"), nb::arg("out"), nb::arg("options"));
}

}  // namespace gpu_python
