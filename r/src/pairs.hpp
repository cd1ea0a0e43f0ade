#pragma once
// What the calls over all pairs share: their options, and the summary of a run.

#include <gpu/similarity.hpp>

#include "call.hpp"
#include "option_names.hpp"
#include "tables.hpp"

namespace gpu_r {

// Reads method, use, covariates, weights, variant, fold, part and what
// execution_context reads; the caller reads its own and calls check_all_read().
struct pair_call {
  explicit pair_call(option_reader& options);

  // The measure of all pairs of the tables, inside context.run().
  template <class Sink>
  gpu::sink_result_t<Sink> all_pairs(const pair_tables& tables, const Sink& sink) const {
    return tables.visit(
        [&](const auto&... views) { return gpu::all_pairs(what, views..., options, sink); });
  }

  gpu::measure what = gpu::measure::spearman;
  execution_context context;
  gpu::pair_options options;

 private:
  std::vector<double> weights_;
};

// Which pairs to keep: max_p, min_abs, alternative and adjust.
[[nodiscard]] gpu::pair_filter read_filter(option_reader& options);

cpp11::sexp summary_of(const gpu::pair_summary& summary, bool has_y);

// The columns row, col (from 1), statistic and p of edges.
cpp11::sexp edges_of(std::span<const gpu::edge> edges);

// Of the entries of a table of partners: the partners from 1 (NA behind the last) [rows, k], and
// how many each row has.
cpp11::sexp partners_of(const gpu::matrix<gpu::node_id>& index);

}  // namespace gpu_r
