#pragma once
// One call of Tanimoto similarities: its rows, its engine, what its summary says, and how it goes
// through its rows.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <span>

#include <gpu/array.hpp>
#include <gpu/execution.hpp>
#include <gpu/pair_sinks.hpp>
#include <gpu/tanimoto.hpp>

#include "base/call_progress.hpp"
#include "pairs/area.hpp"
#include "pairs/measures/measures.hpp"
#include "tanimoto/jobs/panels.hpp"
#include "tanimoto/search.hpp"

namespace gpu::tanimoto {

/// What the checks of sinks and cuts ask of a measure: it has no test.
detail::measure_traits as_measure();

/// The least statistic that a filter keeps.
double least_of(const pair_filter& keep);

/// One call.
class job {
 public:
  /// @throw what tanimoto_all_pairs says of tables and options.
  job(const bit_tables& tables, const tanimoto_options& options, detail::part_shape shape);

  [[nodiscard]] const bit_tables& tables() const { return tables_; }
  /// Of x: those of the part.
  [[nodiscard]] index_range rows() const { return rows_; }
  [[nodiscard]] tanimoto::search& search() { return *search_; }
  [[nodiscard]] const execution& exec() const { return exec_; }
  [[nodiscard]] backend used() const { return used_; }
  /// Pairs i < j of some rows.
  [[nodiscard]] std::uint64_t pairs(index_range rows) const;
  /// Pairs that a table of partners looks at, and a dense result has.
  [[nodiscard]] std::uint64_t entries() const {
    return static_cast<std::uint64_t>(rows_.size()) * static_cast<std::uint64_t>(tables_.y.rows());
  }
  [[nodiscard]] panel_job panels(detail::call_progress& progress) const {
    return {tables_, rows_, search_->variant(), exec_, progress};
  }
  [[nodiscard]] pair_summary finish(const pair_filter& keep, const pair_checksum& kept) const;
  [[nodiscard]] pair_summary finish(const pair_filter& keep, std::uint64_t kept) const;

 private:
  using clock = std::chrono::steady_clock;
  clock::time_point start_ = clock::now();
  bit_tables tables_;
  execution exec_;
  backend used_ = backend::cpu;
  index_range rows_;
  std::unique_ptr<tanimoto::search> search_;
  clock::time_point pairs_start_;
};

/// The progress of a call, which its loops poll.
struct job_progress {
  detail::call_progress pairs;
  detail::poll_scope scope{&pairs};
  job_progress(const execution& exec, const char* stage, std::uint64_t total)
      : pairs(exec.on_progress, "tanimoto_all_pairs", stage, total) {}
};

/// take(rows) for consecutive ranges of the rows of a job.
template <class Take>
void for_each_range(job& run, const Take& take) {
  const index_t step = run.search().usual_rows();
  for (index_t first = run.rows().begin; first < run.rows().end; first += step) {
    take(index_range{first, std::min(first + step, run.rows().end)});
  }
}

/// Counts the pairs of the job, in `bins` bins too.
pair_tally count_pairs(job& run, double least, index_t bins);

/// Finds the edges of ranges of rows: as many rows at a time as have edges that fit memory.
class edge_ranges {
 public:
  edge_ranges(job& run, double least);
  /// The edges of the next rows, in order; false at the end.
  bool next(array<edge>& out);

 private:
  job& run_;
  double least_;
  job_progress progress_;
  index_t first_;
  index_t step_;
};

}  // namespace gpu::tanimoto
