#include "cli/run_pairs.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <gpu/backend.hpp>

#include "cli/all_pairs.hpp"
#include "cli/exit_code.hpp"
#include "cli/interrupt.hpp"
#include "cli/output_size.hpp"
#include "cli/progress_line.hpp"
#include "cli/report.hpp"
#include "io/write/folded_writer.hpp"
#include "io/write/output_file.hpp"
#include "io/write/result_writer.hpp"

namespace gpu::cli {
namespace {

class stopwatch {
 public:
  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// A wrong choice of backend is told before a large file is read.
void check_backend(const pairs_command& job) {
  try {
    (void)resolve_backend(job.pairs.exec);
  } catch (const invalid_argument& error) {
    throw usage_error(error.what());
  }
}

io::table read_input(const pairs_command& job, progress_line& line) {
  line.show("reading " + job.input);
  io::table table = io::read_table(job.input, {.header = job.header,
                                               .row_names = job.row_names,
                                               .threads = job.pairs.exec.cpu_threads,
                                               .stop = is_interrupted,
                                               .max_bytes = job.max_input_bytes});
  if (table.first_nan && job.pairs.nans == nan_policy::reject) {
    throw io::input_error(job.input, *table.first_nan,
                          "got NaN, expected a number (--nan propagate leaves such rows out)");
  }
  constexpr index_t fewest_rows = 2;
  constexpr index_t fewest_cols = 3;
  if (table.rows() < fewest_rows) {
    throw io::input_error(job.input, {},
                          fmt::format("got {} row of numbers, expected at least {}: there are no "
                                      "pairs",
                                      table.rows(), fewest_rows));
  }
  if (table.cols() < fewest_cols) {
    throw io::input_error(job.input, {},
                          fmt::format("got {} columns of numbers, expected at least {} "
                                      "observations",
                                      table.cols(), fewest_cols));
  }
  return table;
}

/// One run, from a table in memory to files.
class pairs_run {
 public:
  pairs_run(const pairs_command& job, const io::table& table, progress_line& line)
      : job_(job),
        table_(table),
        line_(line),
        context_{.names = table.names,
                 .rows = table.rows(),
                 .observations = table.cols(),
                 .statistic_name = job.statistic == statistic_kind::spearman ? "rho" : "r",
                 .side = job.filter.side,
                 .threads = job.pairs.exec.cpu_threads},
        options_(job.pairs) {
    options_.exec.on_progress = [this](const progress& state) {
      line_.show(state);
      return is_interrupted() ? progress_reply::cancel : progress_reply::proceed;
    };
  }

  [[nodiscard]] const io::result_context& context() const { return context_; }

  run_report run() {
    switch (job_.keep) {
      case keep_kind::edges:
        run_edges();
        break;
      case keep_kind::folded_edges:
        run_folded_edges();
        break;
      case keep_kind::top_k:
        run_top_k();
        break;
      case keep_kind::counts:
        run_counts();
        break;
      case keep_kind::dense:
        run_dense();
        break;
    }
    return std::move(report_);
  }

 private:
  [[nodiscard]] std::string output_name() const { return job_.output.empty() ? "-" : job_.output; }

  void run_edges() {
    io::output_file out(output_name());
    const auto writer = io::make_edge_writer(job_.format, out, context_);
    std::uint64_t edge_sum = 0;
    std::uint64_t edges_written = 0;
    const auto rows = static_cast<std::uint64_t>(context_.rows);
    const auto consume = [&](std::span<const edge> edges) {
      if (is_interrupted()) throw cancelled("interrupted");
      for (const edge& e : edges) edge_sum += e.row * rows + e.col;
      const stopwatch watch;
      writer->write(edges);
      report_.write_between_seconds += watch.seconds();
      edges_written += edges.size();
    };
    try {
      report_.summary =
          all_pairs(job_, table_, options_, stream_sink{.keep = job_.filter, .consume = consume});
    } catch (const cancelled&) {
      writer->finish();
      throw interrupted_run(
          fmt::format("interrupted: the first {} edges are in {}, which is partial", edges_written,
                      out.keep_partial()));
    }
    report_.edge_sum = edge_sum;
    finish(out, [&] { writer->finish(); });
  }

