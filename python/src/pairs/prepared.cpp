#include <gpu/prepared_rows.hpp>

#include "bindings.hpp"
#include "pairs/pair_call.hpp"

namespace gpu_python {
namespace {

gpu::prepared_rows prepare(nb::handle y, nb::dict keywords) {
  const pair_tables tables(y, nb::none());
  option_reader reader(std::move(keywords));
  pair_call call(reader);
  reader.check_all_read();
  return call.context.run([&] {
    return gpu::prepared_rows(
        gpu::detail::prepare_table(call.what, tables.of(call.bits), call.options));
  });
}

// rows, cols, constant rows, NaN rows, infinite rows, backend, device, variant, seconds.
nb::tuple told(const gpu::prepared_rows& prepared) {
  const auto numbers = [](const std::span<const gpu::index_t> rows) {
    return vector_to_numpy(std::vector<gpu::index_t>(rows.begin(), rows.end()));
  };
  return nb::make_tuple(prepared.rows(), prepared.cols(), numbers(prepared.constant_rows()),
                        numbers(prepared.nan_rows()), numbers(prepared.infinite_rows()),
                        gpu::to_string(prepared.where()), prepared.device(),
                        gpu::to_string(prepared.variant()), prepared.seconds());
}

}  // namespace

void bind_prepared(nb::module_& module) {
  nb::class_<gpu::prepared_rows>(module, "PreparedRows").def("told", &told);
  module.def("prepare", &prepare, nb::arg("y"), nb::arg("options"));
}

}  // namespace gpu_python
