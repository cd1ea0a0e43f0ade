#include <gpu/top_k.hpp>

#include "arrays.hpp"
#include "bindings.hpp"
#include "option_names.hpp"

namespace gpu_python {
namespace {

gpu::top_k_options read_options(option_reader& reader, const execution_context& context) {
  gpu::top_k_options options;
  reader.read("select", options.select);
  reader.read("order", options.order);
  reader.read("variant", options.variant);
  options.exec = context.execution();
  reader.check_all_read();
  return options;
}

template <class T>
std::span<const T> only_row(const gpu::matrix_view<const T> view) {
  return {view.data(), static_cast<std::size_t>(view.cols())};
}

// Values and indices.
nb::tuple top_k(nb::handle data, gpu::index_t k, nb::dict keywords) {
  const host_array table(data, "x");
  option_reader reader(std::move(keywords));
  execution_context context(reader);
  const gpu::top_k_options options = read_options(reader, context);
  return std::visit(
      [&]<class T>(const gpu::matrix_view<const T> view) {
        if (table.dimensions() == 1) {
          auto found = context.run([&] { return gpu::top_k(only_row(view), k, options); });
          return nb::make_tuple(vector_to_numpy(std::move(found.values)),
                                vector_to_numpy(std::move(found.indices)));
        }
        auto found = context.run([&] { return gpu::top_k(view, k, options); });
        return nb::make_tuple(matrix_to_numpy<T>(std::move(found.values), 2),
                              matrix_to_numpy<gpu::index_t>(std::move(found.indices), 2));
      },
      table.view());
}

// Values, indices, counts and the number found: of a vector one integer, else one a row.
nb::tuple top_k_distinct(nb::handle data, gpu::index_t k, nb::dict keywords) {
  const host_array table(data, "x");
  option_reader reader(std::move(keywords));
  execution_context context(reader);
  const gpu::top_k_options options = read_options(reader, context);
  return std::visit(
      [&]<class T>(const gpu::matrix_view<const T> view) {
        if (table.dimensions() == 1) {
          auto found = context.run([&] { return gpu::top_k_distinct(only_row(view), k, options); });
          const std::size_t size = found.values.size();
          return nb::make_tuple(vector_to_numpy(std::move(found.values)),
                                vector_to_numpy(std::move(found.indices)),
                                vector_to_numpy(std::move(found.counts)), size);
        }
        auto found = context.run([&] { return gpu::top_k_distinct(view, k, options); });
        return nb::make_tuple(matrix_to_numpy<T>(std::move(found.values), 2),
                              matrix_to_numpy<gpu::index_t>(std::move(found.indices), 2),
                              matrix_to_numpy<gpu::index_t>(std::move(found.counts), 2),
                              vector_to_numpy(std::move(found.found)));
      },
      table.view());
}

// Device memory of 64-bit positions, described as device_view() has it.
gpu::device_matrix_view<gpu::index_t> positions(const nb::tuple& described) {
  return {reinterpret_cast<gpu::index_t*>(nb::cast<std::uintptr_t>(described[0])),
          nb::cast<gpu::index_t>(described[1]), nb::cast<gpu::index_t>(described[2]),
          nb::cast<gpu::index_t>(described[3])};
}

void top_k_device(const nb::tuple& data, gpu::index_t k, const nb::tuple& values,
                  const nb::tuple& indices, nb::dict keywords) {
  option_reader reader(std::move(keywords));
  execution_context context(reader);
  const gpu::top_k_options options = read_options(reader, context);
  const auto index_view = positions(indices);
  const any_device_view in = device_view(data);
  std::visit(
      [&]<class T>(const gpu::device_matrix_view<T> view) {
        const auto out = device_view_of<T>(values);
        context.run([&] { gpu::top_k(view, k, out, index_view, options); });
      },
      in);
}

void top_k_distinct_device(const nb::tuple& data, gpu::index_t k, const nb::tuple& values,
                           const nb::tuple& indices, const nb::tuple& counts,
                           const nb::tuple& found, nb::dict keywords) {
  option_reader reader(std::move(keywords));
  execution_context context(reader);
  const gpu::top_k_options options = read_options(reader, context);
  const auto index_view = positions(indices);
  const auto count_view = positions(counts);
  const auto found_row = positions(found);
  const gpu::device_vector_view<gpu::index_t> found_view(found_row.data(), found_row.cols());
  const any_device_view in = device_view(data);
  std::visit(
      [&]<class T>(const gpu::device_matrix_view<T> view) {
        const auto out = device_view_of<T>(values);
        context.run([&] {
          gpu::top_k_distinct(view, k, out, index_view, count_view, found_view, options);
        });
      },
      in);
}

}  // namespace

void bind_top_k(nb::module_& module) {
  module.def("top_k", &top_k, nb::arg("x"), nb::arg("k"), nb::arg("options"));
  module.def("top_k_distinct", &top_k_distinct, nb::arg("x"), nb::arg("k"), nb::arg("options"));
  module.def("top_k_device", &top_k_device, nb::arg("x"), nb::arg("k"), nb::arg("values"),
             nb::arg("indices"), nb::arg("options"));
  module.def("top_k_distinct_device", &top_k_distinct_device, nb::arg("x"), nb::arg("k"),
             nb::arg("values"), nb::arg("indices"), nb::arg("counts"), nb::arg("found"),
             nb::arg("options"));
}

}  // namespace gpu_python
