#include "pairs/pair_call.hpp"

namespace gpu_python {
namespace {

// Most runs have none.
nb::object row_numbers(std::vector<gpu::index_t>&& rows) {
  return rows.empty() ? no_rows() : vector_to_numpy(std::move(rows));
}

gpu::pair_part read_part(nb::handle value) {
  gpu::index_t index = 0;
  gpu::index_t of = 0;
  if (nb::isinstance<nb::tuple>(value) && nb::len(value) == 2 &&
      nb::try_cast<gpu::index_t>(value[0], index) && nb::try_cast<gpu::index_t>(value[1], of)) {
    return {.index = index, .of = of};
  }
  throw nb::type_error("part: expected a tuple of two integers, (index, of)");
}

// A class of the package, found at the first call and never freed.
nb::handle python_class(const char* module, const char* name) {
  return nb::object(nb::module_::import_(module).attr(name)).release();
}

// An instance of a NamedTuple, made as a tuple is: its own constructor costs several times that.
nb::object named_tuple(nb::handle type, const nb::tuple& fields) {
  static const auto make = reinterpret_cast<newfunc>(PyType_GetSlot(&PyTuple_Type, Py_tp_new));
  const nb::tuple arguments = nb::make_tuple(fields);
  PyObject* made = make(reinterpret_cast<PyTypeObject*>(type.ptr()), arguments.ptr(), nullptr);
  if (made == nullptr) nb::raise_python_error();
  return nb::steal(made);
}

nb::object checksum_object(const gpu::pair_checksum& sum) {
  static const nb::handle type = python_class("gpu_similarity._checksum", "Checksum");
  return named_tuple(type, nb::make_tuple(sum.count, sum.mix1, sum.mix2));
}

}  // namespace

pair_table::pair_table(nb::handle table, const char* name) {
  if (nb::isinstance<nb::tuple>(table)) {
    device_ = device_view(nb::borrow<nb::tuple>(table));
  } else {
    host_.emplace(table, name);
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
  reader.read("variant", options.variant);
  reader.read("fold", options.fold);
  const nb::handle part = reader.take("part");
  if (part.is_valid()) options.part = read_part(part);
  options.exec = context.execution();
}

nb::object summary_object(gpu::pair_summary&& summary, const pair_tables& tables) {
  static const nb::handle type = python_class("gpu_similarity._summary", "PairSummary");
  return named_tuple(
      type,
      nb::make_tuple(summary.rows, summary.cols, row_numbers(std::move(summary.constant_rows)),
                     row_numbers(std::move(summary.nan_rows)),
                     tables.has_y() ? nb::object(nb::int_(summary.y_rows)) : nb::none(),
                     row_numbers(std::move(summary.y_constant_rows)),
                     row_numbers(std::move(summary.y_nan_rows)), summary.part_begin,
                     summary.part_end, summary.patterns, summary.pairs_tested, summary.pairs_kept,
                     checksum_object(summary.checksum), summary.max_p_effective,
                     summary.min_abs_effective, summary.cut_at_least, summary.cut_at_most,
                     gpu::to_string(summary.used), summary.device, gpu::to_string(summary.variant),
                     summary.prepare_seconds, summary.pairs_seconds));
}

}  // namespace gpu_python
