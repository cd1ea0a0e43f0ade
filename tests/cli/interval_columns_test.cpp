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

TEST_CASE("Intervals stand behind p", "[cli][confidence]") {
  const files in(numbers());
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
      const auto fields = split(line, '\t');
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
      INFO(measure << " " << more.back());
      check_lines(in.run(with({measure, "--confidence", "0.95"}, more), "whole.tsv"),
                  std::string(is_top_k ? "name_i\trank\tname_j\t" : "name_i\tname_j\t") + head +
                      "\tt\tp\tlower\tupper" + (has_q ? "\tq" : ""),
                  is_top_k ? 3 : 2, measure == "pearson");
    }
  }
}

TEST_CASE("Records have the bounds of the text", "[cli][confidence]") {
  const files in(numbers());
  const auto npy = in.run({"spearman", "--max-p", "0.2", "--confidence", "0.9"}, "a.npy");
  CHECK(npy.find("('p', '<f8'), ('lower', '<f8'), ('upper', '<f8')") != std::string::npos);
  std::size_t wrong = 0;
  std::size_t edges = 0;
  for (std::size_t at = npy.find('\n') + 1; at < npy.size(); at += 40, ++edges) {
    double r = 0;
    double bounds[2];
    std::memcpy(&r, npy.data() + at + 8, sizeof(r));
    std::memcpy(bounds, npy.data() + at + 24, sizeof(bounds));
    const double half = 1.6448536269514722 * std::sqrt((1 + r * r / 2) / 9);
    wrong += std::abs(std::tanh(std::atanh(r) - half) - bounds[0]) > 1e-12 ? 1U : 0U;
    wrong += std::abs(std::tanh(std::atanh(r) + half) - bounds[1]) > 1e-12 ? 1U : 0U;
  }
  CHECK(wrong == 0);
  CHECK(edges > 10);
}

TEST_CASE("Intervals are refused where they have no place", "[cli][confidence]") {
  const files in(numbers());
  const auto refused = [&](const words& line, const std::string& part) {
    check_refused(run_command(with(line, {in.input, "--confidence", "0.95"})), exit_usage, part);
  };
  refused({"cosine"}, "--confidence: cosine has no confidence interval");
  refused({"spearman", "--keep", "counts"}, "--confidence does not go with --keep counts");
  refused({"spearman", "--keep", "dense"}, "--confidence does not go with --keep dense");
  for (const std::string level : {"0", "1", "95", "nan"}) {
    check_refused(run_command({"spearman", in.input, "--confidence", level}), exit_usage,
                  "a number above 0 and below 1");
  }
}
