// What the names of the outputs say about their format.
#include <fmt/format.h>

#include <cstddef>
#include <optional>

#include "cli/options/option_groups.hpp"
#include "cli/process/exit_code.hpp"
#include "io/io_error.hpp"

namespace gpu::cli {
namespace {

std::optional<io::result_format> format_named_by(const named_output& output, bool is_given) {
  try {
    return io::form_of(output.path, is_given).format;
  } catch (const io::output_error& error) {
    throw usage_error(fmt::format("{}: {}", output.option, error.what()));
  }
}

/// The first formats of the table: each kind of result has more than the one before it.
words<io::result_format> first_formats(std::ptrdiff_t count) {
  const auto* const first = words_of<io::result_format>.begin();
  return {first, first + count};
}

}  // namespace

offered_formats table_formats() {
  return {first_formats(2),
          "Its format [as the suffix of FILE says: .tsv, .csv, text with .gz or .zst; else tsv]"};
}

offered_formats row_formats() {
  return {first_formats(3),
          "Its format [as the suffix of FILE says: .tsv, .csv, .npy, text with .gz or .zst; else "
          "tsv]"};
}

offered_formats edge_formats() {
  return {first_formats(4),
          "Its format [as the suffix of FILE says: .tsv, .csv, .npy, of edges also .mtx; text with "
          ".gz or .zst; else tsv]"};
}

void add_output(verb& v, job_files& c, const offered_formats& formats) {
  v.heading = "Result";
  v.add_file("-o,--output", c.output, "Result file, - for standard output [-]");
  add_choice(v, "--format", c.format, formats.known, formats.text)->of_result();
  v.add_option("--no-clobber", c.no_clobber, "End rather than replace a file that is there");
}

void add_report(verb& v, job_files& c, const char* description) {
  v.add_file("--report", c.report, description);
}

void add_size_limit(verb& v, job_files& c) {
  add_bytes(v, "--max-output", c.max_output_bytes,
            "Write no more bytes than this, and begin none that are estimated to be more; K, M, G, "
            "T allowed [10G]");
  v.add_option("--force", c.force, "Write however much it is");
}

std::string check_format(const modules_command& c) {
  if (io::has_fields(c.format)) return "";
  return fmt::format("--output: {} names {}, expected tsv or csv", c.output, word_of(c.format));
}

std::string check_format(const job_files& c) {
  if (c.format <= io::result_format::npy) return "";
  return fmt::format("--output: {} names {}, which is only for edges, expected tsv, csv or npy",
                     c.output, word_of(c.format));
}

void settle_format(io::result_format& format, bool is_given,
                   std::initializer_list<named_output> outputs, std::string said_by) {
  if (said_by.empty() && is_given) said_by = fmt::format("--format {} says", word_of(format));
  for (const named_output& output : outputs) {
    const std::optional<io::result_format> named = format_named_by(output, is_given);
    if (!named) continue;
    if (said_by.empty()) {
      format = *named;
      said_by = fmt::format("{} {} says", output.option, output.path);
    }
    if (*named == format) continue;
    throw usage_error(fmt::format("{}: {} names {}, expected {} as {}", output.option, output.path,
                                  word_of(*named), word_of(format), said_by));
  }
}

}  // namespace gpu::cli
