#include "cpu/pairs/pairwise/pairwise_rows.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

#include "base/parallel.hpp"
#include "cpu/pairs/rows/present_rows.hpp"
#include "stats/shared_columns.hpp"

namespace gpu::cpu {
namespace {

constexpr index_t block_pairs = pair_policy::block_rows * pair_policy::block_cols;
constexpr index_t rows_per_task = 64;

// Copies the rows of `range` as doubles.
void read_rows(const input_rows& input, index_range range, double* out, int threads) {
  input.for_each_view(
      range, threads, [&]<class T>(const matrix_view<const T>& view, index_t first) {
        double* const to = out + (first - range.begin) * view.cols();
        const index_t tasks = (view.rows() + rows_per_task - 1) / rows_per_task;
        parallel_for(tasks, thread_count(threads), [&](index_t task, int) {
          const index_t end = std::min(view.rows(), (task + 1) * rows_per_task);
          for (index_t i = task * rows_per_task; i < end; ++i) {
            std::transform(view.row(i), view.row(i) + view.cols(), to + i * view.cols(),
                           [](T value) { return static_cast<double>(value); });
          }
        });
      });
}

std::unique_ptr<pair_rows> make_rows(double_rows values, index_t rows, index_t cols,
                                     const row_options& options) {
  switch (options.what.form) {
    case detail::row_form::ranks:
    case detail::row_form::shared_ranks:
      return make_pairwise_rank_rows(values.data(), rows, cols, options);
    case detail::row_form::signs:
    case detail::row_form::shared_signs:
      return make_pairwise_sign_rows(values.data(), rows, cols, options);
    case detail::row_form::unit_values:
    case detail::row_form::shared_values:
      break;
  }
  return make_pairwise_value_rows(std::move(values), rows, cols, options);
}

// What is packed of the values of a row.
std::size_t packed_values_bytes(detail::row_form form, std::size_t elements) {
  switch (form) {
    case detail::row_form::ranks:
    case detail::row_form::shared_ranks:
      return elements * (sizeof(std::int32_t) + 3 * sizeof(std::int16_t)) + 128;
    case detail::row_form::signs:
    case detail::row_form::shared_signs:
      return pairwise_sign_bytes(static_cast<index_t>(elements));
    case detail::row_form::unit_values:
    case detail::row_form::shared_values:
      break;
  }
  return elements * 2 * sizeof(double);
}

// Reads and packs rows whenever they are asked for.
class pairwise_source final : public row_source {
 public:
  pairwise_source(const input_rows& input, const row_options& options, row_preparation& found)
      : input_(input), options_(options), present_(input.rows()) {
    const auto take = [&](index_range section) {
      found.section_rows.push_back(look_at(section, found));
    };
    for_each_section(options.selection, input.rows(), take,
                     [&](index_range others) { note_others(others, found); });
    present_.number();
  }

  [[nodiscard]] index_t size() const override { return present_.size(); }

  [[nodiscard]] std::unique_ptr<pair_rows> pack(row_range first, row_range second, row_range asked,
                                                std::vector<node_id>& original) const override {
    const row_layout layout{.first = first.size(), .second = second.size(), .asked = asked};
    const index_t cols = input_.cols();
    double_rows values(static_cast<std::size_t>((layout.places() + options_.piece_rows) * cols));
    original.clear();
    original.reserve(static_cast<std::size_t>(layout.places()));
    append(first, values, original);
    if (!second.is_empty()) {
      while (static_cast<index_t>(original.size()) < layout.second_begin()) {
        const auto to = static_cast<index_t>(original.size());
        std::copy_n(values.data() + (to - 1) * cols, cols, values.data() + to * cols);
        original.push_back(original.back());
      }
      append(second, values, original);
    }
    return make_rows(std::move(values), static_cast<index_t>(original.size()), cols, options_);
  }

 private:
  // Whether each row of a range may have a statistic; its rows that have none are noted.
  template <class Take>
  void inspect(index_range range, row_preparation& found, const Take& take) const {
    const index_t most = std::max<index_t>(options_.piece_rows, 1);
    const index_t cols = input_.cols();
    double_rows values(static_cast<std::size_t>(std::min(most, range.size()) * cols));
    std::vector<std::uint8_t> has(static_cast<std::size_t>(most));
    for (index_t begin = range.begin; begin < range.end; begin += most) {
      const index_range some{begin, std::min(range.end, begin + most)};
      read_rows(input_, some, values.data(), options_.threads);
      parallel_for(some.size(), thread_count(options_.threads), [&](index_t i, int) {
        const double* const row = values.data() + i * cols;
        has[static_cast<std::size_t>(i)] = has_statistic(row, cols) ? 1 : 0;
      });
      for (index_t i = 0; i < some.size(); ++i) {
        if (has[static_cast<std::size_t>(i)] != 0) {
          take(some.begin + i);
        } else {
          found.constant_rows.push_back(some.begin + i);
        }
      }
    }
  }

  [[nodiscard]] bool has_statistic(const double* row, index_t cols) const {
    switch (options_.what.form) {
      case detail::row_form::ranks:
      case detail::row_form::shared_ranks:
      case detail::row_form::signs:
      case detail::row_form::shared_signs:
        return varies(row, cols);
      case detail::row_form::unit_values:
      case detail::row_form::shared_values:
        break;
    }
    const auto value = [row](index_t k) { return row[k]; };
    return detail::look_at_row(value, cols, options_.min_observations, options_.what.centre)
        .has_statistic;
  }

