// gpu-similarity rank and mean-filter: the ranks or the means of each row, a block of rows after
// the other.
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>

#include <gpu/error.hpp>

#include "cli/process/exit_code.hpp"
#include "cli/verbs/jobs.hpp"
#include "cli/verbs/read_input.hpp"
#include "cli/verbs/row_run.hpp"
#include "io/io_error.hpp"
#include "io/rows/row_writer.hpp"

namespace gpu::cli {
namespace {

/// Rows that become rows. One number a line is a vector, which is taken whole and along its length.
class row_values : public row_operation {
 public:
  [[nodiscard]] bool needs_all(const io::row_reader& source) const override {
    return source.is_vector();
  }
  void begin(const io::row_reader& source, io::output_file& out) override {
    is_vector_ = source.is_vector();
    what_ = {.cols = source.cols(),
             .rows = is_vector_ ? std::nullopt : source.rows(),
             .are_named = source.names_rows(),
             .columns = source.columns(),
             .threads = exec().cpu_threads};
    out_ = &out;
  }
  void finish() override { writer().finish(); }

 protected:
  /// A block as the library takes it.
  template <class T>
  [[nodiscard]] matrix_view<const T> rows_of(const matrix<T>& values) const {
    return is_vector_ ? matrix_view<const T>(values.data(), 1, values.rows()) : values.view();
  }
  template <class T>
  void write_rows(const matrix<T>& values, const io::row_names& names) {
    matrix_view<const T> result = values.view();
    if (is_vector_) {
      result = {values.data(), values.cols(), 1};
      what_.rows = values.cols();
    }
    writer().write(result, names);
  }

  bool is_vector_ = false;
  io::rows_to_write what_;

 private:
  io::row_writer& writer() {
    if (!writer_) writer_.emplace(*out_, what_);
    return *writer_;
  }

  io::output_file* out_ = nullptr;
  std::optional<io::row_writer> writer_;
};

class rank_operation final : public row_values {
 public:
  explicit rank_operation(const rank_command& job) : job_(job) {}

  [[nodiscard]] const char* stage() const override { return "rank"; }
  [[nodiscard]] const execution& exec() const override { return job_.rank.exec; }

  void begin(const io::row_reader& source, io::output_file& out) override {
    row_values::begin(source, out);
    what_.format = job_.format;
  }

  void compute(const io::table& block) override {
    if (block.first_nan && job_.rank.nans == nan_policy::reject) {
      throw io::input_error(
          job_.input, *block.first_nan,
          missing_text(block, job_.transposes, "--nan propagate makes the ranks of such rows NaN"));
    }
    std::visit([&](const auto& values) { ranks_ = rank_rows(rows_of(values), job_.rank); },
               block.values);
  }

  void write(const io::table& block) override { write_rows(ranks_, block.names); }

 private:
  const rank_command& job_;
  matrix<double> ranks_;
};

/// float stays float; integers have real means.
template <class T>
using mean_type = std::conditional_t<std::is_same_v<T, float>, float, double>;

/// What is wrong is wrong with the options: any matrix of numbers can be filtered.
template <class Work>
auto as_usage(const Work& work) {
  try {
    return work();
  } catch (const invalid_argument& error) {
    throw refused_options(error.what());
  }
}

class mean_filter_operation final : public row_values {
 public:
  explicit mean_filter_operation(const mean_filter_command& job) : job_(job) {}

  [[nodiscard]] const char* stage() const override { return "filter"; }
  [[nodiscard]] const execution& exec() const override { return job_.filter.exec; }

  void begin(const io::row_reader& source, io::output_file& out) override {
    row_values::begin(source, out);
    what_.format = job_.format;
    what_.is_float = source.is_float();
    if (!is_vector_) what_.cols = as_usage([&] { return means_of(source.cols()); });
    // A window that begins in a column has its name.
    if (what_.columns.given()) what_.columns.names.resize(static_cast<std::size_t>(what_.cols));
  }

  void compute(const io::table& block) override {
    std::visit([&](const auto& values) { filter(rows_of(values)); }, block.values);
  }

  void write(const io::table& block) override {
    std::visit([&](const auto& means) { write_rows(means, block.names); }, means_);
  }

 private:
  [[nodiscard]] index_t means_of(index_t cols) const {
    return filtered_size(cols, job_.filter.window, job_.filter.boundary);
  }
  template <class T>
  void filter(matrix_view<const T> in) {
    as_usage([&] {
      matrix<mean_type<T>> means(in.rows(), means_of(in.cols()));
      mean_filter(in, means.view(), job_.filter);
      means_ = std::move(means);
    });
  }

  const mean_filter_command& job_;
  std::variant<matrix<float>, matrix<double>> means_;
};

}  // namespace

void run(const rank_command& job) {
  rank_operation operation(job);
  run_rows(job, operation);
}

void run(const mean_filter_command& job) {
  mean_filter_operation operation(job);
  run_rows(job, operation);
}

}  // namespace gpu::cli
