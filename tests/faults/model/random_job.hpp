#pragma once
// A job over all pairs with drawn options, and the ways in which its parts may be computed.

#include <algorithm>
#include <string>
#include <vector>

#include "faults/model/random_source.hpp"
#include "faults/model/random_table.hpp"

namespace gpu_test {

using words = std::vector<std::string>;

inline words joined(words first, const words& more) {
  first.insert(first.end(), more.begin(), more.end());
  return first;
}

/// What is asked. Every way to compute it gives the same bytes, but for results that the
/// documentation promises to rounding only.
struct random_job {
  std::string measure = "spearman";
  std::string keep = "edges";
  std::string format = "tsv";
  words options = {};  ///< But for the input and for where the result goes.
  bool is_large = false;
  bool has_columns = false;  ///< Covariates or weights of columns: then rows are values.
  bool is_pairwise = false;  ///< Missing values cost a pair its columns, not a row its statistic.

  [[nodiscard]] bool is_differential() const { return measure == "differential"; }
  [[nodiscard]] bool is_tanimoto() const { return measure == "tanimoto"; }
  [[nodiscard]] bool is_of_ranks() const { return measure == "spearman" && !has_columns; }
  [[nodiscard]] bool has_test() const { return measure != "cosine" && !is_tanimoto(); }
  /// Whether backends and variants write the same bytes, not only statistics that agree.
  [[nodiscard]] bool is_exact() const {
    return is_of_ranks() || measure == "kendall" || is_differential() || is_tanimoto() ||
           (keep != "dense" && keep != "top-k");
  }
  /// Whether parts may be adjusted: q of Kendall's is not added to text.
  [[nodiscard]] bool may_be_adjusted() const {
    return has_test() && (measure != "kendall" || format == "npy" || keep == "counts");
  }
  /// Whether covariates or weights go with the job.
  [[nodiscard]] bool may_have_columns() const {
    return !is_pairwise && measure != "bicor" && !is_differential() && !is_tanimoto();
  }
  /// Whether missing values may be left out pair by pair, which goes neither with rows that
  /// are weighted as a whole nor, in parts, with a cut that depends on all pairs.
  [[nodiscard]] bool may_be_pairwise() const {
    return !is_differential() &&
           std::find(options.begin(), options.end(), "--adjust") == options.end();
  }
};

inline random_job draw_job(random_source& random, int rows, bool is_large) {
  random_job out{.is_large = is_large};
  if (!is_large) {
    out.measure = random.one_of(words{"spearman", "spearman", "spearman", "pearson", "cosine",
                                      "bicor", "kendall", "differential", "tanimoto"});
  }
  words kinds{"edges", "edges", "counts", "top-k"};
  if (!is_large && !out.is_differential()) kinds = joined(kinds, {"dense", "dense"});
  out.keep = random.one_of(kinds);
  out.format =
      random.one_of(out.is_differential() ? words{"tsv", "csv"} : words{"tsv", "npy", "csv"});
  out.options = {"--keep", out.keep, "--format", out.format};
  const auto add = [&](const words& more) { out.options = joined(out.options, more); };
  if (out.keep == "top-k") {
    add({"-k", std::to_string(is_large ? random.between(1, 3) : random.between(1, rows + 2))});
    const bool has_order = !out.is_differential() && !out.is_tanimoto();
    if (has_order && random.happens(0.4)) add({"--order", "by-value"});
  }
  if (out.is_tanimoto()) {
    add({"--input-format", "table"});
    if (out.keep != "dense") add({"--threshold", random.one_of(words{"0", "0.3", "0.5", "1"})});
  }
  if (out.keep == "dense" || out.is_tanimoto()) return out;
  const words loose{"1", "0.5", "0.05", "0.05", "0.01", "1e-4", "1e-12"};
  const words strict{"1e-3", "1e-5", "1e-12"};
  if (out.has_test()) add({"--max-p", random.one_of(is_large ? strict : loose)});
  if (random.happens(out.has_test() ? 0.2 : 0.7))
    add({out.is_differential() ? "--min-abs-z" : "--min-abs",
         random.one_of(words{"0.3", "0.5", "1"})});
  if (out.is_differential() && random.happens(0.4)) add({"--measure", "spearman"});
  if (random.happens(0.35)) add({"--tail", random.one_of(words{"less", "greater"})});
  if (out.may_be_adjusted() && random.happens(0.4))
    add({"--adjust", random.one_of(words{"bh", "bh", "bonferroni"})});
  // What does not go with the rest is refused, by every part alike.
  const bool has_columns_behind_p = out.keep != "counts" && out.has_test();
  if (has_columns_behind_p && !out.is_differential() && random.happens(0.15))
    add({"--confidence", random.one_of(words{"0.9", "0.95"})});
  if (out.measure == "spearman" && random.happens(0.15))
    add({"--p-method", random.one_of(words{"exact", "t"})});
  return out;
}

/// A label of each column: two groups, and some columns in neither.
inline words draw_groups(random_source& random, int cols) {
  words out;
  for (int k = 0; k < cols; ++k) {
    out.push_back(random.one_of(words{"case", "case", "control", "control", "-"}));
  }
  return out;
}

/// Numbers as a table of text, of which a weight may be 0.
inline std::string draw_numbers(random_source& random, int rows, int cols, bool are_weights) {
  std::string out;
  for (int i = 0; i < rows; ++i) {
    for (int k = 0; k < cols; ++k) {
      const bool is_zero = are_weights && random.happens(0.1);
      out += (k > 0 ? "\t" : "") + std::to_string(is_zero ? 0.0 : random.unit() + 0.01);
    }
    out += '\n';
  }
  return out;
}

/// How one part is computed; no result depends on it. Draws as often whatever the job and the
/// machine are.
inline words draw_way(random_source& random, const random_job& job, bool may_use_cuda) {
  const bool wants_cuda = random.happens(0.5);
  const bool names_variant = random.happens(0.4);
  const bool is_tiled = random.happens(0.5);
  const bool names_fold = random.happens(0.6);
  const bool is_always = random.happens(0.5) && job.is_of_ranks() && !job.is_pairwise;
  const bool on_cuda = wants_cuda && may_use_cuda && job.is_exact();
  words out{"--backend", on_cuda ? "cuda" : "cpu", "--threads",
            std::to_string(random.between(1, 3))};
  if (job.is_differential() || job.is_tanimoto()) return out;  // they have neither option
  if (names_variant && job.is_exact()) {
    // The naive variant on CUDA has no ranks to fold by, and that of the CPU takes its time.
    const std::string on_host = is_tiled || job.is_large ? "tiled" : "naive";
    out = joined(out, {"--variant", on_cuda ? "shared_tiled" : on_host});
  }
  if (names_fold) out = joined(out, {"--fold", is_always ? "always" : "never"});
  return out;
}

}  // namespace gpu_test
