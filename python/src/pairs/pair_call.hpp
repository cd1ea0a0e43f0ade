#pragma once
// What the functions over all pairs of rows share: their tables, options, the call, the summary.

#include <gpu/similarity.hpp>

#include <optional>

#include "../arrays.hpp"
#include "../option_names.hpp"
#include "../options.hpp"

namespace gpu_python {

// The tables of a call: x alone, or the rows of x against those of y.
class pair_tables {
 public:
  // `y` may be None.
  pair_tables(nb::handle x, nb::handle y);

  [[nodiscard]] bool has_y() const noexcept { return y_.has_value(); }
  // one(x) or two(x, y) with the views, whatever their element types are.
  template <class One, class Two>
  auto visit(const One& one, const Two& two) const {
    return y_ ? std::visit(two, x_.view(), y_->view()) : std::visit(one, x_.view());
  }
  template <class One>
  auto visit_x(const One& one) const {
    return std::visit(one, x_.view());
  }

 private:
  host_array x_;
  std::optional<host_array> y_;
};

// The options of one call over all pairs. Reads measure, the filter, nans, variant, fold, part and
// what execution_context reads; the caller reads its own and calls check_all_read().
struct pair_call {
  explicit pair_call(option_reader& options);

  // The library's all-pairs function of the measure. Without the GIL, inside context.run().
  template <class Sink>
  gpu::sink_result_t<Sink> all_pairs(const pair_tables& tables, const Sink& sink) const {
    return tables.visit(
        [&](const auto x) {
          return what == measure::spearman ? gpu::spearman_all_pairs(x, options, sink)
                                           : gpu::pearson_all_pairs(x, options, sink);
        },
        [&](const auto x, const auto y) {
          return what == measure::spearman ? gpu::spearman_all_pairs(x, y, options, sink)
                                           : gpu::pearson_all_pairs(x, y, options, sink);
        });
  }

  measure what = measure::spearman;
  gpu::pair_filter keep;
  execution_context context;
  gpu::pair_options options;
};

// A gpu_similarity.PairSummary.
nb::object summary_object(gpu::pair_summary&& summary, const pair_tables& tables);

}  // namespace gpu_python