  [[nodiscard]] bool varies(const double* row, index_t cols) const {
    index_t count = 0;
    bool is_varied = false;
    double first = 0;
    for (index_t k = 0; k < cols; ++k) {
      if (row[k] != row[k]) continue;
      if (count++ == 0) first = row[k];
      is_varied = is_varied || row[k] != first;
    }
    return count >= options_.min_observations && is_varied;
  }

  index_t look_at(index_range section, row_preparation& found) {
    index_t rows = 0;
    inspect(section, found, [&](index_t row) {
      present_.add(row);
      ++rows;
    });
    return rows;
  }
  void note_others(index_range others, row_preparation& found) const {
    inspect(others, found, [](index_t) {});
  }

  void append(row_range range, double_rows& values, std::vector<node_id>& original) const {
    const index_t cols = input_.cols();
    append_rows(
        present_, range, options_.piece_rows, original,
        [&](index_t begin, index_t count, index_t to) {
          read_rows(input_, {begin, begin + count}, values.data() + to * cols, options_.threads);
        },
        [&](index_t from, index_t to) {
          std::copy_n(values.data() + from * cols, cols, values.data() + to * cols);
        });
  }

  input_rows input_;
  row_options options_;
  present_rows present_;
};

}  // namespace

pairwise_rows::pairwise_rows(index_t rows, index_t cols, index_t min_observations)
    : rows_(rows),
      cols_(cols),
      words_((cols + 63) / 64),
      min_observations_(min_observations),
      bits_(static_cast<std::size_t>(rows * words_)) {}

std::size_t pairwise_rows::kernel_bytes() const {
  return static_cast<std::size_t>(block_pairs) * sizeof(double);
}

void pairwise_rows::set_bits(index_t row, const double* values) {
  std::uint64_t* const to = bits_.data() + static_cast<std::size_t>(row * words_);
  for (index_t k = 0; k < cols_; ++k) {
    to[k / 64] |= std::uint64_t{values[k] == values[k]} << (k % 64);
  }
}

double counted_pairwise_rows::taken(const pair_task& task, double statistic, index_t shared) const {
  const bool has = shared >= min_observations() && statistic == statistic;
  if (task.tests != nullptr) return has ? task.tests->p(statistic, shared) : detail::no_p;
  if (!has) return detail::no_statistic;
  if (task.cuts == nullptr) return statistic;
  return task.cuts->of(shared).keeps(statistic) ? statistic : detail::no_statistic;
}

void pairwise_rows::statistics(const pair_task& task, const pair_tile& tile, pair_scratch& scratch,
                               double* out) const {
  constexpr index_t stride = pair_policy::block_cols;
  auto* const counts = reinterpret_cast<double*>(scratch.kernel.data());
  usable_pair_kernels().pairwise_counts({.bits = bits_.data(),
                                         .words = words_,
                                         .first_row = tile.row_begin,
                                         .row_count = tile.rows(),
                                         .first_col = tile.col_begin,
                                         .col_count = tile.cols(),
                                         .out = counts,
                                         .stride = stride});
  decide(task, tile, counts, scratch.kernel.data() + pairwise_rows::kernel_bytes(), out);
}

void counted_pairwise_rows::decide(const pair_task& task, const pair_tile& tile,
                                   const double* counts, std::byte* memory, double* out) const {
  constexpr index_t stride = pair_policy::block_cols;
  compute(tile, counts, memory, out);
  for (index_t i = 0; i < tile.rows(); ++i) {
    for (index_t j = 0; j < tile.cols(); ++j) {
      out[i * stride + j] =
          taken(task, out[i * stride + j], static_cast<index_t>(counts[i * stride + j]));
    }
  }
}

std::size_t pairwise_scratch_bytes(const detail::measure_traits& what, index_t cols) {
  const std::size_t counts = static_cast<std::size_t>(block_pairs) * sizeof(double);
  switch (what.form) {
    case detail::row_form::ranks:
    case detail::row_form::shared_ranks:
      return counts + static_cast<std::size_t>(cols) * 2 * sizeof(std::int32_t);
    case detail::row_form::signs:
    case detail::row_form::shared_signs:
      return counts + pairwise_sign_scratch_bytes(cols);
    case detail::row_form::unit_values:
    case detail::row_form::shared_values:
      break;
  }
  return counts;
}

std::size_t pairwise_row_bytes(const detail::measure_traits& what, index_t cols) {
  const auto elements = static_cast<std::size_t>(cols);
  const std::size_t bits = elements / 8 + 8;
  constexpr std::size_t beside = 64;
  // The values as they are read, and what is packed of them.
  return elements * sizeof(double) + packed_values_bytes(what.form, elements) + bits + beside;
}

row_preparation prepare_pairwise_rows(const detail::pair_tables& tables,
                                      const row_options& options) {
  row_preparation found;
  auto source = std::make_unique<pairwise_source>(input_rows(tables), options, found);
  if (options.in_windows) {
    found.source = std::move(source);
    return found;
  }
  const row_layout layout = layout_of(options.selection, found.section_rows);
  found.rows = source->pack({0, layout.first}, {layout.first, layout.first + layout.second},
                            layout.asked, found.original);
  return found;
}

}  // namespace gpu::cpu
