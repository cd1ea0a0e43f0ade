#include "cli/options/output_names.hpp"

#include <fmt/format.h>

#include <array>
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

constexpr std::array all_formats{io::result_format::tsv, io::result_format::csv,
                                 io::result_format::npy, io::result_format::matrix_market};
constexpr std::size_t formats_of_text = 2;
constexpr std::size_t formats_of_rows = 3;
static_assert(all_formats[formats_of_rows - 1] == io::result_format::npy);

}  // namespace

std::span<const io::result_format> formats_of(const pairs_command& /*c*/) {
  return all_formats;
}

std::span<const io::result_format> formats_of(const row_files& /*c*/) {
  return std::span(all_formats).first<formats_of_rows>();
}

std::span<const io::result_format> formats_of(const differential_command& /*c*/) {
  return std::span(all_formats).first<formats_of_text>();
}

std::string formats_text(const pairs_command& /*c*/) {
  return "Its format [as the suffix of FILE says: .tsv, .csv, .npy, of edges also .mtx; text with "
         ".gz or .zst; else tsv]";
}

std::string formats_text(const row_files& /*c*/) {
  return "Its format [as the suffix of FILE says: .tsv, .csv, .npy, text with .gz or .zst; else "
         "tsv]";
}

std::string formats_text(const differential_command& /*c*/) {
  return "Its format [as the suffix of FILE says: .tsv, .csv, text with .gz or .zst; else tsv]";
}

std::string check_format(const modules_command& c) {
  if (io::has_fields(c.format)) return "";
  return fmt::format("--output: {} names {}, expected tsv or csv", c.output, io::word_of(c.format));
}

std::string check_format(const row_files& c) {
  if (c.format <= io::result_format::npy) return "";
  return fmt::format("--output: {} names {}, which holds edges alone, expected tsv, csv or npy",
                     c.output, io::word_of(c.format));
}

void settle_format(io::result_format& format, bool is_given,
                   std::initializer_list<named_output> outputs, std::string said_by) {
  if (said_by.empty() && is_given) said_by = fmt::format("--format {} says", io::word_of(format));
  for (const named_output& output : outputs) {
    const std::optional<io::result_format> named = format_named_by(output, is_given);
    if (!named) continue;
    if (said_by.empty()) {
      format = *named;
      said_by = fmt::format("{} {} says", output.option, output.path);
    }
    if (*named == format) continue;
    throw usage_error(fmt::format("{}: {} names {}, expected {} as {}", output.option, output.path,
                                  io::word_of(*named), io::word_of(format), said_by));
  }
}

}  // namespace gpu::cli
