#pragma once
// What the functions over all pairs of rows share: their tables, options, the call, the summary.

#include <gpu/prepared_rows.hpp>
#include <gpu/similarity.hpp>

#include <optional>
#include <vector>

#include "arrays.hpp"
#include "option_names.hpp"
#include "options.hpp"
#include "pairs/run_summary.hpp"

namespace gpu_python {

// A table in host memory, dense or sparse, or described in device memory as device_table() has it.
class pair_table {
 public:
  pair_table(nb::handle table, const char* name);
  [[nodiscard]] bool is_on_device() const noexcept { return host_.empty(); }
  [[nodiscard]] const gpu::detail::any_table& table() const noexcept { return table_; }

 private:
  std::vector<host_array> host_;  // one, or the three of a sparse table
  gpu::detail::any_table table_;
};

// The tables of a call: x alone, or the rows of x against those of y, prepared or not.
class pair_tables {
 public:
  // `y` may be None. A TypeError where one is on the host and one on a device.
  pair_tables(nb::handle x, nb::handle y);

  [[nodiscard]] bool has_y() const noexcept { return y_.has_value() || prepared_y_.has_value(); }
  [[nodiscard]] bool is_prepared() const noexcept { return prepared_y_.has_value(); }
  // As the library takes them: rows of numbers, or with `bits` columns the words of rows of bits.
  [[nodiscard]] gpu::detail::pair_tables of(gpu::index_t bits) const;
  // call(x), call(x, y) or call(x, prepared) with the tables, whatever their memory and types are.
  template <class Call>
  auto visit(const Call& call) const {
    if (!prepared_y_) return visit_tables(call);
    return call(x_.table(), *prepared_y_);
  }
  // The same without prepared rows.
  template <class Call>
  auto visit_tables(const Call& call) const {
    return y_ ? call(x_.table(), y_->table()) : call(x_.table());
  }
  [[nodiscard]] const gpu::detail::any_table& x() const noexcept { return x_.table(); }
  // All of them, and none prepared.
  [[nodiscard]] bool are_on_device() const noexcept { return x_.is_on_device() && !prepared_y_; }

 private:
  pair_table x_;
  std::optional<pair_table> y_;
  std::optional<gpu::prepared_rows> prepared_y_;
};

// The options of one call over all pairs. Reads measure, the filter, nans, covariates, weights,
// variant, fold, part and what execution_context reads; the caller reads its own and calls
// check_all_read().
struct pair_call {
  explicit pair_call(option_reader& options);

  // The library's all-pairs function of the measure. Without the GIL, inside context.run().
  template <class Sink>
  gpu::sink_result_t<Sink> all_pairs(const pair_tables& tables, const Sink& sink) const {
    return gpu::detail::all_pairs(what, tables.of(bits), options, sink);
  }

  gpu::measure what = gpu::measure::spearman;
  gpu::pair_filter keep;
  execution_context context;
  gpu::pair_options options;
  gpu::index_t bits = -1;  // columns of rows of bits

 private:
  std::optional<host_array> covariates_;
  std::optional<host_array> weights_;
};

// The summary of a run over these tables.
run_summary summary_of(gpu::pair_summary&& summary, const pair_tables& tables);

}  // namespace gpu_python
