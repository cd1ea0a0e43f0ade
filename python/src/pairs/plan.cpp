#include "bindings.hpp"
#include "pairs/pair_call.hpp"

namespace gpu_python {
namespace {

// The fields of gpu_similarity.PairPlan in order.
nb::tuple plan(nb::handle x, nb::handle y, nb::dict keywords) {
  const pair_tables tables(x, y);
  option_reader reader(std::move(keywords));
  pair_call call(reader);
  reader.check_all_read();
  if (tables.is_prepared()) throw gpu::unsupported("plan: y: not for prepared rows");
  const gpu::pair_plan result = call.context.run([&] {
    return gpu::detail::plan_all_pairs(call.what, tables.of(call.bits), call.options, call.keep);
  });
  return nb::make_tuple(gpu::to_string(result.used), result.device, gpu::to_string(result.variant),
                        result.tile_rows, result.tile_cols, result.workspace_bytes, result.choice,
                        result.pairs, result.sampled_pairs, result.kept_estimate, result.kept_upper,
                        result.result_bytes, result.warning);
}

}  // namespace

void bind_plan(nb::module_& module) {
  module.def("plan", &plan, nb::arg("x"), nb::arg("y").none(), nb::arg("options"));
}

}  // namespace gpu_python
