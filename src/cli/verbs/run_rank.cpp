// gpu-similarity rank: the ranks of each row, a block of rows after the other.
#include <optional>
#include <utility>
#include <variant>

#include "cli/verbs/jobs.hpp"
#include "cli/verbs/read_input.hpp"
#include "cli/verbs/row_run.hpp"
#include "io/io_error.hpp"
#include "io/rows/row_writer.hpp"

namespace gpu::cli {
namespace {

class rank_operation final : public row_operation {
 public:
  explicit rank_operation(const rank_command& job) : job_(job) {}

  [[nodiscard]] const char* stage() const override { return "rank"; }
  [[nodiscard]] const execution& exec() const override { return job_.rank.exec; }
  [[nodiscard]] bool needs_all(const io::row_reader& source) const override {
    return source.is_vector();
  }

  void begin(const io::row_reader& source, io::output_file& out) override {
    is_vector_ = source.is_vector();
    writer_.emplace(out, io::rows_to_write{.format = job_.format,
                                           .cols = source.cols(),
                                           .rows = source.rows(),
                                           .are_named = source.names_rows(),
                                           .columns = source.columns(),
                                           .threads = exec().cpu_threads});
  }

  void compute(const io::table& block) override {
    if (block.first_nan && job_.rank.nans == nan_policy::reject) {
      throw io::input_error(
          job_.input, *block.first_nan,
          missing_text(block, job_.transposes, "--nan propagate makes the ranks of such rows NaN"));
    }
    std::visit(
        [&](const auto& values) {
          auto in = values.view();
          // One number a line is a vector, whose elements are ranked among each other.
          if (is_vector_) in = {in.data(), 1, in.rows()};
          ranks_ = rank_rows(in, job_.rank);
        },
        block.values);
  }

  void write(const io::table& block) override {
    matrix_view<const double> ranks = std::as_const(ranks_).view();
    if (is_vector_) ranks = {ranks.data(), ranks.cols(), 1};
    writer_->write(ranks, block.names);
  }

  void finish() override { writer_->finish(); }

 private:
  const rank_command& job_;
  bool is_vector_ = false;
  std::optional<io::row_writer> writer_;
  matrix<double> ranks_;
};

}  // namespace

void run_rank(const rank_command& job) {
  rank_operation operation(job);
  run_rows(job, operation);
}

}  // namespace gpu::cli
