#pragma once
// Options that several commands share.

#include <CLI/CLI.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gpu/execution.hpp>

#include "cli/options/option_values.hpp"
#include "cli/options/options.hpp"

namespace gpu::cli {

template <class Value>
using names_of = std::map<std::string, Value>;

/// The names in a table of names and values.
template <class Value, std::size_t Count>
names_of<Value> names_in(const std::array<std::pair<std::string_view, Value>, Count>& table) {
  names_of<Value> out;
  for (const auto& [name, value] : table) out.emplace(name, value);
  return out;
}

/// Other words for some of the values.
using aliases = std::map<std::string, std::string>;

/// An option whose value is one of a few words, in capitals or not.
template <class Value>
CLI::Option* add_choice(CLI::App& app, const std::string& name, Value& value,
                        const names_of<Value>& names, const aliases& others,
                        const std::string& description) {
  std::string type;
  for (const auto& [word, unused] : names) type += (type.empty() ? "" : "|") + word;
  const auto take = [&value, names, others, name, type](const std::string& given) {
    const std::string word = CLI::detail::to_lower(given);
    const auto alias = others.find(word);
    const auto found = names.find(alias == others.end() ? word : alias->second);
    if (found == names.end()) {
      throw CLI::ValidationError(name, "got " + given + ", expected " + type);
    }
    value = found->second;
  };
  return app.add_option_function<std::string>(name, take, description)->type_name(type);
}
template <class Value>
CLI::Option* add_choice(CLI::App& app, const std::string& name, Value& value,
                        const names_of<Value>& names, const std::string& description) {
  return add_choice(app, name, value, names, {}, description);
}

template <class Integer>
CLI::Option* add_bytes(CLI::App& app, const std::string& name, Integer& value,
                       const std::string& description) {
  const auto convert = [&value, name](const std::string& text) {
    const std::optional<std::uint64_t> bytes = parse_bytes(text);
    if (!bytes) {
      throw CLI::ValidationError(
          name, "got " + text + ", expected a number of bytes from 1, as 500M or 10G");
    }
    value = static_cast<Integer>(*bytes);
  };
  return app.add_option_function<std::string>(name, convert, description)->type_name("BYTES");
}

/// How a table of text is laid out.
void add_text_options(CLI::App& app, io::text_options& text);
/// What of them does not go together; "" where all does.
[[nodiscard]] std::string check_text_options(const io::text_options& text);

/// What the help says of a table that is read.
inline constexpr const char* table_text =
    "Text (CSV, TSV, blanks, GCT), .npy, MatrixMarket (.mtx), SciPy's sparse .npz, or "
    "each compressed by gzip or zstd; a folder of 10x Genomics; - for standard input";

/// What every job that reads a table takes; `text` is of INPUT.
template <class Command>
void add_input(CLI::App& app, Command& c, const char* text = table_text) {
  app.add_option("INPUT", c.input, text)->required()->check(file_name());
  add_text_options(app, c.text);
  app.add_flag("--transpose", c.transposes, "Take the columns of the file as rows: as variables")
      ->group("Input");
  add_bytes(app, "--max-input", c.max_input_bytes,
            "Refuse compressed input, .npz that unpack to more bytes; K, M, G, T allowed "
            "[32G]")
      ->group("Input");
}

/// The formats that a result may have.
[[nodiscard]] std::span<const io::result_format> formats_of(const pairs_command& c);
[[nodiscard]] std::span<const io::result_format> formats_of(const row_files& c);
[[nodiscard]] std::span<const io::result_format> formats_of(const differential_command& c);
/// What the help says of them.
[[nodiscard]] std::string formats_text(const pairs_command& c);
[[nodiscard]] std::string formats_text(const row_files& c);
[[nodiscard]] std::string formats_text(const differential_command& c);
/// What is wrong with a format that the suffixes said; "" where nothing is.
[[nodiscard]] std::string check_format(const row_files& c);
[[nodiscard]] std::string check_format(const modules_command& c);

/// Where it is written, and in what format.
template <class Command>
void add_output(CLI::App& app, Command& c) {
  app.add_option("-o,--output", c.output, "Result file, - for standard output [-]")
      ->type_name("FILE")
      ->check(file_name())
      ->group("Result");
  names_of<io::result_format> formats;
  for (const io::result_format format : formats_of(c)) formats[io::word_of(format)] = format;
  add_choice<io::result_format>(app, "--format", c.format, formats, formats_text(c))
      ->group("Result");
  app.add_flag("--no-clobber", c.no_clobber, "End rather than replace a file that is there")
      ->group("Result");
}

/// What a run did, as JSON.
template <class Command>
void add_report(CLI::App& app, Command& c, const std::string& description) {
  app.add_option("--report", c.report, description)
      ->type_name("FILE")
      ->check(file_name())
      ->group("Result");
}

/// How much may be written.
template <class Command>
void add_size_limit(CLI::App& app, Command& c) {
  add_bytes(app, "--max-output", c.max_output_bytes,
            "Write no more bytes than this, and begin none that are estimated to be more; K, M, G, "
            "T allowed [10G]")
      ->group("Result");
  app.add_flag("--force", c.force, "Write however much it is")->group("Result");
}

/// What missing values do to pairs of rows.
void add_missing_values(CLI::App& app, pair_options& pairs);

/// Where it runs.
void add_backend(CLI::App& app, execution& exec);

/// The options of the commands that take rows one by one.
void add_mean_filter(CLI::App& app, mean_filter_command& c);
void add_rank(CLI::App& app, rank_command& c);
void add_top_k(CLI::App& app, top_k_command& c);
void add_modules(CLI::App& app, modules_command& c);
/// Those of differential correlation, and of soft thresholds.
void add_differential(CLI::App& app, differential_command& c);
void add_soft_threshold(CLI::App& app, soft_threshold_command& c);
/// What of them does not go together; "" where all does.
[[nodiscard]] std::string check_soft_threshold(const CLI::App& app,
                                               const soft_threshold_command& c);

}  // namespace gpu::cli
