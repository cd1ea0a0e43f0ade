// What the names of the outputs say about their format.
#include <fmt/format.h>

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

}  // namespace

void add_output(verb& v, job_files& c, bool has_arrays) {
  v.heading = "Result";
  v.add_file("-o,--output", c.output, "Result file, - for standard output [-]");
  using enum io::result_format;
  if (has_arrays) {
    add_choice(v, "--format", c.format,
               "Its format [as the suffix of FILE says: .tsv, .csv, .npy, text with .gz or .zst; "
               "else tsv]")
        ->of_result();
  } else {
    add_choice(v, "--format", c.format, words_for({tsv, csv}),
               "Its format [as the suffix of FILE says: .tsv, .csv, text with .gz or .zst; else "
               "tsv]")
        ->of_result();
  }
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
