#include <gpu/binary_matmul.hpp>

#include "arrays.hpp"
#include "bindings.hpp"
#include "option_names.hpp"

namespace gpu_python {
namespace {

// Bits travel through Python as 32-bit words [rows, words], here as the bytes of those words.
gpu::bit_matrix_view bits_of(const host_array& words, gpu::index_t cols, const char* name) {
  const auto view = words.as<std::int32_t>(name);
  return {reinterpret_cast<const std::uint32_t*>(view.data()), view.rows(), cols,
          view.row_stride()};
}

nb::object pack_bits(nb::handle data, double threshold, nb::dict keywords) {
  const host_array table(data, "x");
  option_reader reader(std::move(keywords));
  execution_context context(reader);
  reader.check_all_read();
  gpu::bit_matrix bits = context.run([&] {
    return std::visit(
        [&]<class T>(const gpu::matrix_view<const T> view) {
          return gpu::pack_bits(view, static_cast<T>(threshold), context.execution());
        },
        table.view());
  });
  return bits_to_numpy(std::move(bits));
}

// On the device: `words` receives the bits.
void pack_bits_device(const nb::tuple& data, double threshold, const nb::tuple& words,
                      nb::dict keywords) {
  option_reader reader(std::move(keywords));
  execution_context context(reader);
  reader.check_all_read();
  const any_device_view in = device_view(data);
  std::visit(
      [&]<class T>(const gpu::device_matrix_view<T> view) {
        const auto out = device_view_of<std::int32_t>(words);
        const gpu::mutable_device_bit_matrix_view bits(reinterpret_cast<std::uint32_t*>(out.data()),
                                                       view.rows(), view.cols(), out.row_stride());
        context.run(
            [&] { gpu::pack_bits(view, bits, static_cast<T>(threshold), context.execution()); });
      },
      in);
}

gpu::binary_matmul_options product_options(option_reader& reader,
                                           const execution_context& context) {
  gpu::binary_matmul_options options;
  reader.read("product", options.product);
  reader.read("variant", options.variant);
  reader.check_all_read();
  options.exec = context.execution();
  return options;
}

nb::object binary_matmul(nb::handle left, nb::handle right, gpu::index_t cols, nb::dict keywords) {
  const host_array a(left, "a");
  const host_array b(right, "b");
  option_reader reader(std::move(keywords));
  execution_context context(reader);
  const gpu::binary_matmul_options options = product_options(reader, context);
  const gpu::bit_matrix_view a_bits = bits_of(a, cols, "a");
  const gpu::bit_matrix_view b_bits = bits_of(b, cols, "b");
  gpu::matrix<std::int32_t> out =
      context.run([&] { return gpu::binary_matmul(a_bits, b_bits, options); });
  return matrix_to_numpy<std::int32_t>(std::move(out), 2);
}

gpu::device_bit_matrix_view device_bits(const nb::tuple& described, gpu::index_t cols) {
  const auto words = device_view_of<std::int32_t>(described);
  return {reinterpret_cast<const std::uint32_t*>(words.data()), words.rows(), cols,
          words.row_stride()};
}

void binary_matmul_device(const nb::tuple& left, const nb::tuple& right, gpu::index_t cols,
                          const nb::tuple& out, nb::dict keywords) {
  option_reader reader(std::move(keywords));
  execution_context context(reader);
  const gpu::binary_matmul_options options = product_options(reader, context);
  const auto a = device_bits(left, cols);
  const auto b = device_bits(right, cols);
  const auto product = device_view_of<std::int32_t>(out);
  context.run([&] { gpu::binary_matmul(a, b, product, options); });
}

}  // namespace

void bind_binary_matmul(nb::module_& module) {
  module.def("pack_bits", &pack_bits, nb::arg("x"), nb::arg("threshold"), nb::arg("options"));
  module.def("binary_matmul", &binary_matmul, nb::arg("a"), nb::arg("b"), nb::arg("cols"),
             nb::arg("options"));
  module.def("pack_bits_device", &pack_bits_device, nb::arg("x"), nb::arg("threshold"),
             nb::arg("words"), nb::arg("options"));
  module.def("binary_matmul_device", &binary_matmul_device, nb::arg("a"), nb::arg("b"),
             nb::arg("cols"), nb::arg("out"), nb::arg("options"));
}

}  // namespace gpu_python
