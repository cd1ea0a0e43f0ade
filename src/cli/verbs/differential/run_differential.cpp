// gpu-similarity differential: pairs of rows whose correlation differs between two groups.
#include <fmt/format.h>

#include <optional>
#include <string>
#include <vector>

#include "cli/process/messages.hpp"
#include "cli/process/progress_line.hpp"
#include "cli/verbs/differential/differences.hpp"
#include "cli/verbs/differential/group_labels.hpp"
#include "cli/verbs/jobs.hpp"
#include "cli/verbs/read_input.hpp"
#include "cli/verbs/row_run.hpp"
#include "cli/verbs/table_notes.hpp"
#include "io/field_text.hpp"
#include "io/write/buffered_text.hpp"

namespace gpu::cli {
namespace {

class differential_operation final : public row_operation {
 public:
  explicit differential_operation(const pairs_command& job)
      : job_(job), options_(job.pairs), tab_(io::separator_of(job.format)) {
    options_.exec.on_progress = shown_on(nullptr);
  }

  [[nodiscard]] const char* stage() const override { return "differential"; }
  [[nodiscard]] const execution& exec() const override { return options_.exec; }
  [[nodiscard]] bool needs_all(const io::row_reader&) const override { return true; }

  void begin(const io::row_reader& source, io::output_file& out) override {
    groups_ = groups_of(job_.groups, source.cols(), source.columns());
    text_.emplace(out);
  }

  void compute(const io::table& block) override {
    check_table(job_, block, options_,
                "--nan propagate leaves out rows that miss a value of a group");
    found_ = find_differences(job_, block, groups_, options_, job_.filter);
    if (!job_.writes_q()) return;
    std::vector<double> p;
    for (const differential_edge& e : found_.edges) p.push_back(e.p);
    q_ = q_of_lines(p, found_.summary.pairs_tested, job_.filter.adjust);
  }

  void write(const io::table& block) override {
    names_ = &block.names;
    if (job_.keep == keep_kind::counts) return write_degrees();
    differential_lines lines(job_.keep, job_.format, info_of(job_.what).symbol);
    fmt::format_to(text_->end(), "{}", lines.header(groups_, job_.writes_q()));
    for (std::size_t e = 0; e < found_.edges.size(); ++e) {
      const differential_edge& own = found_.edges[e];
      lines.append(text_->end(), name(own.row), name(own.col), own);
      if (job_.writes_q()) fmt::format_to(text_->end(), "{}", lines.q_text(q_[e]));
      text_->end_line();
    }
  }

  void finish() override {
    text_->flush();
    if (job_.quiet) return;
    const differential_summary& s = found_.summary;
    say(fmt::format("{} {} columns against {} {}: {} pairs tested, {} kept, p <= {:.6g}\n",
                    s.first_cols, groups_.first_label, s.second_cols, groups_.second_label,
                    s.pairs_tested, s.pairs_kept, s.max_p_effective));
    note_missing_q(job_);
    say(rows_without_text(s, "no correlation in a group"));
  }

 private:
  void write_degrees() {
    fmt::format_to(text_->end(), "name{}degree", tab_);
    text_->end_line();
    for (std::size_t i = 0; i < found_.degree.size(); ++i) {
      fmt::format_to(text_->end(), "{}{}{}", name(static_cast<node_id>(i)), tab_, found_.degree[i]);
      text_->end_line();
    }
  }

  [[nodiscard]] std::string name(node_id row) const {
    return io::field_of(names_->name(index_t{row}), tab_);
  }

  const pairs_command& job_;
  pair_options options_;
  labelled_groups groups_;
  std::optional<io::buffered_text> text_;
  char tab_;
  const io::row_names* names_ = nullptr;
  differences found_;
  std::vector<double> q_;
};

}  // namespace

void run_differential(const pairs_command& job) {
  differential_operation operation(job);
  run_rows(job, operation);
}

}  // namespace gpu::cli
