// What an all-pairs call would run and keep, from its shape and a sample of its rows.
#include <gpu/plan.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <random>
#include <set>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "api/all_pairs_run.hpp"
#include "base/memory_errors.hpp"
#include "pairs/checks.hpp"
#include "pairs/tables.hpp"
#include "plan/fold_choice.hpp"
#include "plan/screen_choice.hpp"

namespace gpu::inline v0 {
namespace detail {
namespace {

constexpr index_t most_sample_rows = 2048;

enum class result_kind { edges, counts, partners, dense };

// What a plan asks of a sink.
struct planned_sink {
  result_kind kind = result_kind::edges;
  pair_filter keep = {};
  std::size_t entry_bytes = 0;  // of an edge, or of an element of a dense result
  index_t most_entries = std::numeric_limits<index_t>::max();  // edges that are held at once
  index_t k = 0;                                               // of partners
  index_t bins = 0;                                            // of counts
  bool folds = false;                                          // edges are between patterns

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
planned_sink describe(const folded_edge_sink& sink) {
  return {.keep = sink.keep, .entry_bytes = sizeof(folded_edge), .folds = true};
}
planned_sink describe(const folded_stream_sink& sink) {
  return {.keep = sink.keep,
          .entry_bytes = sizeof(folded_edge),
          .most_entries = sink.batch_edges,
          .folds = true};
}
planned_sink describe(const top_k_sink& sink) {
  return {.kind = result_kind::partners, .keep = sink.keep, .k = sink.k};
}
planned_sink describe(const count_sink& sink) {
  return {.kind = result_kind::counts, .keep = sink.keep, .bins = sink.histogram_bins};
}

template <class Sink>
void check_planned(const measure_traits& what, const Sink& sink) {
  validate::check_sink(what, sink);
}
template <class Value>
void check_planned(const measure_traits& /*what*/, const basic_dense_sink<Value>& /*sink*/) {}

// `count` different rows of `rows`, ascending, by Floyd's algorithm: every set of rows is equally
// likely, so that no order of the rows of a table (every second one alike, say) distorts the
// estimate. The same ones for the same extents.
std::vector<index_t> random_rows(index_t rows, index_t count) {
  constexpr std::uint64_t seed = 20;
  std::mt19937_64 engine(seed);
  std::set<index_t> chosen;
  for (index_t last = rows - count; last < rows; ++last) {
    const auto row = static_cast<index_t>(engine() % (static_cast<std::uint64_t>(last) + 1));
    if (!chosen.insert(row).second) chosen.insert(last);
  }
  return {chosen.begin(), chosen.end()};
}

// Rows of a table, copied, and what they were drawn from.
struct table_sample {
  any_table rows;
  std::shared_ptr<const void> memory;  // of the rows
  index_t drawn_from = 0;
  [[nodiscard]] bool is_all() const { return drawn_from <= most_sample_rows; }
};

// Drawn from the rows `range` of a table.
table_sample draw_rows(const any_table& table, index_range range) {
  return std::visit(
      [&]<class T>(const matrix_view<const T>& data) {
        const index_t count = std::min(range.size(), most_sample_rows);
        auto sample = std::make_shared<matrix<T>>(count, data.cols());
        auto to = index_t{0};
        for (const index_t row : random_rows(range.size(), count)) {
          std::copy_n(data.row(range.begin + row), data.cols(), sample->row(to++).begin());
        }
        const matrix_view<const T> view = sample->view();
        return table_sample{.rows = view, .memory = std::move(sample), .drawn_from = range.size()};
      },
      host_view(table));
}

double pairs_of(double rows) {
  return rows < 2 ? 0.0 : rows * (rows - 1) / 2;
}

struct share_estimate {
  double share;           // kept pairs among tested pairs
  double standard_error;  // of share
};

// The variance of the share due to which rows of a side were drawn. `degree`: kept pairs of each of
// so many valid rows with `partners` partners each.
double variance_of(std::span<const std::uint32_t> degree, double valid, double partners,
                   double share) {
  double squares = 0;
  for (const std::uint32_t kept : degree) {
    const double row_share = static_cast<double>(kept) / partners;
    squares += row_share * row_share;
  }
  return std::max(0.0, squares / valid - share * share) / valid;
}

// The share of kept pairs and its error. Pairs of a sample of rows are not independent: what
// varies is the degree of a row, so the error is that of a U-statistic: of order two for one table,
// of two samples for x against y.
share_estimate kept_share(const pair_counts& counts, double valid_x, double valid_y) {
  if (counts.tested == 0) return {0.0, 0.0};
  const double tested = static_cast<double>(counts.tested);
  const double share = static_cast<double>(counts.kept) / tested;
  const double pair_variance = share * (1 - share) / tested;
  const double row_variance = counts.y_degree.empty()
                                  ? 4 * variance_of(counts.degree, valid_x, valid_x - 1, share)
                                  : variance_of(counts.degree, valid_x, valid_y, share) +
                                        variance_of(counts.y_degree, valid_y, valid_x, share);
  return {share, std::sqrt(row_variance + pair_variance)};
}

// The filter for the sample: a Bonferroni family is that of the whole input; Benjamini-Hochberg
// depends on shares alone, so the sample's own cut estimates it.
pair_filter sample_filter(const pair_filter& keep, double family) {
  pair_filter out = keep;
  if (keep.adjust == adjustment::bonferroni && family > 1) {
    out.max_p = keep.max_p / family;
    out.adjust = adjustment::none;
  }
  return out;
}

struct sample_result {
  pair_counts counts = {};
  double valid_x = 0;  // rows of the sample with a statistic
  double valid_y = 0;  // those of y
  double valid_partners =
      0;                // rows of the whole job that a row with a statistic may be paired with
  double family = 0;    // expected tests of the whole job
  bool is_all = false;  // whether nothing was left out
  keep_range keep = {};
  cut_sample cut = {};
  std::string choice = {};  // the CPU's, in words
};

screen_use use_of(const planned_sink& sink) {
  return sink.kind == result_kind::counts ? screen_use::counts : screen_use::edges;
}

// What the screens of a cut would leave of the sample.
cut_sample count_candidates(pair_engine& engine, const measure_traits& what, const keep_range& keep,
                            screen_use use, const pair_counts& counts) {
  cut_sample out{.pairs = counts.tested, .kept = counts.kept};
  pair_counts reached;
  std::size_t number = 0;
  for (const possible_screen& screen : screens_for(what, keep, engine.rows().cols, use)) {
    engine.counts({.keep = {screen.reach, -screen.reach}, .histogram_bins = 0}, reached);
    out.candidates[number++] = reached.kept;
  }
  return out;
}

double share_of(double valid, index_t rows) {
  return rows == 0 ? 0.0 : valid / static_cast<double>(rows);
}

index_t rows_of(const any_table& table) {
  return std::visit([](const auto& view) { return view.rows(); }, table);
}

// Counts the pairs of a sample of rows: of a table, or of the rows of x that the call is about and
// of y.
sample_result count_sample(const measure_traits& what, const pair_input& input,
                           const pair_options& options, const planned_sink& sink) {
  pair_options sample_options = options;
  sample_options.exec.target = backend::cpu;
  sample_options.exec.on_progress = {};
  sample_options.part = {};
  sample_options.variant = pair_variant::automatic;
  if (!is_pairwise(what)) {
    sample_options.nans = nan_policy::propagate;  // the whole input was checked before
  }

  const index_t rows_of_x = input.rows_of_x();
  const bool is_against = input.tables.y.has_value();
  const table_sample x =
      draw_rows(input.tables.x, is_against ? input.area.rows : index_range{0, rows_of_x});
  pair_tables tables{x.rows};
  table_sample y;
  if (is_against) {
    y = draw_rows(*input.tables.y, {0, input.rows_of_y()});
    tables.y = y.rows;
  }
  pair_run run(what, tables, sample_options, part_shape::equal_pairs);
  const auto valid_of = [](const std::vector<index_t>& constant, const std::vector<index_t>& nans,
                           const any_table& table) {
    return static_cast<double>(rows_of(table)) - static_cast<double>(constant.size() + nans.size());
  };
  sample_result out;
  const pair_summary summary = run.finish(0);
  out.valid_x = valid_of(summary.constant_rows, summary.nan_rows, x.rows);
  const double all_x = share_of(out.valid_x, rows_of(x.rows)) * static_cast<double>(rows_of_x);
  out.family = pairs_of(all_x);
  out.valid_partners = all_x - 1;
  out.is_all = x.is_all() && (is_against || input.area.is_whole_table());
  if (is_against) {
    out.valid_y = valid_of(summary.y_constant_rows, summary.y_nan_rows, y.rows);
    out.valid_partners =
        share_of(out.valid_y, rows_of(y.rows)) * static_cast<double>(input.rows_of_y());
    out.family = all_x * out.valid_partners;
    out.is_all = out.is_all && y.is_all();
  }
  const pair_filter filter = sample_filter(sink.keep, out.family);
  out.keep =
      sink.kind == result_kind::partners ? run.resolve_partners(filter) : run.resolve(filter);
  out.counts.tested = run.pairs_tested();
  run.engine().counts({.keep = out.keep, .histogram_bins = 0, .cuts = run.cuts()}, out.counts);
  if (!is_pairwise(what)) {
    out.cut = count_candidates(run.engine(), what, out.keep, use_of(sink), out.counts);
  }
  out.choice = run.engine().explain_edges(out.keep);
  if (is_against) {
    const auto first_of_y = out.counts.degree.begin() + rows_of(x.rows);
    out.counts.y_degree.assign(first_of_y, out.counts.degree.end());
    out.counts.degree.erase(first_of_y, out.counts.degree.end());
  }
  return out;
}

// Of pairs to entries of a table of partners: a pair is one of each of its rows, of x against y of
// that of x alone, and a row has at most k.
void estimate_partners(const sample_result& sample, const pair_input& input, index_t k,
                       pair_plan& out) {
  const bool is_against = input.tables.y.has_value();
  const auto rows = static_cast<double>(input.area.rows.size());
  const auto partners = static_cast<double>(is_against ? input.rows_of_y() : input.rows() - 1);
  const double valid = is_against ? sample.valid_y : sample.valid_x - 1;
  const double most = std::min(static_cast<double>(k), std::max(partners, 0.0));
  const auto sampled = static_cast<double>(sample.counts.degree.size());
  double entries = 0;
  if (valid > 0 && sampled > 0) {
    const double all_valid = sample.valid_partners;
    for (const std::uint32_t kept : sample.counts.degree) {
      entries += std::min(most, static_cast<double>(kept) * all_valid / valid);
    }
    entries *= rows / sampled;
  }
  out.kept_estimate = entries;
  out.kept_upper =
      sample.is_all
          ? entries
          : std::max(entries, std::min(rows * most, (is_against ? 1 : 2) * out.kept_upper));
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
  if (plan.variant == pair_variant::hopper) {
    return explain_screen(what, sample.keep, cols, use_of(sink), sample.cut);
  }
  if (plan.used == backend::cuda || plan.variant == pair_variant::naive) {
    return "every pair is decided: this variant has no screen";
  }
  return sample.choice;
}

// Fills the estimates of the plan.
void estimate(const sample_result& sample, double part_of_job, pair_plan& out) {
  const auto [share, error] = kept_share(sample.counts, sample.valid_x, sample.valid_y);
  const double tests = sample.family * part_of_job;
  out.sampled_pairs = sample.counts.tested;
  out.kept_estimate = share * tests;
  if (sample.is_all) {
    out.kept_upper = out.kept_estimate;
  } else if (sample.counts.tested > 0) {
    // With nothing or little kept in the sample, the rule of three bounds the share.
    const double floor = 3.0 / static_cast<double>(sample.counts.tested);
    out.kept_upper = std::min(1.0, share + std::max(3 * error, floor)) * tests;
  }
}

pair_plan plan(const measure_traits& what, const pair_tables& tables, const pair_options& options,
               const planned_sink& sink) {
  const backend used = checked_backend(what, tables, options);
  validate::check_nans(tables, options.nans, options.exec.cpu_threads);
  const pair_input input{.tables = tables,
                         .area = area_of(tables, options.part, sink.shape()),
                         .pairs_above = sink.shape() != part_shape::equal_rows};
  pair_options engine_options = options;
  if (sink.folds) engine_options.fold = row_folding::always;
  const engine_plan engine = used == backend::cuda
                                 ? cuda::plan_pair_engine(what, input, engine_options)
                                 : cpu::plan_pair_engine(what, input, engine_options);
  (void)looks_for_patterns(what, used, engine.variant, input.rows(), engine_options);
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
  const sample_result sample = count_sample(what, input, options, sink);
  out.choice = choice_of(what, sink, out, sample, input.cols());
  const auto job_pairs =
      static_cast<double>(pairs_in(area_of(tables, {}, part_shape::equal_pairs)));
  estimate(sample, job_pairs > 0 ? static_cast<double>(out.pairs) / job_pairs : 0.0, out);
  out.result_bytes = result_bytes_of(sink, input, out.kept_estimate);
  if (sink.kind == result_kind::partners) estimate_partners(sample, input, sink.k, out);
  return out;
}

}  // namespace

template <class Sink>
pair_plan plan_all_pairs_on_host(measure of, const pair_tables& tables, const pair_options& options,
                                 const Sink& sink) {
  return with_memory_errors("plan_all_pairs", [&] {
    const measure_traits& what = traits_of_call(of, tables, options);
    check_planned(what, sink);
    return plan(what, tables, options, describe(sink));
  });
}

template GPU_SIMILARITY_EXPORT pair_plan plan_all_pairs_on_host(measure, const pair_tables&,
                                                                const pair_options&,
                                                                const basic_dense_sink<double>&);
template GPU_SIMILARITY_EXPORT pair_plan plan_all_pairs_on_host(measure, const pair_tables&,
                                                                const pair_options&,
                                                                const basic_dense_sink<float>&);
template GPU_SIMILARITY_EXPORT pair_plan plan_all_pairs_on_host(measure, const pair_tables&,
                                                                const pair_options&,
                                                                const edge_sink&);
template GPU_SIMILARITY_EXPORT pair_plan plan_all_pairs_on_host(measure, const pair_tables&,
                                                                const pair_options&,
                                                                const top_k_sink&);
template GPU_SIMILARITY_EXPORT pair_plan plan_all_pairs_on_host(measure, const pair_tables&,
                                                                const pair_options&,
                                                                const count_sink&);
template GPU_SIMILARITY_EXPORT pair_plan plan_all_pairs_on_host(measure, const pair_tables&,
                                                                const pair_options&,
                                                                const stream_sink&);
template GPU_SIMILARITY_EXPORT pair_plan plan_all_pairs_on_host(measure, const pair_tables&,
                                                                const pair_options&,
                                                                const folded_edge_sink&);
template GPU_SIMILARITY_EXPORT pair_plan plan_all_pairs_on_host(measure, const pair_tables&,
                                                                const pair_options&,
                                                                const folded_stream_sink&);

}  // namespace detail
}  // namespace gpu::inline v0
