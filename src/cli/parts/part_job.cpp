#include "cli/parts/part_job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <gpu/error.hpp>

#include "cli/options/option_words.hpp"
#include "cli/process/exit_code.hpp"
#include "cli/process/interrupt.hpp"
#include "cli/process/stopwatch.hpp"
#include "cli/verbs/all_pairs.hpp"
#include "cli/verbs/differential/differences.hpp"
#include "cli/verbs/pairs_run.hpp"
#include "io/npy_header.hpp"
#include "io/write/buffered_text.hpp"
#include "io/write/edges/adjusted_edges.hpp"
#include "io/write/result_headers.hpp"
#include "io/write/result_writer.hpp"

namespace gpu::cli {
namespace {

std::string ending_of(const pairs_command& job) {
  return job.format == io::result_format::npy ? ".records"
                                              : fmt::format(".{}", word_of(job.format));
}

template <class Edges>
void write_p(const Edges& edges, io::output_file& file) {
  std::vector<double> p(edges.size());
  std::transform(edges.begin(), edges.end(), p.begin(), [](const auto& e) { return e.p; });
  file.write(io::bytes_of(std::span<const double>(p)));
}

bool is_same_files(const std::vector<part_file>& a, const std::vector<part_file>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
    return x.name == y.name && x.digest == y.digest;
  });
}

}  // namespace

/// What a part has before it is committed: its files under names of their own.
struct part_job::computed {
  struct file {
    std::string role;
    std::string name;
    std::unique_ptr<io::output_file> output;
  };
  std::vector<file> files;
  pair_summary summary;
  std::optional<std::uint64_t> edge_sum;
  std::optional<discovery_search> search;
};

part_job::part_job(const part_job_context& context)
    : context_(context),
      rows_(result_context_of(context.job, context.tables)),
      options_(context.job.pairs),
      filter_(context.job.filter) {
  rows_.frame = io::result_frame::rows_only;
  options_.exec.on_progress = shown_on(&context_.line);
}

part_manifest part_job::run(const job_step& step, index_t number, index_t of) {
  const part_place place{step.step, number, of};
  const std::string what = text_of(place);
  options_.part = {.index = number - 1, .of = of};
  filter_ = context_.job.filter;
  if (step.step == 0 && step.search) {
    // The cut that all parts found together; the same double as that of the whole call.
    filter_.max_p = step.search->max_p_effective();
    filter_.adjust = adjustment::none;
  }
  context_.folder.expect_free(place, context_.key);
  computed out;
  try {
    return compute(step, place, out);
  } catch (const cancelled&) {
    throw interrupted_run(fmt::format("interrupted: {} is not written", what));
  } catch (const io::interrupted&) {
    throw interrupted_run(fmt::format("interrupted: {} is not written", what));
  }
}

part_manifest part_job::compute(const job_step& step, const part_place& place, computed& out) {
  const stopwatch watch;
  if (place.step > 0) {
    compute_bins(step, place, out);
  } else if (context_.job.is_differential()) {
    add_header(place, out);
    compute_differences(place, out);
  } else {
    add_header(place, out);
    switch (context_.job.keep) {
      case keep_kind::edges:
        compute_edges(place, out);
        break;
      case keep_kind::top_k:
        compute_neighbors(place, out);
        break;
      case keep_kind::counts:
        compute_degrees(place, out);
        break;
      case keep_kind::dense:
        compute_dense(place, out);
        break;
    }
  }
  part_manifest manifest{.job = context_.key,
                         .step = place.step,
                         .number = place.number,
                         .of = place.of,
                         .summary = out.summary,
                         .without = counts_of(out.summary),
                         .family = family_of(out.summary, counts_of(out.summary)).value(),
                         .edge_sum = out.edge_sum,
                         .search = out.search,
                         .reading = context_.tables.x.reading};
  if (context_.tables.y) manifest.y_reading = context_.tables.y->reading;
  for (const computed::file& file : out.files) file.output->sync();
  manifest.seconds = watch.seconds();
  if (is_interrupted()) throw cancelled("interrupted");
  return commit(place, std::move(manifest), out);
}

