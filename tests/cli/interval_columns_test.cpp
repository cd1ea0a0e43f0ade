// Confidence intervals behind the p of a pair.
#include <cmath>
#include <cstddef>
#include <cstring>
#include <sstream>
#include <string>
#include <vector>

#include "cli/run_command.hpp"
#include "cli/small_tables.hpp"
#include "support/catch.hpp"

using namespace gpu_test;

TEST_CASE("Intervals stand behind p, in one run and in parts", "[cli][parts][confidence]") {
  const files in(numbers());
  const auto fields_of = [](const std::string& line) {
    std::vector<std::string> fields;
    std::istringstream text(line);
    for (std::string field; std::getline(text, field, '\t');) fields.push_back(field);
    return fields;
  };
  // Of 12 columns: the statistic is field `at`, and t and p are between it and the bounds.
  const auto check_lines = [&](const std::string& text, const std::string& header, std::size_t at,
                               bool is_pearson) {
    std::istringstream lines(text);
    std::string line;
    std::getline(lines, line);
    CHECK(line == header);
    std::size_t wrong = 0;
    std::size_t count = 0;
    for (; std::getline(lines, line); ++count) {
      const auto fields = fields_of(line);
      REQUIRE(fields.size() > at + 4);
      const double r = std::stod(fields[at]);
      const double half = 1.959963984540054 * std::sqrt((is_pearson ? 1 : 1 + r * r / 2) / 9);
      const double lower = std::abs(r) == 1 ? r : std::tanh(std::atanh(r) - half);
      const double upper = std::abs(r) == 1 ? r : std::tanh(std::atanh(r) + half);
      wrong += std::abs(std::stod(fields[at + 3]) - lower) > 1e-5 ? 1U : 0U;
      wrong += std::abs(std::stod(fields[at + 4]) - upper) > 1e-5 ? 1U : 0U;
    }
    CHECK(wrong == 0);
    CHECK(count > 10);
  };
  for (const std::string measure : {"spearman", "pearson"}) {
    const std::string head = measure == "spearman" ? "rho" : "r";
    for (const std::vector<std::string>& more :
         {std::vector<std::string>{"--max-p", "0.2"},
          {"--max-p", "0.3", "--adjust", "bh"},
          {"--keep", "top-k", "-k", "3"},
          {"--keep", "top-k", "-k", "3", "--max-p", "0.5", "--adjust", "bonferroni"}}) {
      const bool is_top_k = more[1] == "top-k";
      const bool has_q = more.size() > 4 || more.back() == "bh";
      std::vector<std::string> job{measure, "--confidence", "0.95"};
      job.insert(job.end(), more.begin(), more.end());
      INFO(measure << " " << more.back());
      for (const std::string suffix : {"tsv", "csv", "npy"}) {
        const auto whole = in.run(job, "whole." + suffix);
        auto parts = job;
        parts.insert(parts.end(), {"--resume", "--parts", "3"});
        CHECK(in.run(parts, "parts." + suffix) == whole);
        if (suffix != "tsv") continue;
        check_lines(whole,
                    std::string(is_top_k ? "name_i\trank\tname_j\t" : "name_i\tname_j\t") + head +
                        "\tt\tp\tlower\tupper" + (has_q ? "\tq" : ""),
                    is_top_k ? 3 : 2, measure == "pearson");
      }
    }
  }
}

TEST_CASE("Records have the bounds of the text", "[cli][confidence]") {
  const files in(numbers());
  const auto values_of = [](const std::string& npy, std::size_t record_bytes,
                            const std::vector<std::size_t>& places) {
    const std::size_t begin = npy.find('\n') + 1;
    std::vector<double> out;
    for (std::size_t at = begin; at < npy.size(); at += record_bytes) {
      for (const std::size_t place : places) {
        double value = 0;
        std::memcpy(&value, npy.data() + at + place, sizeof(value));
        out.push_back(value);
      }
    }
    return out;
  };
  const std::vector<std::string> cut{"--max-p", "0.2", "--confidence", "0.9"};
  const auto with_cut = [&](std::vector<std::string> words) {
    words.insert(words.end(), cut.begin(), cut.end());
    return words;
  };
  const auto npy = in.run(with_cut({"spearman"}), "a.npy");
  CHECK(npy.find("('p', '<f8'), ('lower', '<f8'), ('upper', '<f8')") != std::string::npos);
  const auto values = values_of(npy, 40, {8, 24, 32});
  REQUIRE(values.size() > 30);
  std::size_t wrong = 0;
  for (std::size_t e = 0; e < values.size(); e += 3) {
    const double r = values[e];
    const double half = 1.6448536269514722 * std::sqrt((1 + r * r / 2) / 9);
    wrong += std::abs(std::tanh(std::atanh(r) - half) - values[e + 1]) > 1e-12 ? 1U : 0U;
    wrong += std::abs(std::tanh(std::atanh(r) + half) - values[e + 2]) > 1e-12 ? 1U : 0U;
  }
  CHECK(wrong == 0);
}

TEST_CASE("Intervals are refused where they have no place", "[cli][confidence]") {
  const files in(numbers());
  const auto refused = [&](const std::vector<std::string>& words, const std::string& part) {
    auto all = words;
    all.insert(all.begin() + 1, {in.input, "--confidence", "0.95", "-q"});
    const auto got = run_command(all);
    INFO(got.err);
    CHECK(got.exit_code == exit_usage);
    CHECK(got.err.find(part) != std::string::npos);
  };
  refused({"cosine"}, "--confidence: cosine has no confidence interval");
  refused({"spearman", "--keep", "counts"}, "--confidence does not go with --keep counts");
  refused({"spearman", "--keep", "dense"}, "--confidence does not go with --keep dense");
  refused({"spearman", "--format", "mtx"}, "--confidence does not go with --format mtx");
  for (const std::string level : {"0", "1", "95", "nan"}) {
    const auto got = run_command({"spearman", in.input, "--confidence", level});
    CHECK(got.exit_code == exit_usage);
    CHECK(got.err.find("a number above 0 and below 1") != std::string::npos);
  }
}
