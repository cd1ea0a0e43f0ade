// What an all-pairs call would run and keep, from its shape and a sample of its rows.
#include <gpu/plan.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "api/all_pairs_run.hpp"
#include "api/pair_call.hpp"
#include "base/memory_errors.hpp"
#include "cuda_runtime/device_info.hpp"
#include "pairs/checks.hpp"
#include "pairs/sample.hpp"
#include "pairs/tables.hpp"
#include "plan/fold_choice.hpp"
#include "plan/screen_choice.hpp"
#include "tanimoto/search.hpp"

namespace gpu::inline v0 {
namespace detail {
namespace {

enum class result_kind { edges, counts, partners, dense };

// What a plan asks of a sink.
struct planned_sink {
  result_kind kind = result_kind::edges;
  pair_filter keep = {};
  std::size_t entry_bytes = 0;  // of an edge, or of an element of a dense result
  index_t most_entries = std::numeric_limits<index_t>::max();  // edges that are held at once
  index_t k = 0;                                               // of partners
  index_t bins = 0;                                            // of counts

  [[nodiscard]] part_shape shape() const {
    const bool by_rows = kind == result_kind::partners || kind == result_kind::dense;
    return by_rows ? part_shape::equal_rows : part_shape::equal_pairs;
  }
};

template <class Value>
planned_sink describe(const basic_dense_sink<Value>& /*sink*/) {
  return {.kind = result_kind::dense, .entry_bytes = sizeof(Value)};
}
planned_sink describe(const edge_sink& sink) {
  return {.keep = sink.keep, .entry_bytes = sizeof(edge)};
}
planned_sink describe(const stream_sink& sink) {
  return {.keep = sink.keep, .entry_bytes = sizeof(edge), .most_entries = sink.batch_edges};
}
planned_sink describe(const top_k_sink& sink) {
  return {.kind = result_kind::partners, .keep = sink.keep, .k = sink.k};
}
planned_sink describe(const count_sink& sink) {
  return {.kind = result_kind::counts, .keep = sink.keep, .bins = sink.histogram_bins};
}

screen_use use_of(const planned_sink& sink) {
  return sink.kind == result_kind::counts ? screen_use::counts : screen_use::edges;
}

double share_of(double valid, index_t rows) {
  return rows == 0 ? 0.0 : valid / static_cast<double>(rows);
}

// Counts the pairs of a sample of rows: of a table, or of the rows of x that the call is about and
// of y.
sample_result count_sample(const pair_request& request, const pair_input& input,
                           const planned_sink& sink) {
  const measure_traits& what = request.what;
  pair_request of_sample = request;
  of_sample.exec.target = backend::cpu;
  of_sample.exec.devices.clear();
  of_sample.exec.on_progress = {};
  of_sample.part = {};
  of_sample.variant = pair_variant::automatic;
  of_sample.refuses_nan = false;  // the whole input was checked before

  const index_t rows_of_x = input.rows_of_x();
  const bool is_against = input.tables.y.has_value();
  const table_sample x =
      draw_rows(input.tables.x, is_against ? input.area.rows : index_range{0, rows_of_x});
  of_sample.tables = {.x = x.rows, .bits = input.tables.bits};
  table_sample y;
  if (is_against) {
    y = draw_rows(*input.tables.y, {0, input.rows_of_y()});
    of_sample.tables.y = y.rows;
    of_sample.tables.y_bits = input.tables.y_bits;
  }
  pair_run run(of_sample, part_shape::equal_pairs);
  const auto valid_of = [](const std::vector<index_t>& constant,
                           const std::vector<index_t>& with_nan,
                           const std::vector<index_t>& infinite, const any_table& table) {
    return static_cast<double>(rows_of(table)) -
           static_cast<double>(constant.size() + with_nan.size() + infinite.size());
  };
  sample_result out;
  const pair_summary summary = run.finish(0);
  out.valid_x = valid_of(summary.constant_rows, summary.nan_rows, summary.infinite_rows, x.rows);
  const double all_x = share_of(out.valid_x, rows_of(x.rows)) * static_cast<double>(rows_of_x);
  out.family = pairs_of(all_x);
  out.valid_partners = all_x - 1;
  out.is_all = x.is_all() && (is_against || input.area.is_whole_table());
  if (is_against) {
    out.valid_y =
        valid_of(summary.y_constant_rows, summary.y_nan_rows, summary.y_infinite_rows, y.rows);
    out.valid_partners =
        share_of(out.valid_y, rows_of(y.rows)) * static_cast<double>(input.rows_of_y());
    out.family = all_x * out.valid_partners;
    out.is_all = out.is_all && y.is_all();
  }
  const pair_filter filter = sample_filter(sink.keep, out.family);
  const pair_test& test = run.resolve(filter, sink.kind == result_kind::partners);
  out.keep = test.keep();
  out.counts.tested = run.pairs_tested();
  run.engine().counts(
      {.keep = out.keep, .histogram_bins = 0, .cuts = test.cuts(), .tied = test.tied_cut()},
      out.counts);
  if (test.p_of().table != nullptr) {
    out.cut = count_candidates(run.engine(), what, out.keep, use_of(sink), out.counts);
  }
  const tied_cut* const tied = test.tied_cut();
  if (what.form == row_form::bits) {
    out.choice = "the bits that both rows have are counted, what they make is decided in double";
  } else {
    const bool is_of_ranks = tied != nullptr && tied->p == nullptr && tied->shared == nullptr;
    out.choice =
        cpu::explain_edges(run.packed_engine(), is_of_ranks ? tied->ranks.permutations : out.keep);
  }
  if (tied != nullptr && tied->p != nullptr) {
    const double least = stats::least_rho(stats::decide_by(*tied->p, tied->keep), true);
    out.keep = {.at_least = least, .at_most = -least};  // of the ranks that would be screened
  }
  if (is_against) {
    const auto first_of_y = out.counts.degree.begin() + rows_of(x.rows);
    out.counts.y_degree.assign(first_of_y, out.counts.degree.end());
    out.counts.degree.erase(first_of_y, out.counts.degree.end());
  }
  return out;
}

// Host memory of the result that `kept` pairs make.
double result_bytes_of(const planned_sink& sink, const pair_input& input, double kept) {
  const auto rows = static_cast<double>(input.area.rows.size());
  switch (sink.kind) {
    case result_kind::edges:
      return std::min(kept, static_cast<double>(sink.most_entries)) *
             static_cast<double>(sink.entry_bytes);
    case result_kind::counts:
      return static_cast<double>(input.rows()) * sizeof(std::uint32_t) +
             static_cast<double>(sink.bins) * sizeof(std::uint64_t);
    case result_kind::partners:
      return rows *
             (static_cast<double>(sink.k) * (sizeof(node_id) + sizeof(double)) + sizeof(node_id));
    case result_kind::dense:
      return rows * static_cast<double>(input.area.cols.size()) *
             static_cast<double>(sink.entry_bytes);
  }
  return 0;
}

// How the pairs would be decided, in words.
std::string choice_of(const measure_traits& what, const planned_sink& sink, const pair_plan& plan,
                      const sample_result& sample, index_t cols) {
  if (sink.kind == result_kind::dense)
    return "every statistic is computed: the result has them all";
  if (sink.kind == result_kind::partners) {
    return "every pair is looked at: a row keeps the best partners so far";
  }
  if (what.form == row_form::bits) return sample.choice;
  if (plan.variant == pair_variant::hopper) {
    return explain_screen(what, sample.keep, cols, use_of(sink), static_cast<double>(plan.pairs),
                          sample.cut);
  }
  if (plan.used == backend::cuda || plan.variant == pair_variant::naive) {
    return "every pair is decided: this variant has no screen";
  }
  return sample.choice;
}

engine_plan plan_engine(const measure_traits& what, const pair_input& input, backend used) {
  if (what.form == row_form::bits) {
    return used == backend::cuda ? cuda::plan_tanimoto_search(input)
                                 : cpu::plan_tanimoto_search(input);
  }
  return used == backend::cuda ? cuda::plan_pair_engine(what, input)
                               : cpu::plan_pair_engine(what, input);
}

pair_plan plan(const pair_request& request, const planned_sink& sink) {
  const auto& [what, tables, part, refuses_nan, folding, variant, exec] = request;
  const backend used = checked_backend(request);
  if (refuses_nan) {
    validate::refuse_nan(tables, validate::find_nan_rows(tables, exec.cpu_threads), exec);
  }
  const pair_input input = input_of(request, sink.shape());
  const engine_plan engine = plan_engine(what, input, used);
  (void)looks_for_patterns(what, used, engine.variant,
                           {input.rows(), input.cols(), input.folds});  // refuses what a call does
  pair_plan out{.used = used,
                .device = engine.device,
                .variant = engine.variant,
                .tile_rows = engine.tile_rows,
                .tile_cols = engine.tile_cols,
                .workspace_bytes = engine.workspace_bytes,
                .pairs = pairs_in(input.area),
                .warning = engine.warning};
  if (is_on_device(tables)) {
    out.choice = "decided by the call: rows in device memory are not looked at beforehand";
    out.result_bytes = result_bytes_of(sink, input, 0);
    return out;
  }
  const sample_result sample = count_sample(request, input, sink);
  out.choice = choice_of(what, sink, out, sample, input.cols());
  const std::string limit = limit_on_cuda(what, input.cols());
  if (exec.target == backend::automatic && !limit.empty()) {
    out.choice = fmt::format("on the CPU, as {}: {}", limit, out.choice);
  } else if (chooses_backend(request) && cuda::is_usable()) {
    const backend_seconds expected = seconds_of_call(request);
    const double start = cuda::has_context() ? 0 : expected.cuda_start;
    out.backend_choice = fmt::format(
        "expected {:.2g} s on the CPU, {:.2g} s on CUDA{}", expected.cpu, expected.cuda + start,
        start > 0 ? fmt::format(" with {:.2g} s to start it", start) : "");
    out.choice = fmt::format("on {}, {}: {}", used == backend::cpu ? "the CPU" : "CUDA",
                             out.backend_choice, out.choice);
  }
  const auto job_pairs =
      static_cast<double>(pairs_in(area_of(tables, {}, part_shape::equal_pairs)));
  fill_estimates(sample, job_pairs > 0 ? static_cast<double>(out.pairs) / job_pairs : 0.0, out);
  out.result_bytes = result_bytes_of(sink, input, out.kept_estimate);
  if (sink.kind == result_kind::partners) fill_partner_estimates(sample, input, sink.k, out);
  return out;
}

}  // namespace

backend backend_of(measure what, const pair_tables& tables, const pair_options& options) {
  return with_memory_errors("all pairs", [&] {
    const pair_call call(what, tables, options, call_facts::none);
    return checked_backend(call.request());
  });
}

bool has_used_cuda() {
  return cuda::has_context();
}

template <class Sink>
pair_plan plan_all_pairs_on_host(measure of, const pair_tables& tables, const pair_options& options,
                                 const Sink& sink) {
  return with_memory_errors("plan_all_pairs", [&] {
    const pair_call call(of, tables, options, facts_of(sink));
    validate::check_sink(call.what(), sink);
    return plan(call.request(), describe(sink));
  });
}

#define GPU_SIMILARITY_INSTANTIATE_SINK(Sink)                      \
  template GPU_SIMILARITY_EXPORT pair_plan plan_all_pairs_on_host( \
      measure, const pair_tables&, const pair_options&, const Sink&);
GPU_SIMILARITY_FOR_EACH_PAIR_SINK(GPU_SIMILARITY_INSTANTIATE_SINK)
#undef GPU_SIMILARITY_INSTANTIATE_SINK

}  // namespace detail
}  // namespace gpu::inline v0
