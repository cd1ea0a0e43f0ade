// --p-method exact.
#include <algorithm>
#include <cmath>
#include <sstream>
#include <string>
#include <vector>

#include <gpu/p_value.hpp>

#include "cli/run_command.hpp"
#include "cli/small_tables.hpp"
#include "support/catch.hpp"

using namespace gpu_test;

namespace {

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

TEST_CASE("--p-method exact has p of permutations", "[cli]") {
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
  // merge takes q of text from p in full.
  const auto text = in.run(with(asked, {"--adjust", "bh"}), "q.tsv");
  CHECK(text.starts_with("name_i\tname_j\trho\tp\tq\n"));
  CHECK(in.run(with(asked, {"--adjust", "bh", "--resume", "--parts", "3"}), "q_parts.tsv") == text);
  // Of 12 columns the default is t, but never below 2 / 12!.
  const auto student_t = in.run({"spearman", "--max-p", "0.05", "--p-method", "t"}, "t.tsv");
  const auto by_default = in.run({"spearman", "--max-p", "0.05"}, "default.tsv");
  CHECK(std::count(student_t.begin(), student_t.end(), '\n') ==
        std::count(by_default.begin(), by_default.end(), '\n'));
  CHECK(by_default.find("\tinf\t0\n") == std::string::npos);
  CHECK(student_t.find("\tinf\t0\n") != std::string::npos);
  CHECK(by_default.find("\t4.17535e-09\n") != std::string::npos);
}

TEST_CASE("Few columns have p of permutations by default", "[cli]") {
  std::string table;
  unsigned state = 7;
  for (int i = 0; i < 60; ++i) {
    for (int k = 0; k < 6; ++k) {
      state = state * 1664525U + 1013904223U;
      table += std::to_string(i % 4 == 0 ? state >> 30U : state >> 8U) + " ";
    }
    table += '\n';
  }
  const files in(table);
  const std::string report = in.folder.path("report.json");
  const auto exact = in.run({"spearman", "--header", "no", "--p-method", "exact"}, "exact.tsv");
  CHECK(in.run({"spearman", "--header", "no", "--report", report}, "auto.tsv") == exact);
  CHECK(report_value(read_file(report), "test") == "\"permutations\"");
  CHECK(std::stod(report_value(read_file(report), "least_p")) == 2.0 / 720);
  const auto by_t = in.run({"spearman", "--header", "no", "--p-method", "t"}, "t.tsv");
  CHECK(by_t.starts_with("name_i\tname_j\trho\tt\tp\n"));
  CHECK(by_t != exact);
}

TEST_CASE("A cut on p of few columns has a note", "[cli]") {
  const files in("1 2 3 4 5\n2 1 4 3 5\n5 4 3 2 1\n1 1 2 2 3\n");
  const auto said = [&](const std::vector<std::string>& more) {
    return run_command(with({"spearman", in.input, "--header", "no"}, more)).err;
  };
  const std::string note = "5 observations: no p of ranks is below 2 / 5! = 0.0167";
  CHECK(said({"--max-p", "0.05"}).find(note + "\n") != std::string::npos);
  CHECK(said({"--max-p", "0.05", "--adjust", "bonferroni"})
            .find(note + ", so none passes the cut p <= 0.00833") != std::string::npos);
  CHECK(said({"--max-p", "0.05"}).find("3 pairs have p by permutations") != std::string::npos);
  CHECK(said({"--min-abs", "0.5"}).find("note") == std::string::npos);
  CHECK(said({"--max-p", "0.05", "--p-method", "t"}).find("note") == std::string::npos);
  CHECK(said({"--max-p", "0.05", "-q"}).empty());
}

TEST_CASE("--p-method exact is refused where there is none", "[cli]") {
  const files in(numbers());
  const auto refused = [&](const words& line, const std::string& part) {
    check_refused(run_command(with(line, {in.input, "--p-method", "exact"})), exit_usage, part);
  };
  refused({"pearson"}, "--p-method: exact is not offered for Pearson");
  refused({"spearman", "--nan", "pairwise"}, "--p-method exact");
}
