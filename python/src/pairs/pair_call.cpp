#include "pairs/pair_call.hpp"

namespace gpu_python {
namespace {

gpu::pair_part read_part(nb::handle value) {
  gpu::index_t index = 0;
  gpu::index_t of = 0;
  if (nb::isinstance<nb::tuple>(value) && nb::len(value) == 2 &&
      nb::try_cast<gpu::index_t>(value[0], index) && nb::try_cast<gpu::index_t>(value[1], of)) {
    return {.index = index, .of = of};
  }
  throw nb::type_error("part: expected a tuple of two integers, (index, of)");
}

}  // namespace

pair_table::pair_table(nb::handle table, const char* name) {
  if (nb::isinstance<nb::tuple>(table)) {
    device_ = device_view(nb::borrow<nb::tuple>(table));
    table_ = std::visit(
        []<class T>(const gpu::device_matrix_view<T>& view) -> gpu::detail::any_table {
          return gpu::device_matrix_view<const T>(view);
        },
        device_);
  } else {
    host_.emplace(table, name, array_form::table);
    table_ = host_->table();
  }
}

pair_tables::pair_tables(nb::handle x, nb::handle y) : x_(x, "x") {
  if (y.is_none()) return;
  if (nb::isinstance<gpu::prepared_rows>(y)) {
    prepared_y_ = nb::cast<const gpu::prepared_rows&>(y);
    return;
  }
  y_.emplace(y, "y");
  if (y_->is_on_device() != x_.is_on_device()) {
    throw nb::type_error("x, y: expected both in host memory or both in device memory");
  }
}

pair_call::pair_call(option_reader& reader) : context(reader) {
  reader.read("measure", what);
  reader.read("max_p", keep.max_p);
  reader.read("min_abs", keep.min_abs);
  reader.read("tail", keep.side);
  reader.read("adjust", keep.adjust);
  reader.read("nans", options.nans);
  reader.read("min_observations", options.min_observations);
  reader.read("variant", options.variant);
  reader.read("fold", options.fold);
  const nb::handle part = reader.take("part");
  if (part.is_valid()) options.part = read_part(part);
  options.exec = context.execution();
}

run_summary summary_of(gpu::pair_summary&& summary, const pair_tables& tables) {
  return {.of_run = std::move(summary), .has_y = tables.has_y()};
}

}  // namespace gpu_python