  void run_folded_edges() {
    io::output_file out(output_name());
    io::output_file patterns_out(job_.patterns);
    std::unique_ptr<io::folded_edge_writer> writer;
    const auto begin = [&](const row_patterns& patterns) {
      const stopwatch watch;
      writer = io::make_folded_edge_writer(job_.format, out, patterns, context_);
      io::write_patterns(job_.format, patterns_out, patterns, context_);
      report_.write_between_seconds += watch.seconds();
    };
    const auto consume = [&](std::span<const folded_edge> edges) {
      if (is_interrupted()) throw cancelled("interrupted");
      const stopwatch watch;
      writer->write(edges);
      report_.write_between_seconds += watch.seconds();
    };
    report_.summary = compute_summary(
        folded_stream_sink{.keep = job_.filter, .begin = begin, .consume = consume});
    finish(out, [&] { writer->finish(); });
    patterns_out.commit();
  }

  void run_top_k() {
    io::output_file out(output_name());
    neighbor_table result = compute(top_k_sink{.k = job_.k, .keep = job_.filter});
    finish(out, [&] { io::write_neighbors(job_.format, out, result, context_); });
  }

  void run_counts() {
    std::optional<io::output_file> out;
    if (!job_.output.empty()) out.emplace(job_.output);
    pair_counts result = compute(count_sink{.keep = job_.filter});
    if (out) {
      finish(*out, [&] { io::write_counts(job_.format, *out, result, context_); });
      return;
    }
    const std::string text =
        fmt::format("pairs_tested\t{}\npairs_kept\t{}\n", result.tested, result.kept);
    io::output_file standard_output("-");
    finish(standard_output, [&] { standard_output.write(text); });
  }

  void run_dense() {
    io::output_file out(output_name());
    const correlation_matrix<double> result = compute(dense_sink{});
    finish(out, [&] { io::write_dense(job_.format, out, result, context_); });
  }

  /// Runs a sink that leaves nothing but a summary.
  pair_summary compute_summary(const folded_stream_sink& sink) {
    try {
      return all_pairs(job_, table_, options_, sink);
    } catch (const cancelled&) {
      throw interrupted_run("interrupted: nothing is written");
    }
  }

  /// Runs a sink whose result is written when it is complete.
  template <class Sink>
  sink_result_t<Sink> compute(const Sink& sink) {
    try {
      sink_result_t<Sink> result = all_pairs(job_, table_, options_, sink);
      report_.summary = result.summary;
      return result;
    } catch (const cancelled&) {
      throw interrupted_run("interrupted: nothing is written");
    }
  }

  template <class Write>
  void finish(io::output_file& out, const Write& write) {
    line_.clear();
    const stopwatch watch;
    write();
    out.commit();
    report_.write_after_seconds = watch.seconds();
  }

  const pairs_command& job_;
  const io::table& table_;
  progress_line& line_;
  io::result_context context_;
  pair_options options_;
  run_report report_;
};

void write_whole_file(const std::string& path, const std::string& text) {
  io::output_file file(path);
  file.write(text);
  file.commit();
}

}  // namespace

void run_pairs(const pairs_command& job) {
  const stopwatch total;
  check_backend(job);
  progress_line line(job.quiet);
  const io::table table = read_input(job, line);
  const double read_seconds = total.seconds();

  pairs_run run(job, table, line);
  if (job.plan_only) {
    const std::string text = plan_text(job, table, run.context());
    line.clear();
    write_whole_file("-", text);
    return;
  }
  check_output_size(job, table, run.context());
  run_report report = run.run();
  report.read_seconds = read_seconds;
  report.total_seconds = total.seconds();
  line.clear();
  if (!job.report.empty()) write_whole_file(job.report, to_json(report));
  if (!job.quiet) fmt::print(stderr, "{}", to_text(report));
}

}  // namespace gpu::cli
