// q behind the p of a pair: adjusted cuts of edges and partners, and --adjust max-t.
#include <algorithm>
#include <cstddef>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "cli/run_command.hpp"
#include "cli/small_tables.hpp"
#include "support/catch.hpp"

using namespace gpu_test;

TEST_CASE("Edges of an adjusted cut have q", "[cli][adjusted]") {
  const files in(numbers());
  for (const std::string how : {"bonferroni", "bh"}) {
    INFO(how);
    auto lines = fields_of(in.run({"spearman", "--max-p", "0.2", "--adjust", how}, "whole.tsv"));
    CHECK(lines.size() > 11);
    CHECK(lines.front() == words{"name_i", "name_j", "rho", "t", "p", "q"});
    lines.erase(lines.begin());
    for (const words& fields : lines) {
      const double p = std::stod(fields.at(4));
      const double q = std::stod(fields.at(5));
      CHECK(q <= 0.2);
      CHECK(q >= p);
      if (how == "bonferroni") CHECK(q == Approx(p * 60 * 59 / 2).epsilon(1e-5));
    }
  }
  // Not exact there, so that there is none.
  const auto text =
      in.run({"spearman", "--max-p", "0.2", "--adjust", "bh", "--min-abs", "0.1"}, "x");
  CHECK(text.substr(0, text.find('\n')) == "name_i\tname_j\trho\tt\tp");
}

TEST_CASE("--adjust max-t keeps what its q says, and its cut is a number for parts",
          "[cli][max_t]") {
  const files in(numbers());
  const auto q_of = [](const std::string& text) {
    std::istringstream lines(text);
    std::string line;
    std::getline(lines, line);
    CHECK(line.substr(line.size() - 2) == "\tq");
    std::vector<double> q;
    while (std::getline(lines, line)) q.push_back(std::stod(line.substr(line.rfind('\t') + 1)));
    return q;
  };
  for (const std::string measure : {"spearman", "cosine"}) {
    INFO(measure);
    const std::vector<std::string> cut{measure, "--adjust", "max-t", "--permutations",
                                       "99",    "--seed",   "3"};
    const auto with = [&](std::vector<std::string> more) {
      more.insert(more.begin(), cut.begin(), cut.end());
      return more;
    };
    const auto all = q_of(in.run(with({}), "all.tsv"));
    CHECK(all.size() == 60 * 59 / 2);
    const auto some = q_of(in.run(with({"--max-p", "0.2"}), "some.tsv"));
    CHECK(static_cast<std::size_t>(std::count_if(
              all.begin(), all.end(), [](double q) { return q <= 0.2; })) == some.size());
    CHECK(some.size() > 5);
    CHECK(*std::min_element(all.begin(), all.end()) >= 0.01);
    const auto partners =
        q_of(in.run(with({"--max-p", "0.2", "--keep", "top-k", "-k", "2"}), "best.tsv"));
    CHECK(*std::max_element(partners.begin(), partners.end()) <= 0.2);
    // The same seed gives the same bytes, another one others.
    CHECK(in.run(with({"--max-p", "0.2", "--threads", "1"}), "again.tsv") ==
          read_file(in.folder.path("some.tsv")));
    // The report has the cut as a number, with which parts keep the same pairs.
    const std::string report = in.folder.path("report.json");
    (void)in.run(with({"--max-p", "0.2", "--keep", "counts", "--report", report}), "counts.tsv");
    const std::string json = read_file(report);
    CHECK(json.find("\"permutations\": {\"number\": 99, \"seed\": 3, \"shuffle\": "
                    "\"permutation\", ") != std::string::npos);
    const std::string least = report_value(json, "min_abs_effective");
    std::istringstream parts(
        in.run({measure, "--min-abs", least, "--resume", "--parts", "3"}, "parts.tsv"));
    std::size_t lines = 0;
    for (std::string line; std::getline(parts, line);) ++lines;
    CHECK(lines == some.size() + 1);
  }
  const auto refused = [&](const words& more, const std::string& part) {
    check_refused(run_command(with({"spearman", in.input}, more)), exit_usage, part);
  };
  refused({"--permutations", "5"}, "--permutations needs --adjust max-t");
  refused({"--shuffle", "circular"}, "--shuffle needs --adjust max-t");
  refused({"--seed", "5", "--adjust", "bh"}, "--seed needs --adjust max-t");
  refused({"--adjust", "max-t", "--max-p", "0.0005"}, "expected at least 0.000999");
  refused({"--adjust", "max-t", "--permutations", "0"}, "a whole number from 1 to 1000000");
  refused({"--adjust", "max-t", "--plan"}, "--plan");
  refused({"--adjust", "max-t", "--nan", "pairwise"}, "--nan: pairwise");
  refused({"--adjust", "max-t", "--covariates", in.input}, "--covariates");
  refused({"--adjust", "max-t", "--part", "1/3", "--output-dir", in.folder.path("p")},
          "give the min_abs_effective");
}

TEST_CASE("Partners of an adjusted cut have the q of the edges", "[cli][adjusted]") {
  const files in(numbers());
  // Each line but the first: names of the pair in either order, and q.
  const auto q_of = [](const std::string& text, std::size_t second) {
    std::map<std::pair<std::string, std::string>, std::string> out;
    auto lines = fields_of(text);
    lines.erase(lines.begin());
    for (const words& fields : lines) {
      const std::string& i = fields.front();
      const std::string& j = fields.at(second);
      out[{std::min(i, j), std::max(i, j)}] = fields.back();
    }
    return out;
  };
  for (const std::string how : {"bonferroni", "bh"}) {
    for (const std::string side : {"two-sided", "greater"}) {
      INFO(how << " " << side);
      const std::vector<std::string> cut{"spearman", "--max-p", "0.3", "--adjust",
                                         how,        "--tail",  side};
      const auto edges = q_of(in.run(cut, "edges.tsv"), 1);
      auto best = cut;
      best.insert(best.end(), {"--keep", "top-k", "-k", "2", "--min-abs", "0.3"});
      const auto text = in.run(best, "best.tsv");
      CHECK(text.substr(0, text.find('\n')) == "name_i\trank\tname_j\trho\tt\tp\tq");
      const auto partners = q_of(text, 2);
      CHECK(partners.size() > 5);
      CHECK(partners.size() < edges.size());
      std::size_t wrong = 0;
      for (const auto& [pair, q] : partners) {
        const auto found = edges.find(pair);
        wrong += found == edges.end() || found->second != q ? 1U : 0U;
      }
      CHECK(wrong == 0);
    }
  }
  // More p than the memory limit has room for: the error says how many.
  std::string table;
  for (int i = 0; i < 600; ++i) {
    for (int j = 0; j < 8; ++j)
      table += std::to_string((i * 131 + j * j * 57 + i * j) % 211) + "\t";
    table.back() = '\n';
  }
  const std::string input = in.folder.write("large.tsv", table);
  const auto refused =
      run_command({"spearman", input, "--keep", "top-k", "-k", "2", "--adjust", "bh", "--threads",
                   "1", "--memory-limit", "1M", "-q", "-o", in.folder.path("none.tsv")});
  check_refused(refused, exit_resources, "p of all 179700 pairs that pass --max-p");
  check_refused(refused, exit_resources, "--memory-limit is 1000000");
}
