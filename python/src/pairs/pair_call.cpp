#include "pairs/pair_call.hpp"

namespace gpu_python {
namespace {

// The indices of a sparse table, 32 or 64 bits wide.
template <class T>
const T* indices_of(const host_array& array) {
  const auto* found = std::get_if<gpu::matrix_view<const T>>(&array.table());
  return found == nullptr ? nullptr : found->data();
}

// Compressed sparse rows: where the rows begin, their columns, their values.
gpu::detail::any_table sparse_table(const std::vector<host_array>& arrays, const nb::tuple& shape) {
  const auto rows = nb::cast<gpu::index_t>(shape[0]);
  const auto cols = nb::cast<gpu::index_t>(shape[1]);
  return std::visit(
      [&]<class View>(const View& values) -> gpu::detail::any_table {
        using value = typename View::value_type;
        if constexpr (std::is_same_v<View, gpu::matrix_view<const value>>) {
          if (const auto* begin = indices_of<std::int64_t>(arrays[0])) {
            const auto* column = indices_of<std::int64_t>(arrays[1]);
            return gpu::csr_view<const value>(begin, column, values.data(), rows, cols);
          }
          const auto* begin = indices_of<std::int32_t>(arrays[0]);
          const auto* column = indices_of<std::int32_t>(arrays[1]);
          return gpu::csr_view<const value>(begin, column, values.data(), rows, cols);
        }
        throw nb::type_error("the values of a sparse table do not follow each other");
      },
      arrays[2].table());
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
  } else if (nb::hasattr(table, "row_begin")) {
    for (const char* const part : {"row_begin", "column", "values"}) {
      host_.emplace_back(table.attr(part), name, array_form::table);
    }
    table_ = sparse_table(host_, nb::borrow<nb::tuple>(table.attr("shape")));
  } else {
    host_.emplace_back(table, name, array_form::table);
    table_ = host_.back().table();
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
  const nb::handle covariates = reader.take("covariates");
  if (covariates.is_valid()) {
    options.covariates = covariates_.emplace(covariates, "covariates").as<double>("covariates");
  }
  const nb::handle weights = reader.take("weights");
  if (weights.is_valid()) {
    const auto view = weights_.emplace(weights, "weights").as<double>("weights");
    options.column_weights = {view.data(), static_cast<std::size_t>(view.rows() * view.cols())};
  }
  reader.read("effective_observations", options.effective_observations);
  reader.read("p_method", options.p_method);
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
