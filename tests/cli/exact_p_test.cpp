// --p-method exact.
#include <cmath>
#include <sstream>
#include <string>
#include <vector>

#include <gpu/p_value.hpp>

#include "cli/run_command.hpp"
#include "cli/small_tables.hpp"
#include "support/catch.hpp"

namespace {

using gpu_test::files;
using gpu_test::numbers;
using gpu_test::read_file;
using gpu_test::report_value;
using gpu_test::run_command;

// As numbers(), but with fractions that tell equal numbers of two rows of three apart.
std::string mostly_without_ties() {
  std::istringstream lines(numbers());
  std::string out;
  std::string line;
  for (int i = 0; std::getline(lines, line); ++i) {
    std::istringstream fields(line);
    std::string field;
    for (int j = 0; fields >> field; ++j) {
      out += field + (i % 3 == 0 ? "" : "." + std::to_string(10 + j)) + " ";
    }
    out += '\n';
  }
  return out;
}

}  // namespace

TEST_CASE("--p-method exact has p of permutations, in one run and in parts", "[cli][parts]") {
  const files in(mostly_without_ties());
  const std::vector<std::string> asked{"spearman", "--max-p", "0.05", "--p-method", "exact"};
  auto told = asked;
  told.insert(told.end(), {"--report", in.folder.path("report.json")});
  const auto whole = in.run(told, "whole.tsv");
  CHECK(report_value(read_file(in.folder.path("report.json")), "pairs_by_t") != "0");
  std::istringstream lines(whole);
  std::string line;
  std::getline(lines, line);
  CHECK(line == "name_i\tname_j\trho\tp");
  int by_permutations = 0;
  int by_t = 0;
  while (std::getline(lines, line)) {
    const auto at = line.rfind('\t');
    const double p = std::stod(line.substr(at + 1));
    const double rho = std::stod(line.substr(line.rfind('\t', at - 1) + 1));
    by_permutations += std::abs(p / gpu::spearman_p_value(rho, 12) - 1) < 1e-5 ? 1 : 0;
    by_t += std::abs(p / gpu::correlation_p_value(rho, 12) - 1) < 1e-5 ? 1 : 0;
    CHECK(p <= 0.05);
  }
  CHECK(by_permutations > 20);
  CHECK(by_t > 20);
  auto parts = asked;
  parts.insert(parts.end(), {"--resume", "--parts", "3"});
  CHECK(in.run(parts, "parts.tsv") == whole);
  auto adjusted = asked;
  adjusted.insert(adjusted.end(), {"--adjust", "bh"});
  const auto discoveries = in.run(adjusted, "whole.npy");
  adjusted.insert(adjusted.end(), {"--resume", "--parts", "3"});
  CHECK(in.run(adjusted, "parts.npy") == discoveries);
  CHECK(in.run({"spearman", "--max-p", "0.05", "--p-method", "t"}, "t.tsv") ==
        in.run({"spearman", "--max-p", "0.05"}, "default.tsv"));
}

TEST_CASE("--p-method exact is refused where there is none", "[cli]") {
  const files in(numbers());
  const auto refused = [&](const std::vector<std::string>& words) {
    std::vector<std::string> all{words.front(), in.input, "--p-method", "exact", "-q"};
    all.insert(all.end(), words.begin() + 1, words.end());
    const auto result = run_command(all);
    CHECK(result.exit_code != 0);
    return result.err;
  };
  CHECK(refused({"pearson"}).find("--p-method: exact is not offered for Pearson") !=
        std::string::npos);
  CHECK(refused({"spearman", "--nan", "pairwise"}).find("--p-method exact") != std::string::npos);
  CHECK(refused({"spearman", "--adjust", "bh", "--resume", "--parts", "2", "-o",
                 in.folder.path("out.tsv"), "--max-p", "0.1"})
            .find("--format npy") != std::string::npos);
}
