#pragma once
// The command line as data.

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <gpu/connectivity.hpp>
#include <gpu/differential.hpp>
#include <gpu/max_t.hpp>
#include <gpu/mean_filter.hpp>
#include <gpu/measure.hpp>
#include <gpu/pair_options.hpp>
#include <gpu/pair_sinks.hpp>
#include <gpu/rank.hpp>
#include <gpu/top_k.hpp>

#include "io/output_form.hpp"
#include "io/read/fingerprints/fingerprints.hpp"
#include "io/read/read_table.hpp"

namespace gpu::cli {

enum class keep_kind { edges, top_k, counts, dense };

/// What --adjust says: an adjustment of the library, or its max_t.
enum class correction { none, bonferroni, benjamini_hochberg, max_t };

/// Which columns of two tables are the same observations, where both name theirs.
enum class column_match { name, position };

/// What all commands that compute have in common: what they read and write.
struct job_files {
  std::string input = {};
  std::string output = {};                            // empty: standard output
  io::result_format format = io::result_format::tsv;  // as --format or the suffixes say
  std::string report = {};                            // empty: none
  std::vector<std::string> command_line = {};
  io::text_options text = {};  // how a table of text is laid out
  bool transposes = false;     // the columns of the file are the rows
  std::uint64_t max_input_bytes = io::read_options::default_max_bytes;  // of gzip, unpacked
  std::uint64_t max_output_bytes = 10'000'000'000;
  bool quiet = false;
  bool force = false;
  bool no_clobber = false;  // no file that is there is replaced
};

/// `gpu-similarity spearman`, `pearson` and the other measures, and `differential`. An
/// empty output is standard output, of counts a summary alone.
struct pairs_command : job_files {
  measure what = measure::spearman;
  /// Of measures of rows of bits: how they are read.
  std::optional<io::fingerprint_options> fingerprints = {};
  /// Of differential: the labels of the columns, or a file of them, and `filter.min_abs` is the
  /// least |z|. Empty: another job.
  std::string groups = {};
  std::string against = {};                 // the second table; empty: the pairs of one
  std::string covariates = {};              // the table of covariates; empty: none
  std::string weights = {};                 // the weights of the columns; empty: none
  column_match match = column_match::name;  // of INPUT with these three
  pair_filter filter = {};                  // its adjustment follows from `correct`
  correction correct = correction::none;
  max_t_options max_t = {};  // its tail is that of the filter
  double keep_fraction = 0;  // the share of all tested pairs that is kept; 0: as the cuts say
  int digits = 0;            // of numbers in text; 0: the statistic in full, six of others
  keep_kind keep = keep_kind::edges;
  index_t k = 10;
  neighbor_order order = neighbor_order::by_absolute_value;  // of top-k
  bool writes_n = false;          // a column n of pairs, with missing values pair by pair
  double confidence = 0;          // of the intervals of pairs; 0: none
  std::string observations = {};  // of dense results: where n of the pairs goes; empty: nowhere
  pair_options pairs = {};
  bool plan_only = false;
  std::string part_folder = {};  // of --part and --resume; empty: no part, or beside the output
  bool is_part = false;          // --part; which one is in `pairs`
  bool resumes = false;
  index_t parts = 0;  // of --resume and --plan; 0: as many as seem good

  [[nodiscard]] bool has_column_tables() const { return !covariates.empty() || !weights.empty(); }
  [[nodiscard]] bool is_pairwise() const { return pairs.nans == nan_policy::pairwise; }
  /// The files that are read, by argument and option; empty where there is none.
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> inputs() const {
    return {{"INPUT", input},
            {"--groups", groups},
            {"--against", against},
            {"--covariates", covariates},
            {"--weights", weights}};
  }
  [[nodiscard]] bool is_differential() const { return !groups.empty(); }
  [[nodiscard]] const measure_info& info() const { return info_of(what); }
  /// Whether the result has q. That of Benjamini and Hochberg needs all pairs that its cut keeps,
  /// which edges are only where no other cut leaves some out.
  [[nodiscard]] bool writes_q() const {
    const bool is_max_t = correct == correction::max_t;
    if (filter.adjust == adjustment::none && !is_max_t) return false;
    if (keep == keep_kind::top_k)
      return !is_differential() || filter.adjust == adjustment::bonferroni;
    if (keep != keep_kind::edges) return false;
    return is_max_t || filter.adjust == adjustment::bonferroni || filter.min_abs == 0;
  }
  [[nodiscard]] bool has_no_cut() const {
    return keep == keep_kind::edges && filter.max_p >= 1 && filter.min_abs == 0 &&
           keep_fraction == 0 && correct != correction::max_t;
  }
};

[[nodiscard]] inline differential_filter differential_filter_of(const pair_filter& filter) {
  return {.max_p = filter.max_p,
          .min_abs_z = filter.min_abs,
          .side = filter.side,
          .adjust = filter.adjust};
}

inline constexpr index_t most_parts = 10'000'000;

enum class parts_format { text, slurm, json };
struct parts_command {
  std::string folder = {};
  parts_format format = parts_format::text;
  bool is_quick = false;
  bool checks = false;  // the exit code says whether all are there
  bool cleans = false;  // removes the parts
};

struct merge_command : job_files {
  std::string folder = {};
};

struct mean_filter_command : job_files {
  mean_filter_options filter = {};
};

struct rank_command : job_files {
  rank_options rank = {};
};

struct top_k_command : job_files {
  index_t k = 10;
  bool is_distinct = false;
  top_k_options top = {};
};

enum class soft_result { fit, connectivity };
struct soft_threshold_command : job_files {
  measure what = measure::pearson;
  soft_result keep = soft_result::fit;
  connectivity_sink network = {};  // the powers, and what becomes of a statistic
  scale_free_options fit = {};
  pair_options pairs = {};
};

struct modules_command : job_files {
  double min_abs = 0;
};

struct info_command {};

enum class page_kind { bash, zsh, manual };
struct page_command {
  page_kind what = page_kind::manual;
};

using command = std::variant<pairs_command, mean_filter_command, rank_command, top_k_command,
                             soft_threshold_command, parts_command, merge_command, modules_command,
                             info_command, page_command>;

/// What parsing gives: a command, or the exit code where the parser already said everything
/// (help, version, a wrong command line).
using parsed_command = std::variant<command, int>;

[[nodiscard]] parsed_command parse_command_line(int argc, char** argv);

/// A page about all options that there are.
[[nodiscard]] std::string page_text(page_kind kind);

}  // namespace gpu::cli