io::output_file& part_job::add_file(computed& out, const std::string& role,
                                    const std::string& name) {
  auto file = std::make_unique<io::output_file>(
      context_.folder.files().target_of(name),
      io::output_settings{
          .stop = is_interrupted, .budget = &context_.budget, .takes_digest = true});
  return *out.files.emplace_back(computed::file{role, name, std::move(file)}).output;
}

void part_job::add_header(const part_place& place, computed& out) {
  if (place.number != 1) return;
  const pairs_command& job = context_.job;
  if (job.keep == keep_kind::counts) {
    if (job.format == io::result_format::npy) return;
    // What stands in front of the degrees: the header, then the name of every row.
    io::output_file& names = add_file(out, "names", "names.txt");
    std::string text = io::degree_header(job.format, rows_);
    const char separator = io::separator_of(job.format);
    for (index_t i = 0; i < rows_.all_rows(); ++i) {
      text.append(rows_.table_column(i, separator)).append(rows_.stacked_name(i)).append(1, '\n');
      constexpr std::size_t full = std::size_t{1} << 20;
      if (text.size() >= full) names.write(std::exchange(text, {}));
    }
    names.write(text);
    return;
  }
  if (job.format == io::result_format::npy) return;  // it says how much there is: merge knows
  io::output_file& header = add_file(out, "header", fmt::format("header.{}", word_of(job.format)));
  if (job.is_differential()) {
    const differential_lines lines(job.keep, job.format, job.info().symbol);
    header.write(lines.header(context_.tables.groups, job.writes_q()));
    return;
  }
  if (job.keep != keep_kind::dense) {
    // q is of all edges: merge adds it.
    const auto kind = job.keep == keep_kind::edges ? io::pair_rows::edges : io::pair_rows::partners;
    header.write(io::pair_header(job.format, rows_, kind, job.writes_q(), 0));
  }
  if (job.keep == keep_kind::dense) header.write(io::dense_header(job.format, 0, rows_));
}

// merge adds q to the rows of parts. Text has p in six digits, so p must follow from the statistic,
// which is there in full, or be there too.
io::output_file* part_job::row_p_file(const part_place& place, computed& out) {
  const pairs_command& job = context_.job;
  if (!job.writes_q() || job.format == io::result_format::npy || !rows_.ties) return nullptr;
  return &add_file(out, "row_p", name_of(place, ".row_p"));
}

void part_job::compute_edges(const part_place& place, computed& out) {
  const pairs_command& job = context_.job;
  io::output_file& file = add_file(out, "rows", name_of(place, ending_of(job)));
  const auto writer = io::make_edge_writer(job.format, file, rows_);
  out.edge_sum = 0;
  io::output_file* const p_of_rows = row_p_file(place, out);
  const auto consume = [&](std::span<const edge> edges) {
    if (is_interrupted()) throw cancelled("interrupted");
    writer->write(edges);
    *out.edge_sum += edge_sum_of(edges, rows_);
    if (p_of_rows != nullptr) write_p(edges, *p_of_rows);
  };
  out.summary = all_pairs(
      job, context_.tables, options_,
      stream_sink{.keep = filter_, .consume = consume, .batch_edges = batch_edges_of(options_)});
  writer->finish();
}

void part_job::compute_differences(const part_place& place, computed& out) {
  const pairs_command& job = context_.job;
  const input_tables& tables = context_.tables;
  differences found = find_differences(job, tables.x, tables.groups, options_, filter_);
  out.summary = summary_of(tables, options_, filter_, std::move(found.summary));
  for (const differential_edge& e : found.edges) {
    out.summary.checksum += checksum_of(e.row, e.col, e.z);
  }
  if (job.keep == keep_kind::counts) {
    pair_counts counts;
    counts.degree = std::move(found.degree);
    io::output_file& file = add_file(out, "degrees", name_of(place, ".degrees.npy"));
    return io::write_counts(io::result_format::npy, file, counts, rows_);
  }
  io::output_file& file = add_file(out, "rows", name_of(place, ending_of(job)));
  io::buffered_text text(file);
  differential_lines lines(job.keep, job.format, job.info().symbol);
  for (const differential_edge& e : found.edges) {
    lines.append(text.end(), rows_.row_name(index_t{e.row}), rows_.col_name(index_t{e.col}), e);
    text.end_line();
  }
  text.flush();
  if (!job.writes_q()) return;
  // From the p of all lines merge has their q.
  write_p(found.edges, add_file(out, "p", name_of(place, ".p")));
}

