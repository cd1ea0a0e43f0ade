#include "cli/parts/job_estimate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>

#include "cli/outputs/report.hpp"
#include "cli/process/stopwatch.hpp"
#include "cli/verbs/all_pairs.hpp"
#include "cli/verbs/output_size.hpp"
#include "cli/verbs/pairs_run.hpp"

namespace gpu::cli {
namespace {

constexpr index_t most_first_rows = 4096;     // of the first sample
constexpr double first_products = 2e9;        // so many values times values at most
constexpr double enough_seconds = 0.05;       // of a sample
constexpr double written_per_second = 300e6;  // bytes: formatted, written and joined
constexpr double part_seconds = 20;
constexpr double part_bytes = 2e9;
constexpr index_t most_suggested_parts = 1000;

/// Rows of the first sample: fewer of wide tables, of which one pair takes long.
index_t first_sample(index_t cols) {
  constexpr index_t least = 64;
  const double rows = std::sqrt(2 * first_products / static_cast<double>(cols));
  return std::clamp(static_cast<index_t>(rows), least, most_first_rows);
}

detail::any_table first_rows(const io::table& table, index_t rows) {
  if (table.sparse) {
    return table.sparse->with_rows(std::min(rows, table.rows()),
                                   [](const auto& view) -> detail::any_table { return view; });
  }
  return std::visit(
      [&]<class T>(const matrix<T>& values) -> detail::any_table {
        const index_t taken = std::min(rows, values.rows());
        return detail::read_table(matrix_view<const T>(values.data(), taken, values.cols()));
      },
      table.values);
}

detail::pair_tables first_tables(const input_tables& tables, index_t rows) {
  detail::pair_tables first{first_rows(tables.x, rows)};
  if (tables.y) first.y = first_rows(*tables.y, rows);
  return first;
}

/// What a sink takes of at most `rows` rows of each table.
template <class Sink>
sink_result_t<Sink> all_pairs_of_first(const pairs_command& job, const input_tables& tables,
                                       index_t rows, const pair_options& options,
                                       const Sink& sink) {
  if (tables.x.bits) {
    std::optional<bit_matrix_view> y;
    if (tables.y) y = first_bits(*tables.y, rows);
    return all_bits(first_bits(tables.x, rows), y, options, sink);
  }
  return detail::all_pairs(job.what, first_tables(tables, rows), tables.with_columns(options),
                           sink);
}

/// The counts of at most `rows` rows, of each table.
pair_counts count_first(const pairs_command& job, const input_tables& tables, index_t rows) {
  pair_filter keep = job.filter;
  keep.adjust = adjustment::none;
  return all_pairs_of_first(job, tables, rows, job.pairs, count_sink{.keep = keep});
}

constexpr index_t waking_rows = 64;

double pairs_of(const input_tables& tables, index_t most_rows) {
  const auto rows = static_cast<double>(std::min(tables.rows(), most_rows));
  if (!tables.y) return rows * (rows - 1) / 2;
  return rows * static_cast<double>(std::min(tables.y->rows(), most_rows));
}

}  // namespace

job_estimate estimate_job(const pairs_command& job, const input_tables& tables,
                          const io::result_context& context) {
  pairs_command whole = job;
  whole.pairs.part = {};
  whole.pairs.exec.on_progress = {};
  const index_t most_rows = std::max(tables.rows(), tables.partners());
  job_estimate out{.pairs = pairs_of(tables, most_rows)};
  (void)count_first(whole, tables, waking_rows);
  for (index_t sample = first_sample(tables.cols());; sample *= 2) {
    const stopwatch watch;
    const pair_counts counts = count_first(whole, tables, sample);
    const double seconds = std::max(counts.summary.pairs_seconds, 1e-6);
    out.pairs_per_second = pairs_of(tables, sample) / seconds;
    out.prepare_seconds = counts.summary.prepare_seconds * static_cast<double>(most_rows) /
                          static_cast<double>(std::min(sample, most_rows));
    if (sample >= most_rows || watch.seconds() >= enough_seconds) break;
  }
  out.bytes = estimated_output_bytes(whole, tables, context);
  double passes = 1;
  if (job.filter.adjust == adjustment::benjamini_hochberg) {
    passes = job.keep == keep_kind::top_k ? 4 : 3;  // the last for q
  }
  const double pairs_seconds = passes * out.pairs / out.pairs_per_second;
  out.seconds = out.prepare_seconds + pairs_seconds + out.bytes / written_per_second;
  const double by_time = std::ceil(out.seconds / part_seconds);
  const double by_size = std::ceil(out.bytes / part_bytes);
  const auto most = static_cast<double>(std::min(most_suggested_parts, tables.rows()));
  out.parts = static_cast<index_t>(std::clamp(std::max(by_time, by_size), 1.0, most));
  return out;
}

void wake(const pairs_command& job, const input_tables& tables) {
  // Large enough to be uploaded through page-locked memory, which the first such call allocates.
  constexpr index_t enough_values = index_t{5} << 20;
  const index_t rows = enough_values / tables.cols() + 2;
  pair_options options = job.pairs;
  options.part = {};
  options.exec.on_progress = {};
  pair_filter strict = job.filter;
  if (!tables.x.bits) strict.adjust = adjustment::bonferroni;
  if (job.keep == keep_kind::edges) {
    (void)all_pairs_of_first(job, tables, rows, options,
                             stream_sink{.keep = strict, .consume = [](std::span<const edge>) {}});
  } else {
    (void)all_pairs_of_first(job, tables, rows, options, count_sink{.keep = strict});
  }
}

std::string estimate_text(const job_estimate& e, double read_seconds, index_t parts) {
  const std::string whole = fmt::format(
      "rate, measured\t{:.3g} pairs/s\n"
      "time, estimated\t{:.3g} s of one process like this one, after {:.3g} s of reading\n",
      e.pairs_per_second, e.seconds, read_seconds);
  if (parts == 0) return whole;
  const auto n = static_cast<double>(parts);
  const double of_part = (e.seconds - e.prepare_seconds) / n + e.prepare_seconds;
  return whole + fmt::format(
                     "parts\t{}, of about {:.3g} s and {}\n"
                     "parts, advised\t{}\n",
                     parts, of_part, bytes_text(e.bytes / n), e.parts);
}

}  // namespace gpu::cli
