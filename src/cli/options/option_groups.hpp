#pragma once
// Options that several commands share.

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gpu/execution.hpp>

#include "cli/options/option_words.hpp"
#include "cli/options/options.hpp"
#include "cli/options/verb.hpp"

namespace gpu::cli {

/// An option whose value is one of a few words, in capitals or not.
template <class Value>
option* add_choice(verb& v, std::string_view name, Value& value, const words<Value>& known,
                   std::string help, const aliases& others = {}) {
  std::vector<std::string_view> texts;
  for (const auto& [text, meant] : known) texts.push_back(text);
  option* const added = v.add_words(
      name, texts, [&value, known](std::size_t at) { value = known[at].second; }, std::move(help),
      others);
  added->said = [&value] { return word_of(value); };
  return added;
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

[[nodiscard]] words<measure> measure_words();

void add_text_options(verb& v, io::text_options& text);
/// What of them does not go together; "" where all does.
[[nodiscard]] std::string check_text_options(const io::text_options& text);

/// What the help says of a table that is read.
inline constexpr const char* table_text =
    "Text (CSV, TSV, blanks, GCT), .npy, MatrixMarket (.mtx), or each compressed by gzip or zstd; "
    "- "
    "for standard input";

/// What every job that reads a table takes; `text` is of INPUT.
void add_input(verb& v, job_files& c, const char* text = table_text);

/// An option that names an output; without a value where it is not given.
struct named_output {
  const char* option;
  const std::string& path;
};

/// Gives `format` the one that the suffixes say, unless --format was given. `said_by` is what says
/// the format where --format did not, as in "the parts are".
/// @throw usage_error where a suffix is unknown, or two of suffixes and --format contradict
void settle_format(io::result_format& format, bool is_given,
                   std::initializer_list<named_output> outputs, std::string said_by = {});

/// Where the result is written, and in what format: without arrays as text alone.
void add_output(verb& v, job_files& c, bool has_arrays = true);

void add_report(verb& v, job_files& c, const char* description);

void add_size_limit(verb& v, job_files& c);

void add_missing_values(verb& v, pair_options& pairs);

void add_backend(verb& v, execution& exec);

/// The options of the commands that take rows one by one.
void add_mean_filter(verb& v, mean_filter_command& c);
void add_rank(verb& v, rank_command& c);
void add_top_k(verb& v, top_k_command& c);
void add_modules(verb& v, modules_command& c);
/// Those of differential correlation, and of soft thresholds.
void add_differential(verb& v, pairs_command& c);
void add_soft_threshold(verb& v, soft_threshold_command& c);
/// What of them does not go together; "" where all does.
[[nodiscard]] std::string check_soft_threshold(const verb& v, const soft_threshold_command& c);

/// Options of the verbs that compute pairs: which measure, where the verb does not say it.
void add_measure(verb& v, measure& what);

/// Input, cuts, result, where it runs, and parts.
void add_pair_options(verb& v, pairs_command& c);

/// The same of a measure of rows of bits.
void add_bit_options(verb& v, pairs_command& c);

/// The adjustment of the filter that --adjust asks for.
void settle_adjustment(pairs_command& c);

/// What of them does not go together, or would change nothing; "" where all does.
[[nodiscard]] std::string check_pair_options(const verb& v, const pairs_command& c);
/// What the library refuses of these options, before a file is read.
void check_with_library(const pairs_command& c);

void add_parts(verb& v, pairs_command& c, const char* parts_text);
/// What does not go together; "" where all does.
[[nodiscard]] std::string check_parts_options(const verb& v, const pairs_command& c);

void add_parts_verb(verb& v, parts_command& c);
void add_merge_verb(verb& v, merge_command& c);

}  // namespace gpu::cli
