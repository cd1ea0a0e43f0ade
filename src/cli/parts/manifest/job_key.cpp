#include "cli/parts/manifest/job_key.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>
#include <utility>
#include <vector>

#include <gpu/measure.hpp>
#include <gpu/version.hpp>

#include "cli/process/exit_code.hpp"
#include "io/io_error.hpp"
#include "io/json.hpp"
#include "io/read/sparse/names_beside.hpp"

namespace gpu::cli {
namespace {

std::string word_of(nan_policy nans, index_t min_observations) {
  switch (nans) {
    case nan_policy::reject:
      return "reject";
    case nan_policy::pairwise:
      return fmt::format("pairwise {}", min_observations);
    default:
      return "propagate";
  }
}

std::string word_of(tail side) {
  if (side == tail::two_sided) return "two-sided";
  return side == tail::greater ? "greater" : "less";
}

std::string word_of(adjustment adjust) {
  if (adjust == adjustment::none) return "none";
  return adjust == adjustment::bonferroni ? "bonferroni" : "bh";
}

std::string word_of(neighbor_order order) {
  return order == neighbor_order::by_value ? "by-value" : "by-absolute-value";
}

std::string word_of(io::choice choice) {
  if (choice == io::choice::automatic) return "auto";
  return choice == io::choice::yes ? "yes" : "no";
}

/// The other options on how the input is read, in one text; "" where none is given.
std::string reading_of(const pairs_command& job) {
  const io::text_options& text = job.text;
  std::string out = job.transposes ? "transpose" : "";
  const auto add = [&out](std::string_view option, std::string_view value) {
    if (value.empty()) return;
    out += fmt::format("{}{}={}", out.empty() ? "" : " ", option, io::json_text(value));
  };
  const auto joined = [](const std::vector<std::string>& words) {
    std::string list;
    for (const std::string& word : words) list += (list.empty() ? "" : ",") + word;
    return list;
  };
  constexpr std::array<std::string_view, 6> separators{"",      "tab", "semicolon",
                                                       "comma", "bar", "blanks"};
  add("delimiter", separators[static_cast<std::size_t>(text.separator)]);
  add("decimal", text.decimal == ',' ? "," : "");
  add("comment", text.comment);
  add("na-values", joined(text.missing));
  add("columns", joined(text.columns));
  add("skip-columns", joined(text.skip_columns));
  add("names-column", text.names_column);
  if (!text.rows.is_all()) add("rows", fmt::format("{}-{}", text.rows.begin + 1, text.rows.end));
  return out;
}

/// The name of a value in a table of names and values.
template <class Value, std::size_t Count>
std::string name_in(const std::array<std::pair<std::string_view, Value>, Count>& table,
                    Value value) {
  const auto found = std::find_if(table.begin(), table.end(),
                                  [value](const auto& each) { return each.second == value; });
  return std::string(found->first);
}

/// What the statistic of a differential job begins with, in front of the measure.
constexpr std::string_view differential_word = "differential ";

std::string statistic_of(const pairs_command& job) {
  std::string name(job.info().name);
  return job.is_differential() ? std::string(differential_word) + name : name;
}

/// How fingerprints are read, each "" of a table of numbers.
std::vector<std::pair<std::string, std::string>> fingerprints_of(const pairs_command& job) {
  if (!job.fingerprints) return {{"input-format", {}}, {"bits", {}}, {"bit-order", {}}};
  const io::fingerprint_options& bits = *job.fingerprints;
  return {{"input-format", name_in(io::fingerprint_formats, bits.format)},
          {"bits", bits.bits == 0 ? std::string() : fmt::to_string(bits.bits)},
          {"bit-order", name_in(io::bit_orders, bits.order)}};
}

std::string text_of(const io::file_digest& digest) {
  return fmt::format("{} bytes with CRC-32 {:08x}", digest.bytes, digest.crc32);
}

io::file_digest required_digest(const char* option, const std::string& path) {
  const std::optional<io::file_digest> digest = io::digest_of_file(path);
  if (digest) return *digest;
  throw usage_error(
      fmt::format("{}: {} is no regular file that can be read, expected one: every part reads it",
                  option, path));
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
  const pair_filter& filter = job.filter;
  const bool is_top_k = job.keep == keep_kind::top_k;
  const double observations = job.pairs.effective_observations;
  job_key key{.version = GPU_SIMILARITY_VERSION,
              .input = input,
              .against = against,
              .options = {{"statistic", statistic_of(job)},
                          {"keep", word_of(job.keep)},
                          {"k", is_top_k ? fmt::to_string(job.k) : std::string()},
                          {"order", is_top_k ? word_of(job.order) : std::string()},
                          {"format", io::word_of(job.format)},
                          {"observations", job.writes_n ? "n" : ""},
                          {"confidence",
                           job.confidence > 0 ? fmt::format("{}", job.confidence) : std::string()},
                          {"max-p", fmt::format("{}", filter.max_p)},
                          {"min-abs", fmt::format("{}", filter.min_abs)},
                          {"tail", word_of(filter.side)},
                          {"adjust", word_of(filter.adjust)},
                          {"p-method", std::string(to_string(job.pairs.p_method))},
                          {"covariates", option_of("--covariates", job.covariates)},
                          {"weights", option_of("--weights", job.weights)},
                          {"match", job.match == column_match::position ? "position" : ""},
                          {"effective-observations",
                           observations == 0 ? std::string() : fmt::format("{}", observations)},
                          {"nan", word_of(job.pairs.nans, job.pairs.min_observations)},
                          {"header", word_of(job.text.header)},
                          {"row-names", word_of(job.text.row_names)},
                          {"reading", reading_of(job)}}};
  for (auto& option : fingerprints_of(job)) key.options.push_back(std::move(option));
  if (job.is_differential()) key.options.emplace_back("groups", groups_option(job));
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

std::string word_of(keep_kind keep) {
  switch (keep) {
    case keep_kind::edges:
      return "edges";
    case keep_kind::folded_edges:
      return "folded-edges";
    case keep_kind::top_k:
      return "top-k";
    case keep_kind::counts:
      return "counts";
    case keep_kind::dense:
      return "dense";
  }
  return "";
}

pairs_command job_of(const job_key& key) {
  pairs_command job{.keep = keep_of(key), .format = format_of(key)};
  std::string_view statistic = key.option("statistic");
  if (statistic == io::tanimoto_info().name) {
    job.fingerprints.emplace();
  } else {
    if (statistic.starts_with(differential_word)) {
      statistic.remove_prefix(differential_word.size());
      job.groups = key.option("groups");
    }
    job.what = measure_of(statistic);
  }
  for (const tail side : {tail::two_sided, tail::greater, tail::less}) {
    if (key.option("tail") == word_of(side)) job.filter.side = side;
  }
  for (const adjustment how :
       {adjustment::none, adjustment::bonferroni, adjustment::benjamini_hochberg}) {
    if (key.option("adjust") == word_of(how)) job.filter.adjust = how;
  }
  const auto read = [&key](const char* option, double& value) {
    const std::string& text = key.option(option);
    (void)std::from_chars(text.data(), text.data() + text.size(), value);
  };
  read("min-abs", job.filter.min_abs);
  read("confidence", job.confidence);
  job.writes_n = !key.option("observations").empty();
  return job;
}

keep_kind keep_of(const job_key& key) {
  for (const keep_kind keep : {keep_kind::edges, keep_kind::folded_edges, keep_kind::top_k,
                               keep_kind::counts, keep_kind::dense}) {
    if (key.option("keep") == word_of(keep)) return keep;
  }
  throw parts_error(fmt::format("parts of --keep {} are not known", key.option("keep")));
}

io::result_format format_of(const job_key& key) {
  for (const io::result_format format :
       {io::result_format::tsv, io::result_format::csv, io::result_format::npy}) {
    if (key.option("format") == io::word_of(format)) return format;
  }
  throw parts_error(fmt::format("parts of --format {} are not known", key.option("format")));
}

}  // namespace gpu::cli
