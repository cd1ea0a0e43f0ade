#include "cli/verbs/bits/bit_plan.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include <gpu/bit_matrix.hpp>
#include <gpu/tanimoto.hpp>

namespace gpu::cli {
namespace {

constexpr index_t most_sampled_rows = 256;

/// Rows of `bits` at even distances.
bit_matrix sample_of(const bit_matrix& bits, index_t rows) {
  bit_matrix out(rows, bits.cols());
  for (index_t i = 0; i < rows; ++i) {
    const index_t from = i * bits.rows() / rows;
    const std::uint32_t* const row = bits.words() + from * bits.row_words();
    std::copy(row, row + bits.row_words(), out.words() + i * out.row_words());
  }
  return out;
}

/// Whether a row is similar to itself, which is no pair of one table.
bool is_kept_with_itself(const bit_matrix& bits, index_t row, const pair_filter& keep) {
  const std::uint32_t* const words = bits.words() + row * bits.row_words();
  const bool has_bit =
      std::any_of(words, words + bits.row_words(), [](std::uint32_t word) { return word != 0; });
  return (has_bit ? 1.0 : 0.0) >= keep.min_abs;
}

}  // namespace

pair_plan plan_bits(const pairs_command& job, const input_tables& tables) {
  const bit_matrix& x = *tables.x.bits;
  const bit_matrix& y = tables.y ? *tables.y->bits : x;
  const bit_matrix sample = sample_of(x, std::min(most_sampled_rows, x.rows()));
  execution exec = job.pairs.exec;
  exec.on_progress = {};
  const pair_counts counts =
      tanimoto_all_pairs(sample, y, {.exec = exec}, count_sink{.keep = job.filter});
  double sum = 0;
  double squares = 0;
  for (index_t i = 0; i < sample.rows(); ++i) {
    auto kept = static_cast<index_t>(counts.degree[static_cast<std::size_t>(i)]);
    if (!tables.y && is_kept_with_itself(sample, i, job.filter)) --kept;
    if (job.keep == keep_kind::top_k) kept = std::min(kept, job.k);
    sum += static_cast<double>(kept);
    squares += static_cast<double>(kept) * static_cast<double>(kept);
  }
  const auto sampled = static_cast<double>(sample.rows());
  const auto rows = static_cast<double>(x.rows());
  const bool meets_once = !tables.y && job.keep != keep_kind::top_k;
  const double scale = meets_once ? rows / 2 : rows;
  const double mean = sum / sampled;
  const double variance = std::max(squares / sampled - mean * mean, 0.0);
  const double error = sampled < rows ? std::sqrt(variance / sampled) : 0;
  constexpr double errors = 3;
  const auto all = static_cast<std::uint64_t>(x.rows());
  return {.used = counts.summary.used,
          .device = counts.summary.device,
          .variant = counts.summary.variant,
          .choice = "common bits are counted, their ratios decided in double",
          .pairs = tables.y ? all * static_cast<std::uint64_t>(y.rows()) : all * (all - 1) / 2,
          .sampled_pairs = counts.tested,
          .kept_estimate = scale * mean,
          .kept_upper = scale * (mean + errors * error)};
}

}  // namespace gpu::cli
