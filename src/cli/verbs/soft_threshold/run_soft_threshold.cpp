// gpu-similarity soft-threshold: connectivities at powers, and their scale-free fits.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gpu/connectivity.hpp>

#include "cli/process/messages.hpp"
#include "cli/process/progress_line.hpp"
#include "cli/verbs/all_pairs.hpp"
#include "cli/verbs/jobs.hpp"
#include "cli/verbs/read_input.hpp"
#include "cli/verbs/row_run.hpp"
#include "cli/verbs/table_notes.hpp"
#include "io/rows/row_writer.hpp"

namespace gpu::cli {
namespace {

class soft_threshold_operation final : public row_operation {
 public:
  explicit soft_threshold_operation(const soft_threshold_command& job)
      : job_(job), options_(job.pairs) {
    options_.exec.on_progress = shown_on(nullptr);
  }

  [[nodiscard]] const char* stage() const override { return "soft-threshold"; }
  [[nodiscard]] const execution& exec() const override { return options_.exec; }
  [[nodiscard]] bool needs_all(const io::row_reader&) const override { return true; }

  void begin(const io::row_reader&, io::output_file& out) override { out_ = &out; }

  void compute(const io::table& block) override {
    check_table(job_, block, options_,
                "--nan pairwise leaves them out pair by pair, --nan propagate such rows");
    connectivity_table found =
        detail::all_pairs(job_.what, detail::pair_tables{table_of(block)}, options_, job_.network);
    rows_without_ = rows_without_text(found.summary, "no statistic");
    if (job_.keep == soft_result::connectivity) {
      values_ = std::move(found.connectivity);
      for (index_t i = 0; i < block.rows(); ++i) names_.add(block.names.name(i));
      for (const double power : found.powers) columns_.push_back(fmt::format("k.{}", power));
      return;
    }
    take_fit(scale_free_fit(found, job_.fit));
  }

  void write(const io::table&) override {
    io::rows_to_write what{.format = job_.format,
                           .cols = values_.cols(),
                           .rows = values_.rows(),
                           .are_named = names_.given(),
                           .columns = {.corner = "name", .names = columns_},
                           .threads = exec().cpu_threads};
    io::row_writer writer(*out_, std::move(what));
    writer.write(std::as_const(values_).view(), names_);
    writer.finish();
  }

  void finish() override {
    if (job_.quiet) return;
    say(rows_without_);
    if (job_.keep != soft_result::fit) return;
    const double cut = job_.fit.r_squared_cut;
    say(power_ ? fmt::format("power {}: the first whose R^2, with a falling line, is above {}\n",
                             *power_, cut)
               : fmt::format("no power has an R^2, with a falling line, above {}\n", cut));
  }

 private:
  void take_fit(const scale_free_fits& fits) {
    columns_ = {"Power", "SFT.R.sq", "slope", "truncated.R.sq", "mean.k.", "median.k.", "max.k."};
    values_ = matrix<double>(std::ssize(fits.fits), std::ssize(columns_));
    for (index_t p = 0; p < values_.rows(); ++p) {
      const scale_free_fit_line& fit = fits.fits[static_cast<std::size_t>(p)];
      const double line[] = {fit.power, fit.r_squared, fit.slope, fit.truncated_r_squared,
                             fit.mean,  fit.median,    fit.max};
      std::copy(std::begin(line), std::end(line), values_.row(p).data());
    }
    power_ = fits.power;
  }

  const soft_threshold_command& job_;
  pair_options options_;
  io::output_file* out_ = nullptr;
  matrix<double> values_;
  io::row_names names_;               // of the rows of `values_`, or none
  std::vector<std::string> columns_;  // names of its columns
  std::optional<double> power_;
  std::string rows_without_;  // what is said of rows without a statistic
};

}  // namespace

void run(const soft_threshold_command& job) {
  soft_threshold_operation operation(job);
  run_rows(job, operation);
}

}  // namespace gpu::cli
