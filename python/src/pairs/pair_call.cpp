#include "pairs/pair_call.hpp"

#include <algorithm>
#include <optional>
#include <string>

#include <gpu/error.hpp>

namespace gpu_python {
namespace {

// Compressed sparse rows by one type of indices; null where the indices are of another.
template <class Index, class Value>
std::optional<gpu::csr_view<const Value>> sparse_view(const std::vector<host_array>& arrays,
                                                      const Value* values, gpu::index_t rows,
                                                      gpu::index_t cols) {
  const auto* const begin = std::get_if<gpu::matrix_view<const Index>>(&arrays[0].table());
  const auto* const column = std::get_if<gpu::matrix_view<const Index>>(&arrays[1].table());
  if (begin == nullptr || column == nullptr) return std::nullopt;
  const gpu::index_t most_stored = std::min(arrays[1].cols(), arrays[2].cols());
  return gpu::csr_view<const Value>(begin->data(), column->data(), values, rows, cols, most_stored);
}

// Compressed sparse rows: where the rows begin, their columns, their values.
gpu::detail::any_table sparse_table(const std::vector<host_array>& arrays, const nb::tuple& shape) {
  const auto rows = nb::cast<gpu::index_t>(shape[0]);
  const auto cols = nb::cast<gpu::index_t>(shape[1]);
  if (arrays[0].cols() - 1 != rows) {
    throw gpu::invalid_argument("csr view: got " + std::to_string(arrays[0].cols()) +
                                " begins of rows, expected one more than the " +
                                std::to_string(rows) + " rows");
  }
  return std::visit(
      [&]<class View>(const View& values) -> gpu::detail::any_table {
        using value = typename View::value_type;
        if constexpr (std::is_same_v<View, gpu::matrix_view<const value>>) {
          const value* const data = values.data();
          if (auto wide = sparse_view<std::int64_t>(arrays, data, rows, cols)) return *wide;
          if (auto narrow = sparse_view<std::int32_t>(arrays, data, rows, cols)) return *narrow;
        }
        throw nb::type_error("csr view: expected packed values, and indices of one type");
      },
      arrays[2].table());
}

}  // namespace

pair_table::pair_table(nb::handle table, const char* name) {
  if (nb::isinstance<nb::tuple>(table)) {
    table_ = device_table(nb::borrow<nb::tuple>(table));
  } else if (nb::hasattr(table, "row_begin")) {
    for (const char* const part : {"row_begin", "column", "values"}) {
      host_.emplace_back(table.attr(part), name, array_form::table);
    }
    try {
      table_ = sparse_table(host_, nb::borrow<nb::tuple>(table.attr("shape")));
    } catch (const gpu::invalid_argument& error) {
      throw gpu::invalid_argument(std::string(name) + ": " + error.what());
    }
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

gpu::detail::pair_tables pair_tables::of(gpu::index_t bits) const {
  gpu::detail::pair_tables out{.x = x_.table(), .bits = bits};
  if (prepared_y_) out.prepared_y = prepared_y_->table();
  if (y_) {
    out.y = y_->table();
    out.y_bits = bits;
  }
  return out;
}

pair_call::pair_call(option_reader& reader) : context(reader) {
  reader.read("measure", what);
  reader.read("bits", bits);
  if (bits >= 0) {  // to callers with rows of numbers alpha means max_p
    reader.read("alpha", options.alpha);
    reader.read("beta", options.beta);
  }
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
  double effective_observations = 0;
  reader.read("effective_observations", effective_observations);
  options.effective_observations = effective_observations;
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
