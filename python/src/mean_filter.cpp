#include <gpu/mean_filter.hpp>

#include "arrays.hpp"
#include "bindings.hpp"
#include "option_names.hpp"

namespace gpu_python {
namespace {

gpu::mean_filter_options filter_options(option_reader& reader, const execution_context& context,
                                        gpu::index_t window) {
  gpu::mean_filter_options options;
  options.window = window;
  reader.read("origin", options.origin);
  reader.read("boundary", options.boundary);
  reader.read("nans", options.nans);
  reader.read("variant", options.variant);
  options.exec = context.execution();
  reader.check_all_read();
  return options;
}

gpu::convolve_options kernel_options(option_reader& reader, const execution_context& context) {
  gpu::convolve_options options;
  reader.read("origin", options.origin);
  reader.read("boundary", options.boundary);
  reader.read("variant", options.variant);
  options.exec = context.execution();
  reader.check_all_read();
  return options;
}

// filter(in, out) for the input's element type and the output's: the same, or double.
template <class Filter>
nb::object filter_host(const host_array& table, gpu::index_t out_cols, bool to_double,
                       execution_context& context, const Filter& filter) {
  return std::visit(
      [&]<class T>(const gpu::matrix_view<const T> view) -> nb::object {
        const auto apply = [&]<class Out>(Out /*type*/) {
          gpu::matrix<Out> out(view.rows(), out_cols);
          context.run([&] { filter(view, out.view()); });
          return matrix_to_numpy<Out>(std::move(out), table.dimensions());
        };
        if constexpr (!std::is_same_v<T, double>) {
          if (to_double) return apply(double{});
        }
        return apply(T{});
      },
      table.view());
}

template <class Filter>
void filter_device(const nb::tuple& data, const nb::tuple& out, execution_context& context,
                   const Filter& filter) {
  const any_device_view in_view = device_view(data);
  const any_device_view out_view = device_view(out);
  std::visit(
      [&]<class In, class Out>(const gpu::device_matrix_view<In> from,
                               const gpu::device_matrix_view<Out> to) {
        if constexpr (gpu::filter_output_of<Out, In>) {
          context.run([&] { filter(from, to); });
        } else {
          throw nb::type_error("dtype: expected the type of x, or float64");
        }
      },
      in_view, out_view);
}

std::span<const double> weights_of(const host_array& weights) {
  const auto view = weights.as<double>("weights");
  return {view.data(), static_cast<std::size_t>(view.cols())};
}

nb::object mean_filter(nb::handle data, gpu::index_t window, bool to_double, nb::dict keywords) {
  const host_array table(data, "x");
  option_reader reader(std::move(keywords));
  execution_context context(reader);
  const gpu::mean_filter_options options = filter_options(reader, context, window);
  const gpu::index_t cols = gpu::filtered_size(table.cols(), window, options.boundary);
  return filter_host(table, cols, to_double, context,
                     [&](auto in, auto out) { gpu::mean_filter(in, out, options); });
}

void mean_filter_device(const nb::tuple& data, gpu::index_t window, const nb::tuple& out,
                        nb::dict keywords) {
  option_reader reader(std::move(keywords));
  execution_context context(reader);
  const gpu::mean_filter_options options = filter_options(reader, context, window);
  filter_device(data, out, context,
                [&](auto from, auto to) { gpu::mean_filter(from, to, options); });
}

nb::object convolve(nb::handle data, nb::handle kernel, bool to_double, nb::dict keywords) {
  const host_array table(data, "x");
  const host_array weights(kernel, "weights");
  option_reader reader(std::move(keywords));
  execution_context context(reader);
  const gpu::convolve_options options = kernel_options(reader, context);
  const std::span<const double> values = weights_of(weights);
  const gpu::index_t cols =
      values.empty() ? table.cols()
                     : gpu::filtered_size(table.cols(), weights.cols(), options.boundary);
  return filter_host(table, cols, to_double, context,
                     [&](auto in, auto out) { gpu::convolve(in, values, out, options); });
}

void convolve_device(const nb::tuple& data, nb::handle kernel, const nb::tuple& out,
                     nb::dict keywords) {
  const host_array weights(kernel, "weights");
  option_reader reader(std::move(keywords));
  execution_context context(reader);
  const gpu::convolve_options options = kernel_options(reader, context);
  const std::span<const double> values = weights_of(weights);
  filter_device(data, out, context,
                [&](auto from, auto to) { gpu::convolve(from, values, to, options); });
}

gpu::index_t filtered_size(gpu::index_t cols, gpu::index_t window, const char* edges) {
  return gpu::filtered_size(cols, window, enum_from_name<gpu::boundary>("boundary", edges));
}

}  // namespace

void bind_mean_filter(nb::module_& module) {
  module.def("mean_filter", &mean_filter, nb::arg("x"), nb::arg("window"), nb::arg("to_double"),
             nb::arg("options"));
  module.def("mean_filter_device", &mean_filter_device, nb::arg("x"), nb::arg("window"),
             nb::arg("out"), nb::arg("options"));
  module.def("convolve", &convolve, nb::arg("x"), nb::arg("weights"), nb::arg("to_double"),
             nb::arg("options"));
  module.def("convolve_device", &convolve_device, nb::arg("x"), nb::arg("weights"), nb::arg("out"),
             nb::arg("options"));
  module.def("filtered_size", &filtered_size, nb::arg("cols"), nb::arg("window"),
             nb::arg("boundary"));
}

}  // namespace gpu_python
