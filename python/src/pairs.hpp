#pragma once
// What the functions over all pairs of rows share: their options, the call, the summary.

#include <gpu/similarity.hpp>

#include "arrays.hpp"
#include "option_names.hpp"
#include "options.hpp"

namespace gpu_python {

// The options of one call over all pairs. Reads measure, the filter, nans, variant, fold and what
// execution_context reads; the caller reads its own and calls check_all_read().
struct pair_call {
  explicit pair_call(option_reader& options);

  // The library's all-pairs function of the measure. Without the GIL, inside context.run().
  template <class Sink>
  gpu::sink_result_t<Sink> all_pairs(const host_array& data, const Sink& sink) const {
    return std::visit(
        [&](const auto view) {
          return what == measure::spearman ? gpu::spearman_all_pairs(view, options, sink)
                                           : gpu::pearson_all_pairs(view, options, sink);
        },
        data.view());
  }

  measure what = measure::spearman;
  gpu::pair_filter keep;
  execution_context context;
  gpu::pair_options options;
};

// The fields of gpu_similarity.PairSummary in order.
nb::tuple summary_tuple(gpu::pair_summary&& summary, gpu::index_t cols);

}  // namespace gpu_python