void part_job::compute_neighbors(const part_place& place, computed& out) {
  const pairs_command& job = context_.job;
  const index_t k = std::min(job.k, context_.tables.y ? rows_.cols() : rows_.rows - 1);
  const neighbor_table result = all_pairs(job, context_.tables, options_,
                                          top_k_sink{.k = k, .keep = filter_, .order = job.order});
  out.summary = result.summary;
  rows_.first_row = result.summary.part_begin;
  io::output_file& file = add_file(out, "rows", name_of(place, ending_of(job)));
  io::write_neighbors(job.format, file, result, rows_);
  if (io::output_file* const p_of_rows = row_p_file(place, out)) {
    const std::vector<double> p = io::p_of_entries(result, rows_);
    p_of_rows->write(io::bytes_of(std::span<const double>(p)));
  }
  if (job.writes_q() && job.filter.adjust == adjustment::benjamini_hochberg) {
    compute_tests(place, out);
  }
}

void part_job::compute_tests(const part_place& place, computed& out) {
  io::output_file& file = add_file(out, "p", name_of(place, ".p"));
  const auto consume = [&](std::span<const edge> edges) {
    if (is_interrupted()) throw cancelled("interrupted");
    write_p(edges, file);
  };
  // Whatever min_abs and k leave out of the partners, and in an order that does not depend on who
  // computes it, as files of a part have it.
  (void)all_pairs(context_.job, context_.tables, options_,
                  stream_sink{.keep = {.max_p = filter_.max_p, .side = filter_.side},
                              .consume = consume,
                              .batch_edges = batch_edges_of(options_)});
}

void part_job::compute_dense(const part_place& place, computed& out) {
  const pairs_command& job = context_.job;
  const correlation_matrix<double> result = all_pairs(job, context_.tables, options_, dense_sink{});
  out.summary = result.summary;
  rows_.first_row = result.summary.part_begin;
  io::output_file& file = add_file(out, "rows", name_of(place, ending_of(job)));
  io::write_dense(job.format, file, result, rows_);
}

void part_job::compute_degrees(const part_place& place, computed& out) {
  const pair_counts result =
      all_pairs(context_.job, context_.tables, options_, count_sink{.keep = filter_});
  out.summary = result.summary;
  io::output_file& file = add_file(out, "degrees", name_of(place, ".degrees.npy"));
  io::write_counts(io::result_format::npy, file, result, rows_);
}

void part_job::compute_bins(const job_step& step, const part_place& place, computed& out) {
  const discovery_sink sink{.keep = filter_, .search = step.search};
  const discovery_counts counts =
      context_.job.is_differential()
          ? count_differences(context_.job, context_.tables, options_, sink)
          : all_pairs(context_.job, context_.tables, options_, sink);
  out.summary = counts.summary;
  out.search = counts.search;
  add_file(out, "bins", name_of(place, ".bins")).write(bins_text(counts));
}

part_manifest part_job::commit(const part_place& place, part_manifest manifest, computed& out) {
  for (const computed::file& file : out.files) {
    manifest.files.push_back({file.role, file.name, file.output->digest()});
  }
  // Another process may have been first. Its part stays, because others may have read its manifest
  // already.
  part_status there = context_.folder.check(place, part_check::digests);
  if (there.state == part_state::done && there.manifest->job == context_.key) {
    if (is_same_files(there.manifest->files, manifest.files)) return *there.manifest;
    throw parts_error(
        fmt::format("{}: another process wrote {} meanwhile, with other bytes. That one stays",
                    context_.folder.path(), text_of(place)));
  }
  context_.folder.expect_replaceable(manifest);
  for (const computed::file& file : out.files) file.output->commit();
  context_.folder.finish(manifest);
  return manifest;
}

}  // namespace gpu::cli
