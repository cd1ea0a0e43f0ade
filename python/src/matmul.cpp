#include <gpu/matmul.hpp>

#include "arrays.hpp"
#include "bindings.hpp"
#include "option_names.hpp"

namespace gpu_python {
namespace {

gpu::matmul_options read_options(option_reader& reader, const execution_context& context) {
  gpu::matmul_options options;
  reader.read("a", options.a);
  reader.read("b", options.b);
  reader.read("variant", options.variant);
  options.exec = context.execution();
  reader.check_all_read();
  return options;
}

template <class T>
nb::object matmul(nb::handle left, nb::handle right, nb::dict keywords) {
  const host_array a(left, "a");
  const host_array b(right, "b");
  option_reader reader(std::move(keywords));
  execution_context context(reader);
  const gpu::matmul_options options = read_options(reader, context);
  const auto a_view = a.as<T>("a");
  const auto b_view = b.as<T>("b");
  gpu::matrix<T> c = context.run([&] { return gpu::matmul(a_view, b_view, options); });
  return matrix_to_numpy<T>(std::move(c), 2);
}

template <class T>
void matmul_device(const nb::tuple& left, const nb::tuple& right, const nb::tuple& out,
                   nb::dict keywords) {
  option_reader reader(std::move(keywords));
  execution_context context(reader);
  const gpu::matmul_options options = read_options(reader, context);
  const auto a = device_view_of<T>(left);
  const auto b = device_view_of<T>(right);
  const auto c = device_view_of<T>(out);
  context.run([&] { gpu::matmul(a, b, c, options); });
}

}  // namespace

void bind_matmul(nb::module_& module) {
  module.def("matmul_f32", &matmul<float>, nb::arg("a"), nb::arg("b"), nb::arg("options"));
  module.def("matmul_f64", &matmul<double>, nb::arg("a"), nb::arg("b"), nb::arg("options"));
  module.def("matmul_device_f32", &matmul_device<float>, nb::arg("a"), nb::arg("b"), nb::arg("out"),
             nb::arg("options"));
  module.def("matmul_device_f64", &matmul_device<double>, nb::arg("a"), nb::arg("b"),
             nb::arg("out"), nb::arg("options"));
}

}  // namespace gpu_python
