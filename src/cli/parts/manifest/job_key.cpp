#include "cli/parts/manifest/job_key.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <vector>

#include <gpu/measure.hpp>
#include <gpu/version.hpp>

#include "cli/options/option_words.hpp"
#include "cli/process/exit_code.hpp"
#include "io/io_error.hpp"
#include "io/json.hpp"
#include "io/read/sparse/names_beside.hpp"

namespace gpu::cli {
namespace {

/// Calls `see` with the name and the place of each option that decides how the result looks. The
/// key and the job of a key both follow from this list.
template <class Job, class See>
void each_option(Job& job, const See& see) {
  see("keep", job.keep);
  see("k", job.k);
  see("order", job.order);
  see("format", job.format);
  see("observations", job.writes_n);
  see("confidence", job.confidence);
  see("max-p", job.filter.max_p);
  see("min-abs", job.filter.min_abs);
  see("tail", job.filter.side);
  see("adjust", job.filter.adjust);
  see("p-method", job.pairs.p_method);
  see("match", job.match);
  see("effective-observations", job.pairs.effective_observations);
  see("nan", job.pairs.nans);
  see("min-observations", job.pairs.min_observations);
  if (!job.fingerprints) return;
  see("input-format", job.fingerprints->format);
  see("bits", job.fingerprints->bits);
  see("bit-order", job.fingerprints->order);
}

/// The options on how the input is read.
template <class See>
void each_reading(const pairs_command& job, const See& see) {
  see("transpose", job.transposes);
  see("header", job.text.header);
  see("row-names", job.text.row_names);
  see("delimiter", job.text.separator);
  see("decimal", job.text.decimal);
  see("comment", job.text.comment);
  see("na-values", job.text.missing);
  see("columns", job.text.columns);
  see("skip-columns", job.text.skip_columns);
  see("names-column", job.text.names_column);
  see("rows", job.text.rows);
}

/// The text of a value; "" where the option is not given.
struct to_text {
  std::string operator()(bool value) const { return value ? "yes" : ""; }
  std::string operator()(index_t value) const { return value == 0 ? "" : fmt::to_string(value); }
  /// In the fewest digits that give it back.
  std::string operator()(double value) const { return value == 0 ? "" : fmt::format("{}", value); }
  std::string operator()(const std::string& value) const { return value; }
  std::string operator()(const std::vector<std::string>& list) const {
    std::string out;
    for (const std::string& each : list) {
      out.append(out.empty() ? "" : ",").append(io::json_text(each));
    }
    return out;
  }
  std::string operator()(const io::row_range& rows) const {
    return rows.is_all() ? "" : fmt::format("{}-{}", rows.begin + 1, rows.end);
  }
  template <class Value>
  std::string operator()(Value value) const
    requires(!words_of<Value>.empty())
  {
    return word_of(value);
  }
};

/// Whether `text` is the text of a value, which `value` becomes; "" leaves it.
struct from_text {
  std::string_view text;

