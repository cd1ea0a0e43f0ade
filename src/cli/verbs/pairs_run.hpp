#pragma once
// One run over all pairs, from a table in memory to its outputs.

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include <gpu/max_t.hpp>

#include "cli/options/options.hpp"
#include "cli/outputs/outputs.hpp"
#include "cli/outputs/report.hpp"
#include "cli/process/interrupt.hpp"
#include "cli/process/progress_line.hpp"
#include "cli/verbs/read_input.hpp"
#include "io/write/result_context.hpp"

namespace gpu::cli {

/// What the writers need to know of a run.
[[nodiscard]] io::result_context result_context_of(const pairs_command& job,
                                                   const input_tables& tables);

[[nodiscard]] std::uint64_t edge_sum_of(std::span<const edge> edges,
                                        const io::result_context& context);

class pairs_run {
 public:
  /// All arguments outlive the run. `phase` ends when ending the process would lose something;
  /// `null` is of --adjust max-t, else nullptr.
  pairs_run(const pairs_command& job, const input_tables& tables, run_outputs& outputs,
            progress_line& line, abandonable_phase& phase, const max_t_null* null);

  /// Computes and writes; adds to `report` what it learns, also where it throws.
  /// @throw cancelled, io::interrupted, io::closed_pipe, and what the library throws
  void run(run_report& report);

 private:
  void run_edges(run_report& report);
  /// All edges at once, with q.
  void run_edge_list(run_report& report);
  [[nodiscard]] std::vector<double> q_of(std::span<const edge> edges,
                                         std::uint64_t pairs_tested) const;
  /// q of all partners by --adjust max-t.
  void add_q(neighbor_table& table) const;
  /// The best few, where a terminal would get every pair.
  void run_best_edges(run_report& report);
  void run_top_k(run_report& report);
  void run_counts(run_report& report);
  void run_dense(run_report& report);

  /// Runs a sink whose result is written when it is complete.
  template <class Sink>
  sink_result_t<Sink> compute(const Sink& sink, run_report& report);
  /// Writes a result that is worth nothing in part.
  void write_whole(const std::function<void()>& write, run_report& report);

  const pairs_command& job_;
  const input_tables& tables_;
  run_outputs& outputs_;
  progress_line& line_;
  abandonable_phase& phase_;
  const max_t_null* null_;
  io::result_context context_;
  pair_options options_;
};

}  // namespace gpu::cli
