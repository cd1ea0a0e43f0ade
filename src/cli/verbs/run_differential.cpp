// gpu-similarity differential: pairs of rows whose correlation differs between two groups.
#include <fmt/format.h>

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <gpu/adjusted_p.hpp>
#include <gpu/differential.hpp>

#include "cli/process/interrupt.hpp"
#include "cli/process/messages.hpp"
#include "cli/verbs/group_labels.hpp"
#include "cli/verbs/jobs.hpp"
#include "cli/verbs/read_input.hpp"
#include "cli/verbs/row_run.hpp"
#include "io/field_text.hpp"
#include "io/io_error.hpp"
#include "io/write/buffered_text.hpp"

namespace gpu::cli {
namespace {

class differential_operation final : public row_operation {
 public:
  explicit differential_operation(const differential_command& job)
      : job_(job), options_(job.pairs) {
    options_.exec.on_progress = [](const progress&) {
      return is_interrupted() ? progress_reply::cancel : progress_reply::proceed;
    };
  }

  [[nodiscard]] const char* stage() const override { return "differential"; }
  [[nodiscard]] const execution& exec() const override { return options_.exec; }
  [[nodiscard]] bool needs_all(const io::row_source&) const override { return true; }

  void begin(const io::row_source& source, io::output_file& out) override {
    groups_ = groups_of(job_.groups, source.cols(), source.columns());
    text_.emplace(out);
  }

  void compute(const io::table& block) override {
    if (block.first_nan && options_.nans == nan_policy::reject) {
      throw io::input_error(job_.input, *block.first_nan,
                            missing_text(block, job_.transposes,
                                         "--nan propagate leaves out rows that miss a value of a "
                                         "group, --skip-columns columns"));
    }
    const column_groups groups{groups_.first, groups_.second};
    const differential_edge_sink sink{.keep = job_.filter};
    found_ = std::visit(
        [&](const auto& values) {
          return differential_pairs(job_.what, values.view(), groups, options_, sink);
        },
        block.values);
    if (!job_.writes_q()) return;
    std::vector<double> p;
    for (const differential_edge& e : found_.edges) p.push_back(e.p);
    q_ = adjusted_p_values(p, found_.summary.pairs_tested, job_.filter.adjust);
  }

  void write(const io::table& block) override {
    const char tab = io::separator_of(job_.format);
    const auto label = [&](const std::string& own) { return io::field_of(own, tab); };
    const std::string symbol(info_of(job_.what).symbol);
    fmt::format_to(text_->end(), "name_i{0}name_j{0}{1}{0}{2}{0}z{0}p{3}", tab,
                   label(symbol + "_" + groups_.first_label),
                   label(symbol + "_" + groups_.second_label),
                   job_.writes_q() ? fmt::format("{}q", tab) : std::string());
    text_->end_line();
    const auto name = [&](node_id row) {
      return io::field_of(block.names.name(index_t{row}), tab);
    };
    for (std::size_t e = 0; e < found_.edges.size(); ++e) {
      const differential_edge& own = found_.edges[e];
      fmt::format_to(text_->end(), "{1}{0}{2}{0}{3}{0}{4}{0}{5:.6g}{0}{6:.6g}", tab, name(own.row),
                     name(own.col), own.first, own.second, own.z, own.p);
      if (job_.writes_q()) fmt::format_to(text_->end(), "{}{:.6g}", tab, q_[e]);
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
    const std::size_t without = s.constant_rows.size() + s.nan_rows.size();
    if (without > 0) say(fmt::format("{} rows have no correlation in a group\n", without));
  }

 private:
  const differential_command& job_;
  pair_options options_;
  labelled_groups groups_;
  std::optional<io::buffered_text> text_;
  differential_edges found_;
  std::vector<double> q_;
};

}  // namespace

void run_differential(const differential_command& job) {
  differential_operation operation(job);
  run_rows(job, operation);
}

}  // namespace gpu::cli
