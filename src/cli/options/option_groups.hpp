#pragma once
// Options that several commands share.

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <gpu/execution.hpp>

#include "cli/options/option_words.hpp"
#include "cli/options/options.hpp"
#include "cli/options/verb.hpp"

namespace gpu::cli {

/// Other words for some of the values.
using aliases = std::map<std::string, std::string>;

/// An option whose value is one of a few words, in capitals or not.
template <class Value>
option* add_choice(verb& v, std::string_view name, Value& value, words<Value> known,
                   std::string help, const aliases& others = {}) {
  std::sort(known.begin(), known.end());
  std::string type;
  for (const auto& [word, unused] : known) type.append(type.empty() ? "" : "|").append(word);
  const auto take = [&value, known, others, type](const std::string& given) -> std::string {
    std::string word = given;
    std::transform(word.begin(), word.end(), word.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    if (const auto alias = others.find(word); alias != others.end()) word = alias->second;
    for (const auto& [text, meant] : known) {
      if (text != word) continue;
      value = meant;
      return "";
    }
    return "got " + given + ", expected " + type;
  };
  return v.add(name, take, std::move(help))->type_name(type);
}
/// Of all words that there are for such a value.
template <class Value>
option* add_choice(verb& v, std::string_view name, Value& value, std::string help,
                   const aliases& others = {}) {
  return add_choice(v, name, value, words<Value>(words_of<Value>.begin(), words_of<Value>.end()),
                    std::move(help), others);
}

template <class Integer>
option* add_bytes(verb& v, std::string_view name, Integer& value, std::string help) {
  const auto take = [&value](const std::string& text) -> std::string {
    const std::optional<std::uint64_t> bytes = parse_bytes(text);
    if (!bytes) return "got " + text + ", expected a number of bytes from 1, as 500M or 10G";
    value = static_cast<Integer>(*bytes);
    return "";
  };
  return v.add(name, take, std::move(help))->type_name("BYTES");
}

/// How a table of text is laid out.
void add_text_options(verb& v, io::text_options& text);
/// What of them does not go together; "" where all does.
[[nodiscard]] std::string check_text_options(const io::text_options& text);

/// What the help says of a table that is read.
inline constexpr const char* table_text =
    "Text (CSV, TSV, blanks, GCT), .npy, MatrixMarket (.mtx), SciPy's sparse .npz, or "
    "each compressed by gzip or zstd; - for standard input";

/// What every job that reads a table takes; `text` is of INPUT.
template <class Command>
void add_input(verb& v, Command& c, const char* text = table_text) {
  v.add_option("INPUT", c.input, text)->required()->check(file_name());
  add_text_options(v, c.text);
  v.add_option("--transpose", c.transposes, "Take the columns of the file as rows: as variables")
      ->group("Input");
  add_bytes(v, "--max-input", c.max_input_bytes,
            "Refuse compressed input, .npz that unpack to more bytes; K, M, G, T allowed "
            "[32G]")
      ->group("Input");
}

/// The formats that a result may have.
[[nodiscard]] words<io::result_format> formats_of(const pairs_command& c);
[[nodiscard]] words<io::result_format> formats_of(const row_files& c);
[[nodiscard]] words<io::result_format> formats_of(const differential_command& c);
/// What the help says of them.
[[nodiscard]] std::string formats_text(const pairs_command& c);
[[nodiscard]] std::string formats_text(const row_files& c);
[[nodiscard]] std::string formats_text(const differential_command& c);
/// What is wrong with a format that the suffixes said; "" where nothing is.
[[nodiscard]] std::string check_format(const row_files& c);

/// Where it is written, and in what format.
template <class Command>
void add_output(verb& v, Command& c) {
  v.add_option("-o,--output", c.output, "Result file, - for standard output [-]")
      ->type_name("FILE")
      ->check(file_name())
      ->group("Result");
  add_choice(v, "--format", c.format, formats_of(c), formats_text(c))->group("Result");
  v.add_option("--no-clobber", c.no_clobber, "End rather than replace a file that is there")
      ->group("Result");
}

/// What a run did, as JSON.
template <class Command>
void add_report(verb& v, Command& c, const std::string& description) {
  v.add_option("--report", c.report, description)
      ->type_name("FILE")
      ->check(file_name())
      ->group("Result");
}

/// How much may be written.
template <class Command>
void add_size_limit(verb& v, Command& c) {
  add_bytes(v, "--max-output", c.max_output_bytes,
            "Write no more bytes than this, and begin none that are estimated to be more; K, M, G, "
            "T allowed [10G]")
      ->group("Result");
  v.add_option("--force", c.force, "Write however much it is")->group("Result");
}

/// What missing values do to pairs of rows.
void add_missing_values(verb& v, pair_options& pairs);

/// Where it runs.
void add_backend(verb& v, execution& exec);

/// The options of the commands that take rows one by one.
void add_mean_filter(verb& v, mean_filter_command& c);
void add_rank(verb& v, rank_command& c);
void add_top_k(verb& v, top_k_command& c);
/// Those of differential correlation, and of soft thresholds.
void add_differential(verb& v, differential_command& c);
void add_soft_threshold(verb& v, soft_threshold_command& c);
/// What of them does not go together; "" where all does.
[[nodiscard]] std::string check_soft_threshold(const verb& v, const soft_threshold_command& c);

}  // namespace gpu::cli