  bool operator()(bool& value) const { return text.empty() || (value = text == "yes"); }
  template <class Number>
  bool operator()(Number& value) const
    requires std::is_arithmetic_v<Number>
  {
    return text.empty() ||
           std::from_chars(text.data(), text.data() + text.size(), value).ec == std::errc();
  }
  bool operator()(observation_count& value) const {
    double number = value;
    const bool is_number = (*this)(number);
    value = number;
    return is_number;
  }
  template <class Value>
  bool operator()(Value& value) const
    requires(!words_of<Value>.empty())
  {
    return text.empty() || read_word(text, value);
  }
};

/// What the statistic of a differential job begins with, in front of the measure.
constexpr std::string_view differential_word = "differential ";

std::string statistic_of(const pairs_command& job) {
  std::string name(job.info().name);
  return job.is_differential() ? std::string(differential_word) + name : name;
}

std::string text_of(const io::file_digest& digest) {
  return fmt::format("{} bytes with CRC-32 {:08x}", digest.bytes, digest.crc32);
}

io::file_digest required_digest(const char* option, const std::string& path) {
  const std::optional<io::file_digest> digest = io::digest_of_file(path);
  if (digest) return *digest;
  throw usage_error(fmt::format(
      "{}: {} is not a regular file that can be read, expected one: every part reads it", option,
      path));
}

void add_beside(const io::beside_files& beside, io::file_digest& digest) {
  if (!beside.of_rows.empty()) digest.append(required_digest("--names", beside.of_rows));
  if (!beside.of_columns.empty()) digest.append(required_digest("INPUT", beside.of_columns));
}

/// The digest of a file that stands among the options; "" without one.
std::string option_of(const char* option, const std::string& path) {
  return path.empty() ? std::string() : text_of(required_digest(option, path));
}

/// Of differential: the labels, or the digest of their file.
std::string groups_option(const pairs_command& job) {
  return is_groups_file(job.groups) ? option_of("--groups", job.groups) : job.groups;
}

std::string text_of(const std::optional<io::file_digest>& digest) {
  return digest ? text_of(*digest) : "none";
}

}  // namespace

const std::string& job_key::option(const std::string& name) const {
  static const std::string none;
  for (const auto& [word, value] : options) {
    if (word == name) return value;
  }
  return none;
}

job_key key_of(const pairs_command& job) {
  io::file_digest input = required_digest("INPUT", job.input);
  // The files of names are read with it, and their names stand in the result.
  const io::beside_files beside = io::find_beside(job.input, job.text, job.transposes);
  add_beside(beside, input);
  std::optional<io::file_digest> against;
  if (!job.against.empty()) {
    against = required_digest("--against", job.against);
    io::text_options text = job.text;
    text.names_file.clear();
    add_beside(io::find_beside(job.against, text, job.transposes), *against);
  }
  job_key key{.version = GPU_SIMILARITY_VERSION, .input = input, .against = against};
  key.options.emplace_back("statistic", statistic_of(job));
  const auto add = [&key](const char* name, const auto& value) {
    key.options.emplace_back(name, to_text()(value));
  };
  add("covariates", option_of("--covariates", job.covariates));
  add("weights", option_of("--weights", job.weights));
  each_option(job, add);
  each_reading(job, add);
  if (job.is_differential()) add("groups", groups_option(job));
  return key;
}

void expect_same_input(const job_key& key, const pairs_command& job, const input_tables& tables) {
  const auto expect = [](const std::string& file, const std::optional<io::file_digest>& read,
                         const std::optional<io::file_digest>& expected) {
    if (read == expected) return;
    throw parts_error(fmt::format("{}: was changed while this job ran: read {}, expected {}",
                                  io::visible(file), text_of(read), text_of(expected)));
  };
  expect(job.input, tables.x_digest, key.input);
  if (job.is_differential() && groups_option(job) != key.option("groups")) {
    throw parts_error(fmt::format("{}: was changed while this job ran", io::visible(job.groups)));
  }
  if (key.against) expect(job.against, tables.y_digest, key.against);
  const auto expect_option = [&](const std::string& file, const char* option,
                                 const std::optional<io::file_digest>& read) {
    const std::string text = read ? text_of(*read) : std::string();
    if (text == key.option(option)) return;
    throw parts_error(fmt::format("{}: was changed while this job ran: read {}, expected {}",
                                  io::visible(file), text, key.option(option)));
  };
  expect_option(job.covariates, "covariates", tables.covariates_digest);
  expect_option(job.weights, "weights", tables.weights_digest);
}

std::string difference(const job_key& found, const job_key& expected) {
  if (found.input != expected.input) {
    return fmt::format("its input has {}, expected {}", text_of(found.input),
                       text_of(expected.input));
  }
  if (found.against != expected.against) {
    return fmt::format("its --against has {}, expected {}", text_of(found.against),
                       text_of(expected.against));
  }
  for (const auto& [name, value] : expected.options) {
    const std::string& other = found.option(name);
    if (other == value) continue;
    const char* const dashes = name == "statistic" ? "the " : "--";
    return fmt::format("{}{} is {}, expected {}", dashes, name, other.empty() ? "absent" : other,
                       value.empty() ? "none" : value);
  }
  if (found.version != expected.version) {
    return fmt::format("it is written by version {}, expected {}", found.version, expected.version);
  }
  return found == expected ? "" : "it has options that are not known here";
}

pairs_command job_of(const job_key& key) {
  pairs_command job;
  std::string_view statistic = key.option("statistic");
  if (statistic == io::tanimoto_info().name) {
    job.fingerprints.emplace();
  } else if (!statistic.empty()) {
    if (statistic.starts_with(differential_word)) {
      statistic.remove_prefix(differential_word.size());
      job.groups = key.option("groups");
    }
    const auto known = all_measures();
    const auto found = std::find_if(known.begin(), known.end(),
                                    [&](measure each) { return to_string(each) == statistic; });
    if (found == known.end())
      throw parts_error(fmt::format("parts of {} are not known", statistic));
    job.what = *found;
  }
  each_option(job, [&key](const char* name, auto& value) {
    const std::string& text = key.option(name);
    if (from_text{text}(value)) return;
    throw parts_error(fmt::format("parts of --{} {} are not known", name, text));
  });
  return job;
}

}  // namespace gpu::cli
