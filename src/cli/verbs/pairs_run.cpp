#include "cli/verbs/pairs_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <memory>
#include <optional>

#include <gpu/all_pairs.hpp>
#include <gpu/bit_matrix.hpp>
#include <gpu/error.hpp>
#include <gpu/matrix_input.hpp>
#include <gpu/observations.hpp>
#include <gpu/p_value.hpp>
#include <gpu/plan.hpp>

#include "cli/process/messages.hpp"
#include "cli/process/start_checks.hpp"
#include "cli/process/stopwatch.hpp"
#include "cli/verbs/all_pairs.hpp"
#include "io/write/edges/adjusted_edges.hpp"
#include "io/write/result_writer.hpp"

namespace gpu::cli {
namespace {

/// Writes edges while the pairs are computed.
void write_between(std::span<const edge> edges, io::edge_writer& writer, run_report& report) {
  const stopwatch watch;
  writer.write(edges);
  report.write_between_seconds += watch.seconds();
}

// Pairs that a terminal shows where nothing says which.
constexpr index_t shown_edges = 20;

/// The pairs of largest magnitude, at most as many as a row of `table` has; ties in the order of
/// rows and columns. Each is an entry of its first row: those of a row that come before it there
/// come before it here too.
std::vector<edge> best_edges(const neighbor_table& table, index_t count,
                             const io::result_context& context) {
  std::vector<edge> found;
  for (std::size_t i = 0; i < table.count.size(); ++i) {
    const auto row = static_cast<node_id>(i);
    for (index_t e = 0; e < table.count[i]; ++e) {
      const node_id col = table.index(row, e);
      if (context.against == nullptr && col < row) continue;
      found.push_back({.row = row, .col = col, .statistic = table.statistic(row, e), .p = 0});
    }
  }
  std::stable_sort(found.begin(), found.end(), [](const edge& a, const edge& b) {
    const double x = std::abs(a.statistic);
    const double y = std::abs(b.statistic);
    if (x != y) return x > y;
    return a.row != b.row ? a.row < b.row : a.col < b.col;
  });
  if (std::ssize(found) > count) found.resize(static_cast<std::size_t>(count));
  io::set_p(found, context);
  return found;
}

// A bit for each value, set where it is a NaN.
bit_matrix nans_of(const io::table& table) {
  bit_matrix out(table.rows(), table.cols());
  std::fill_n(out.words(), out.rows() * out.row_words(), 0U);
  const auto set = [&](index_t row, index_t col) {
    out.words()[row * out.row_words() + col / 32] |= std::uint32_t{1} << (col % 32);
  };
  for (index_t i = 0; i < table.rows(); ++i) {
    if (table.sparse) {
      for (const index_t col : io::nan_columns(*table.sparse, i)) set(i, col);
      continue;
    }
    std::visit(
        [&](const auto& values) {
          for (index_t k = 0; k < values.cols(); ++k) {
            if (values(i, k) != values(i, k)) set(i, k);
          }
        },
        table.values);
  }
  return out;
}

// The columns in which two rows of the tables have no NaN.
io::shared_columns shared_columns_of(const pairs_command& job, const input_tables& tables) {
  if (!job.is_pairwise()) return {};
  const auto x = std::make_shared<const bit_matrix>(nans_of(tables.x));
  const auto y = tables.y ? std::make_shared<const bit_matrix>(nans_of(*tables.y)) : x;
  return [x, y](index_t row, index_t col) {
    const std::uint32_t* const a = x->words() + row * x->row_words();
    const std::uint32_t* const b = y->words() + col * y->row_words();
    index_t either = 0;
    for (index_t k = 0; k < x->row_words(); ++k) either += std::popcount(a[k] | b[k]);
    return x->cols() - either;
  };
}

// p of pairs of rows of the tables, which outlive it, by the ties in the columns that they share.
io::shared_p shared_p_of(const pairs_command& job, const input_tables& tables) {
  if (!job.is_pairwise() || job.info().test != significance::kendall) return {};
  return [data = tables_of(tables), side = job.filter.side,
          threads = job.pairs.exec.cpu_threads](std::span<const edge> pairs) {
    return detail::shared_kendall_p(data, pairs, side, {.cpu_threads = threads});
  };
}

// The test behind p, as far as weights do not decide it.
significance test_of(const pairs_command& job, const input_tables& tables) {
  return gpu::test_of(job.what, tables.cols(), tables.with_columns(job.pairs));
}

// The ties of all rows, where p depends on them.
std::shared_ptr<const std::vector<row_ties>> ties_of(const pairs_command& job,
                                                     const input_tables& tables) {
  const significance test = test_of(job, tables);
  const bool is_of_ties = test == significance::kendall || test == significance::permutations;
  if (!is_of_ties || job.is_pairwise()) return nullptr;
  const auto of_table = [&](const io::table& table) {
    return detail::kendall_ties(table_of(table), {.cpu_threads = job.pairs.exec.cpu_threads});
  };
  auto out = std::make_shared<std::vector<row_ties>>(of_table(tables.x));
  if (tables.y) {
    const std::vector<row_ties> of_y = of_table(*tables.y);
    out->insert(out->end(), of_y.begin(), of_y.end());
  }
  return out;
}

}  // namespace

io::result_context result_context_of(const pairs_command& job, const input_tables& tables) {
  return {.names = tables.x.names,
          .rows = tables.rows(),
          .observations = tables.observations(job.pairs),
          .shared = shared_columns_of(job, tables),
          .p_of_shared = shared_p_of(job, tables),
          .has_test = tables.has_test(job.pairs),
          .rank_test = test_of(job, tables),
          .ties = ties_of(job, tables),
          .what = job.what,
          .side = job.filter.side,
          .has_n = job.writes_n,
          .confidence = job.confidence,
          .digits = job.digits,
          .threads = job.pairs.exec.cpu_threads,
          .against = tables.y ? &tables.y->names : nullptr,
          .against_rows = tables.y ? tables.y->rows() : 0};
}

std::uint64_t edge_sum_of(std::span<const edge> edges, const io::result_context& context) {
  const auto cols = static_cast<std::uint64_t>(context.cols());
  std::uint64_t sum = 0;
  for (const edge& e : edges) sum += e.row * cols + e.col;
  return sum;
}

pairs_run::pairs_run(const pairs_command& job, const input_tables& tables, run_outputs& outputs,
                     progress_line& line, abandonable_phase& phase, const max_t_null* null)
    : job_(job),
      tables_(tables),
      outputs_(outputs),
      line_(line),
      phase_(phase),
      null_(null),
      context_(result_context_of(job, tables)),
      options_(job.pairs) {
  options_.exec.on_progress = shown_on(&line_);
}

void pairs_run::run(run_report& report) {
  // All calls of the run are made where the first one is.
  options_.exec.target =
      detail::backend_of(job_.what, tables_of(tables_), tables_.with_columns(options_));
  if (!job_.quiet) {
    line_.clear();
    note_compilation(options_.exec);
  }
  switch (job_.keep) {
    case keep_kind::edges:
      if (outputs_.result().target().is_terminal && job_.has_no_cut() && !job_.force) {
        return run_best_edges(report);
      }
      return job_.writes_q() ? run_edge_list(report) : run_edges(report);
    case keep_kind::top_k:
      return run_top_k(report);
    case keep_kind::counts:
      return run_counts(report);
    case keep_kind::dense:
      return run_dense(report);
  }
}

void pairs_run::run_edges(run_report& report) {
  const auto writer = io::make_edge_writer(job_.format, outputs_.result(), context_);
  const auto consume = [&](std::span<const edge> edges) {
    phase_.end();
    if (is_interrupted()) throw cancelled("interrupted");
    write_between(edges, *writer, report);
    report.edge_sum = report.edge_sum.value_or(0) + edge_sum_of(edges, context_);
  };
  report.summary = all_pairs(
      job_, tables_, options_,
      stream_sink{
          .keep = job_.filter, .consume = consume, .batch_edges = batch_edges_of(options_)});
  report.edge_sum = report.edge_sum.value_or(0);
  phase_.end();
  line_.clear();
  const stopwatch watch;
  writer->finish();
  outputs_.result().commit();
  report.write_after_seconds = watch.seconds();
}

void pairs_run::run_edge_list(run_report& report) {
  const edge_list result = compute(edge_sink{.keep = job_.filter}, report);
  const std::span<const edge> edges(result.edges.data(), result.edges.size());
  report.edge_sum = edge_sum_of(edges, context_);
  const std::vector<double> q = q_of(edges, result.summary.pairs_tested);
  write_whole([&] { io::write_adjusted_edges(job_.format, outputs_.result(), edges, q, context_); },
              report);
}

std::vector<double> pairs_run::q_of(std::span<const edge> edges, std::uint64_t pairs_tested) const {
  if (null_ != nullptr) return null_->adjusted_p(edges);
  return adjusted_p_values(edges, pairs_tested, job_.filter.adjust);
}

void pairs_run::add_q(neighbor_table& table) const {
  table.q = matrix<double>(table.statistic.rows(), table.statistic.cols());
  std::transform(table.statistic.data(),
                 table.statistic.data() + table.statistic.rows() * table.statistic.cols(),
                 table.q.data(), [this](double statistic) { return null_->adjusted_p(statistic); });
}

void pairs_run::run_best_edges(run_report& report) {
  const index_t most = tables_.y ? context_.cols() : context_.rows - 1;
  const index_t k = std::min<index_t>(shown_edges, most);
  const neighbor_table table = compute(top_k_sink{.k = k, .keep = job_.filter}, report);
  const std::vector<edge> best = best_edges(table, shown_edges, context_);
  report.summary.pairs_kept = best.size();
  report.summary.checksum = {};
  report.edge_sum = edge_sum_of(best, context_);
  write_whole(
      [&] {
        const auto writer = io::make_edge_writer(job_.format, outputs_.result(), context_);
        writer->write(best);
        writer->finish();
      },
      report);
  if (job_.quiet || report.summary.pairs_tested <= best.size()) return;
  say(
      fmt::format("the {} pairs of largest magnitude, of {}. For more give a cut, as --max-p 0.05, "
                  "or a file with --output; --force shows all\n",
                  best.size(), report.summary.pairs_tested));
}

void pairs_run::run_top_k(run_report& report) {
  // A row has no more partners than that, and a table of more takes memory for nothing.
  const index_t k = std::min(job_.k, tables_.y ? context_.cols() : context_.rows - 1);
  const bool asks_for_q = job_.writes_q() && null_ == nullptr;
  neighbor_table result =
      compute(top_k_sink{.k = k,
                         .keep = job_.filter,
                         .order = job_.order,
                         .q = asks_for_q ? neighbor_q::exact : neighbor_q::none},
              report);
  if (null_ != nullptr) add_q(result);
  write_whole([&] { io::write_neighbors(job_.format, outputs_.result(), result, context_); },
              report);
}

void pairs_run::run_counts(run_report& report) {
  const pair_counts result = compute(count_sink{.keep = job_.filter}, report);
  write_whole(
      [&] {
        if (!job_.output.empty()) {
          io::write_counts(job_.format, outputs_.result(), result, context_);
          return;
        }
        outputs_.result().write(
            fmt::format("pairs_tested\t{}\npairs_kept\t{}\n", result.tested, result.kept));
      },
      report);
}

void pairs_run::run_dense(run_report& report) {
  const correlation_matrix<double> result = compute(dense_sink{}, report);
  std::optional<io::output_file>& observations = outputs_.observations();
  // Both are on the disk before either gets its name.
  write_whole(
      [&] {
        io::write_dense(job_.format, outputs_.result(), result, context_);
        if (!observations) return;
        io::write_observations(
            job_.format, *observations,
            detail::shared_observations(tables_of(tables_), {.cpu_threads = context_.threads}),
            context_);
        observations->sync();
      },
      report);
  if (observations) observations->commit();
}

template <class Sink>
sink_result_t<Sink> pairs_run::compute(const Sink& sink, run_report& report) {
  sink_result_t<Sink> result = all_pairs(job_, tables_, options_, sink);
  report.summary = result.summary;
  return result;
}

void pairs_run::write_whole(const std::function<void()>& write, run_report& report) {
  line_.clear();
  io::output_file& out = outputs_.result();
  const stopwatch watch;
  write();
  out.sync();
  phase_.end();
  if (is_interrupted() && out.can_replace()) throw io::interrupted{};
  out.commit();
  report.write_after_seconds = watch.seconds();
}

}  // namespace gpu::cli
