#include "cli/options/help_texts.hpp"

#include <fmt/format.h>

#include <gpu/measure.hpp>

namespace gpu::cli {
namespace {

/// What a measure's test adds to the columns of a result.
std::string_view test_columns(significance test) {
  switch (test) {
    case significance::none:
      break;
    case significance::student_t:
    case significance::floored_t:
      return ", t, p";
    case significance::kendall:
    case significance::permutations:
      return ", p";
  }
  return "";
}

/// Of all verbs that compute pairs; `call` is the verb with what it needs.
std::string pair_text(std::string_view call, const measure_info& info) {
  const bool has_p = info.test != significance::none;
  const std::string statistic = fmt::format("{}{}", info.symbol, test_columns(info.test));
  const std::string columns = fmt::format("{}{}", statistic, has_p ? ", and q with --adjust" : "");
  const std::string cut = has_p ? "--max-p 0.05 --adjust bh" : "--min-abs 0.9";
  return fmt::format(
      "Columns of the result, after a header line:\n"
      "  edges         name_i, name_j, {0}\n"
      "  top-k         name_i, rank, name_j, {0}\n"
      "  counts        name, degree\n"
      "  dense         names, then each row after its name\n"
      "With --nan pairwise, --observations adds n after p: the columns that a pair shares;\n"
      "for dense, --observations-output FILE writes a matrix of them.\n\n"
      "Examples:\n"
      "  gpu-similarity {1} expression.tsv {2} -o edges.tsv\n"
      "  gpu-similarity {1} expression.csv.gz --keep top-k -k 5 -o partners.csv\n"
      "  gpu-similarity {1} samples.csv --transpose --keep dense -o matrix.npy\n"
      "  gpu-similarity {1} matrix.mtx.gz {2} -o edges.tsv\n"
      "  gpu-similarity {1} genes.tsv --against proteins.tsv --min-abs 0.8\n"
      "  gpu-similarity {1} expression.tsv {2} -o edges.tsv.gz --resume",
      columns, call, cut);
}

}  // namespace

std::string exit_codes_text() {
  return "Exit codes: 0 done, 1 parts --check: parts are missing, 2 wrong usage, 3 bad input, 4 "
         "memory, device or disk, 130 "
         "interrupted, 143 terminated, 141 nobody reads the result.";
}

std::string examples_text(std::string_view verb) {
  for (const measure what : all_measures()) {
    const measure_info& info = info_of(what);
    if (verb == info.name) return pair_text(info.name, info);
  }
  if (verb == "correlate")
    return pair_text("correlate --measure pearson", info_of(measure::pearson));
  for (const measure what : bit_measures()) {
    if (verb != to_string(what)) continue;
    return fmt::format(
        "Columns of the result, after a header line:\n"
        "  edges         name_i, name_j, {0}\n"
        "  top-k         name_i, rank, name_j, {0}\n"
        "  counts        name, degree\n"
        "  dense         names, then each row after its name\n\n"
        "Examples:\n"
        "  gpu-similarity {0} molecules.fps.gz --threshold 0.7 -o near.tsv\n"
        "  gpu-similarity {0} queries.fps --against molecules.fps --keep top-k -k 5\n"
        "  gpu-similarity {0} bits.npy -t 0.8 -o network.tsv\n"
        "  gpu-similarity {0} molecules.fps -t 0.6 -o near.tsv.gz --resume",
        verb);
  }
  if (verb == "rank") {
    return "The result has the header and the names of the input, and ranks instead of values.\n\n"
           "Examples:\n"
           "  gpu-similarity rank expression.tsv -o ranks.tsv\n"
           "  gpu-similarity rank scores.txt --order descending --ties min";
  }
  if (verb == "modules") {
    return "Columns of the result: name, and module from 1 on, the largest first. Every name of "
           "the "
           "table\nhas a module, also one of its own.\n\n"
           "Examples:\n"
           "  gpu-similarity modules edges.tsv -o modules.tsv\n"
           "  gpu-similarity modules edges.tsv.gz --min-abs 0.9";
  }
  if (verb == "top-k") {
    return "Columns of the result: name, rank, column, value, and count with --distinct; of a "
           "column of\nnumbers rank, position, value.\n\n"
           "Examples:\n"
           "  gpu-similarity top-k counts.txt -k 5\n"
           "  gpu-similarity top-k counts.txt -k 5 --distinct -o most.tsv";
  }
  if (verb == "mean-filter") {
    return "The result has the header and the names of the input, and means instead of values.\n\n"
           "Examples:\n"
           "  gpu-similarity mean-filter signal.txt --window 101 -o smooth.npy\n"
           "  gpu-similarity mean-filter signals.csv --window 5 --nan omit --boundary shrink";
  }
  if (verb == "differential") {
    return "Columns of the result, after a header line:\n"
           "  edges   name_i, name_j, the statistic of each group, z, p, and q with --adjust\n"
           "  top-k   name_i, rank, name_j, then the same\n"
           "  counts  name, degree\n\n"
           "Examples:\n"
           "  gpu-similarity differential expression.tsv --groups samples.tsv --adjust bh\n"
           "  gpu-similarity differential expression.tsv --groups samples.tsv --keep top-k -k 3\n"
           "  gpu-similarity differential small.csv --groups a,a,a,a,b,b,b,b,- --measure spearman\n"
           "  gpu-similarity differential expression.tsv --groups samples.tsv --part 3/8 "
           "--output-dir job\n"
           "  gpu-similarity differential expression.tsv --groups samples.tsv -o pairs.tsv.gz "
           "--resume";
  }
  if (verb == "soft-threshold") {
    return "Columns of the result:\n"
           "  fit           Power, SFT.R.sq, slope, truncated.R.sq, mean.k., median.k., max.k.\n"
           "  connectivity  name, then a column for each power\n"
           "\n"
           "Examples:\n"
           "  gpu-similarity soft-threshold expression.tsv --network signed -o fit.tsv\n"
           "  gpu-similarity soft-threshold expression.tsv --powers 6 --keep connectivity";
  }
  if (verb == "parts") {
    return "Examples:\n"
           "  gpu-similarity parts DIR\n"
           "  sbatch --array=$(gpu-similarity parts DIR --format slurm) job.sh\n"
           "  gpu-similarity parts DIR --clean";
  }
  if (verb == "merge") {
    return "Examples:\n"
           "  gpu-similarity merge DIR -o edges.tsv";
  }
  if (verb == "completion") {
    return "Examples:\n"
           "  source <(gpu-similarity completion bash)\n"
           "  gpu-similarity completion zsh > ~/.zfunc/_gpu-similarity";
  }
  return "";
}

}  // namespace gpu::cli
