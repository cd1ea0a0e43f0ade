// gpu-similarity mean-filter: the means of each row, a block of rows after the other.
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>

#include <gpu/error.hpp>

#include "cli/process/exit_code.hpp"
#include "cli/verbs/jobs.hpp"
#include "cli/verbs/row_run.hpp"
#include "io/rows/row_writer.hpp"

namespace gpu::cli {
namespace {

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

class mean_filter_operation final : public row_operation {
 public:
  explicit mean_filter_operation(const mean_filter_command& job) : job_(job) {}

  [[nodiscard]] const char* stage() const override { return "filter"; }
  [[nodiscard]] const execution& exec() const override { return job_.filter.exec; }
  [[nodiscard]] bool needs_all(const io::row_reader& source) const override {
    return source.is_vector();
  }

  void begin(const io::row_reader& source, io::output_file& out) override {
    is_vector_ = source.is_vector();
    index_t cols = 1;  // one number a line is a vector, to be filtered along its length
    if (!is_vector_) {
      cols = as_usage(
          [&] { return filtered_size(source.cols(), job_.filter.window, job_.filter.boundary); });
    }
    what_ = {.format = job_.format,
             .cols = cols,
             .rows = is_vector_ ? std::nullopt : source.rows(),
             .is_float = source.is_float(),
             .are_named = source.names_rows(),
             .columns = source.columns(),
             .threads = exec().cpu_threads};
    // A window that begins in a column has its name.
    if (what_.columns.given()) what_.columns.names.resize(static_cast<std::size_t>(cols));
    out_ = &out;
  }

  void compute(const io::table& block) override {
    std::visit([&](const auto& values) { filter(values); }, block.values);
  }

  void write(const io::table& block) override {
    std::visit(
        [&](const auto& means) {
          using T = typename std::remove_cvref_t<decltype(means)>::value_type;
          matrix_view<const T> result = means.view();
          if (is_vector_) {
            result = {means.data(), means.cols(), 1};
            what_.rows = means.cols();
          }
          writer().write(result, block.names);
        },
        means_);
  }

  void finish() override { writer().finish(); }

 private:
  template <class T>
  void filter(const matrix<T>& values) {
    matrix_view<const T> in = values.view();
    if (is_vector_) in = {in.data(), 1, in.rows()};
    as_usage([&] {
      matrix<mean_type<T>> means(
          in.rows(), filtered_size(in.cols(), job_.filter.window, job_.filter.boundary));
      mean_filter(in, means.view(), job_.filter);
      means_ = std::move(means);
    });
  }

  io::row_writer& writer() {
    if (!writer_) writer_.emplace(*out_, what_);
    return *writer_;
  }

  const mean_filter_command& job_;
  bool is_vector_ = false;
  io::rows_to_write what_;
  io::output_file* out_ = nullptr;
  std::optional<io::row_writer> writer_;
  std::variant<matrix<float>, matrix<double>> means_;
};

}  // namespace

void run_mean_filter(const mean_filter_command& job) {
  mean_filter_operation operation(job);
  run_rows(job, operation);
}

}  // namespace gpu::cli
