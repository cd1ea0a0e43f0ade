// gpu-similarity top-k: the best entries of each row, a block of rows after the other; of a vector
// the best so far, which each block is merged with.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "cli/verbs/jobs.hpp"
#include "cli/verbs/row_run.hpp"
#include "io/rows/selection_writer.hpp"

namespace gpu::cli {
namespace {

/// Integers are written from 32 bits.
template <class T>
using written_type = std::conditional_t<std::is_floating_point_v<T>, T, std::int32_t>;

template <class T>
matrix<written_type<T>> widened(matrix<T> values) {
  if constexpr (std::is_same_v<T, written_type<T>>) {
    return values;
  } else {
    matrix<std::int32_t> wider(values.rows(), values.cols());
    std::copy(values.data(), values.data() + values.rows() * values.cols(), wider.data());
    return wider;
  }
}

class top_k_operation final : public row_operation {
 public:
  explicit top_k_operation(const top_k_command& job) : job_(job) {}

  [[nodiscard]] const char* stage() const override { return "top-k"; }
  [[nodiscard]] const execution& exec() const override { return job_.top.exec; }
  [[nodiscard]] bool needs_all(const io::row_reader& /*source*/) const override { return false; }

  void begin(const io::row_reader& source, io::output_file& out) override {
    is_vector_ = source.is_vector();
    writer_.emplace(out, io::selection_to_write{.format = job_.format,
                                                .entries = std::min(job_.k, source.cols()),
                                                .rows = source.rows(),
                                                .has_counts = job_.is_distinct,
                                                .is_float = source.is_float(),
                                                .is_vector = is_vector_,
                                                .columns = source.columns(),
                                                .threads = exec().cpu_threads});
  }

  void compute(const io::table& block) override {
    std::visit([&](const auto& values) { is_vector_ ? take_elements(values) : take_rows(values); },
               block.values);
  }

  void write(const io::table& block) override {
    if (is_vector_) return;  // the next block may have better ones
    std::visit([&](const auto& selected) { writer_->write(selected, block.names); }, selected_);
  }

  void finish() override {
    if (is_vector_) write_best();
    writer_->finish();
  }

 private:
  template <class T>
  void take_rows(const matrix<T>& values) {
    io::row_selection<written_type<T>> selected;
    if (job_.is_distinct) {
      auto found = top_k_distinct(values, job_.k, job_.top);
      selected.values = widened(std::move(found.values));
      selected.indices = std::move(found.indices);
      selected.counts = std::move(found.counts);
      selected.found = std::move(found.found);
    } else {
      auto found = top_k(values, job_.k, job_.top);
      selected.values = widened(std::move(found.values));
      selected.indices = std::move(found.indices);
    }
    selected_ = std::move(selected);
  }

  /// The best of those so far and of the next elements: of equal ones the first, which are those so
  /// far.
  template <class T>
  void take_elements(const matrix<T>& values) {
    std::vector<double> all;
    all.reserve(best_.size() + static_cast<std::size_t>(values.rows()));
    for (const entry& e : best_) all.push_back(e.value);
    all.insert(all.end(), values.data(), values.data() + values.rows());
    std::vector<entry> found;
    const auto take = [&](double value, index_t index, index_t count) {
      const auto kept = static_cast<index_t>(best_.size());
      if (index >= kept) return found.push_back({value, seen_ + index - kept, count});
      const entry& before = best_[static_cast<std::size_t>(index)];
      found.push_back({value, before.index, before.count + count - 1});
    };
    if (job_.is_distinct) {
      const auto best = top_k_distinct(std::span<const double>(all), job_.k, job_.top);
      for (std::size_t i = 0; i < best.values.size(); ++i) {
        take(best.values[i], best.indices[i], best.counts[i]);
      }
    } else {
      const auto best = top_k(std::span<const double>(all), job_.k, job_.top);
      for (std::size_t i = 0; i < best.values.size(); ++i) take(best.values[i], best.indices[i], 1);
    }
    best_ = std::move(found);
    seen_ += values.rows();
  }

  void write_best() {
    const auto count = static_cast<index_t>(best_.size());
    io::row_selection<double> selected{.values = matrix<double>(1, count),
                                       .indices = matrix<index_t>(1, count),
                                       .counts = matrix<index_t>(1, count)};
    for (index_t i = 0; i < count; ++i) {
      const entry& e = best_[static_cast<std::size_t>(i)];
      selected.values(0, i) = e.value;
      selected.indices(0, i) = e.index;
      selected.counts(0, i) = e.count;
    }
    writer_->write(selected, {});
  }

  struct entry {
    double value = 0;
    index_t index = 0;
    index_t count = 1;
  };

  const top_k_command& job_;
  bool is_vector_ = false;
  index_t seen_ = 0;         // elements of a vector in front of the block
  std::vector<entry> best_;  // of a vector, so far
  std::optional<io::selection_writer> writer_;
  std::variant<io::row_selection<double>, io::row_selection<float>, io::row_selection<std::int32_t>>
      selected_;
};

}  // namespace

void run(const top_k_command& job) {
  top_k_operation operation(job);
  run_rows(job, operation);
}

}  // namespace gpu::cli
