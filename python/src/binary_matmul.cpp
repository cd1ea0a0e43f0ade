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

// Owns the words of a bit_matrix behind a NumPy array.
struct bit_words_holder {
  gpu::bit_matrix bits;
  std::uint32_t* data() noexcept { return bits.words(); }
};

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
  const gpu::index_t rows = bits.rows();
  const gpu::index_t words = bits.row_words();
  return to_numpy<std::uint32_t>(bit_words_holder{std::move(bits)}, rows, words);
}

nb::object binary_matmul(nb::handle left, nb::handle right, gpu::index_t cols, nb::dict keywords) {
  const host_array a(left, "a");
  const host_array b(right, "b");
  option_reader reader(std::move(keywords));
  execution_context context(reader);
  gpu::binary_matmul_options options;
  reader.read("product", options.product);
  reader.read("variant", options.variant);
  reader.check_all_read();
  options.exec = context.execution();
  const gpu::bit_matrix_view a_bits = bits_of(a, cols, "a");
  const gpu::bit_matrix_view b_bits = bits_of(b, cols, "b");
  gpu::matrix<std::int32_t> out =
      context.run([&] { return gpu::binary_matmul(a_bits, b_bits, options); });
  return matrix_to_numpy<std::int32_t>(std::move(out), 2);
}

}  // namespace

void bind_binary_matmul(nb::module_& module) {
  module.def("pack_bits", &pack_bits, nb::arg("x"), nb::arg("threshold"), nb::arg("options"));
  module.def("binary_matmul", &binary_matmul, nb::arg("a"), nb::arg("b"), nb::arg("cols"),
             nb::arg("options"));
}

}  // namespace gpu_python
