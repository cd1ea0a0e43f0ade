#include "cli/options/output_names.hpp"

#include <fmt/format.h>

#include <optional>

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

void settle_format(io::result_format& format, bool is_given,
                   std::initializer_list<named_output> outputs) {
  std::string said_by = is_given ? fmt::format("--format {}", io::word_of(format)) : std::string();
  for (const named_output& output : outputs) {
    const std::optional<io::result_format> named = format_named_by(output, is_given);
    if (!named) continue;
    if (said_by.empty()) {
      format = *named;
      said_by = fmt::format("{} {}", output.option, output.path);
    }
    if (*named == format) continue;
    throw usage_error(fmt::format("{}: {} names {}, expected {} as {} says", output.option,
                                  output.path, io::word_of(*named), io::word_of(format), said_by));
  }
}

}  // namespace gpu::cli
