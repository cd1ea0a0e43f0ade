// gpu-similarity top-k: the best entries of each row, a block of rows after the other; of a vector
// the best so far, which each block is merged with.
#include <algorithm>
#include <cmath>
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

/// The best of a vector so far.
class best_of_vector {
 public:
  struct entry {
    double value = 0;
    index_t index = 0;
    index_t count = 1;
  };

  best_of_vector(index_t k, top_k_select select, bool is_distinct)
      : k_(k), select_(select), is_distinct_(is_distinct) {}

  /// Takes what is best of later elements, best first.
  void merge(const std::vector<entry>& later) {
    std::vector<entry> out;
    auto a = entries_.begin();
    auto b = later.begin();
    while (std::ssize(out) < k_ && (a != entries_.end() || b != later.end())) {
      if (b == later.end() || (a != entries_.end() && !comes_before(b->value, a->value))) {
        out.push_back(*a);
        // Equal values are one where they are to be distinct; the first occurrence stands for it.
        const bool are_one = is_distinct_ && b != later.end() && !comes_before(a->value, b->value);
        if (are_one) out.back().count += (b++)->count;
        ++a;
      } else {
        out.push_back(*b++);
      }
    }
    entries_ = std::move(out);
  }

  [[nodiscard]] const std::vector<entry>& entries() const noexcept { return entries_; }

 private:
  /// NaN comes last, and equals NaN.
  [[nodiscard]] bool comes_before(double x, double y) const {
    if (std::isnan(x) || std::isnan(y)) return !std::isnan(x) && std::isnan(y);
    return select_ == top_k_select::largest ? x > y : x < y;
  }

  index_t k_;
  top_k_select select_;
  bool is_distinct_;
  std::vector<entry> entries_;
};

class top_k_operation final : public row_operation {
 public:
  explicit top_k_operation(const top_k_command& job)
      : job_(job), best_(job.k, job.top.select, job.is_distinct) {}

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

  template <class T>
  void take_elements(const matrix<T>& values) {
    const std::span<const T> elements(values.data(), static_cast<std::size_t>(values.rows()));
    std::vector<best_of_vector::entry> entries;
    const auto take = [&](const auto& found, auto count_of) {
      for (std::size_t i = 0; i < found.values.size(); ++i) {
        entries.push_back(
            {static_cast<double>(found.values[i]), seen_ + found.indices[i], count_of(found, i)});
      }
    };
    if (job_.is_distinct) {
      take(top_k_distinct(elements, job_.k, job_.top),
           [](const auto& found, std::size_t i) { return found.counts[i]; });
    } else {
      take(top_k(elements, job_.k, job_.top), [](const auto&, std::size_t) { return index_t{1}; });
    }
    best_.merge(entries);
    seen_ += values.rows();
  }

  void write_best() {
    const auto& entries = best_.entries();
    const auto count = static_cast<index_t>(entries.size());
    io::row_selection<double> selected{.values = matrix<double>(1, count),
                                       .indices = matrix<index_t>(1, count),
                                       .counts = matrix<index_t>(1, count)};
    for (index_t i = 0; i < count; ++i) {
      const auto& entry = entries[static_cast<std::size_t>(i)];
      selected.values(0, i) = entry.value;
      selected.indices(0, i) = entry.index;
      selected.counts(0, i) = entry.count;
    }
    writer_->write(selected, {});
  }

  const top_k_command& job_;
  bool is_vector_ = false;
  index_t seen_ = 0;  // elements of a vector in front of the block
  best_of_vector best_;
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
