#include "cli/parts/manifest/job_key.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string_view>

#include <gpu/measure.hpp>
#include <gpu/version.hpp>

#include "cli/options/option_groups.hpp"
#include "io/io_error.hpp"
#include "io/read/file_stream.hpp"
#include "io/read/sparse/names_beside.hpp"

namespace gpu::cli {
namespace {

/// What the statistic of a differential job begins with, in front of the measure.
constexpr std::string_view differential_word = "differential ";

/// The options of the verb of `job`, whose values are those of `job`.
verb options_of(pairs_command& job) {
  verb v{};
  if (job.fingerprints) {
    add_bit_options(v, job);
  } else if (job.is_differential()) {
    add_differential(v, job);
  } else {
    add_pair_options(v, job);
  }
  return v;
}

/// Without dashes.
std::string name_of(const option& each) {
  return each.names.back().substr(each.names.back().find_first_not_of('-'));
}

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
  key.options.emplace_back("covariates", option_of("--covariates", job.covariates));
  key.options.emplace_back("weights", option_of("--weights", job.weights));
  pairs_command same = job;
  for (const option& each : options_of(same).options) {
    if (each.decides != option::effect::other) {
      key.options.emplace_back(name_of(each), each.value_text());
    }
  }
  if (job.is_differential()) key.options.emplace_back("groups", groups_option(job));
  return key;
}

void expect_same_input(const job_key& key, const pairs_command& job, const input_tables& tables) {
  const auto expect = [](const std::string& file, const std::string& read,
                         const std::string& expected) {
    if (read == expected) return;
    throw parts_error(fmt::format("{}: was changed while this job ran: read {}, expected {}",
                                  io::visible(file), read, expected));
  };
  const auto of_option = [](const std::optional<io::file_digest>& read) {
    return read ? text_of(*read) : std::string();
  };
  expect(job.input, text_of(tables.x_digest), text_of(key.input));
  if (job.is_differential()) expect(job.groups, groups_option(job), key.option("groups"));
  if (key.against) expect(job.against, text_of(tables.y_digest), text_of(key.against));
  expect(job.covariates, of_option(tables.covariates_digest), key.option("covariates"));
  expect(job.weights, of_option(tables.weights_digest), key.option("weights"));
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
  if (!statistic.empty()) {
    if (statistic.starts_with(differential_word)) {
      statistic.remove_prefix(differential_word.size());
      job.groups = key.option("groups");
    }
    const auto take = [&](std::span<const measure> known) {
      const auto found =
          std::ranges::find(known, statistic, [](measure m) { return to_string(m); });
      if (found != known.end()) job.what = *found;
      return found != known.end();
    };
    if (take(bit_measures())) {
      job.fingerprints.emplace();
    } else if (!take(all_measures())) {
      throw parts_error(fmt::format("parts of {} are not known", statistic));
    }
  }
  for (const option& each : options_of(job).options) {
    if (each.decides != option::effect::result) continue;
    const std::string& text = key.option(name_of(each));
    if (!each.take(text)) {
      throw parts_error(fmt::format("parts of --{} {} are not known", name_of(each), text));
    }
  }
  settle_adjustment(job);
  return job;
}

}  // namespace gpu::cli
