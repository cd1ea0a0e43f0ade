// Columns behind those of a pair: q of adjusted cuts, confidence intervals, and --adjust max-t.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "cli/run_command.hpp"
#include "cli/small_tables.hpp"
#include "support/catch.hpp"

namespace {

using gpu_test::files;
using gpu_test::numbers;
using gpu_test::read_file;
using gpu_test::run_command;

constexpr int exit_usage = 2;
constexpr int exit_resources = 4;

}  // namespace

TEST_CASE("Edges of an adjusted cut have q, in one run and in parts", "[cli][parts][adjusted]") {
  const files in(numbers());
  for (const std::string how : {"bonferroni", "bh"}) {
    for (const std::string suffix : {"tsv", "csv", "npy", "tsv.gz"}) {
      INFO(how << " " << suffix);
      const std::vector<std::string> cut{"spearman", "--max-p", "0.2", "--adjust", how};
      const auto whole = in.run(cut, "whole." + suffix);
      auto parts = cut;
      parts.insert(parts.end(), {"--resume", "--parts", "3"});
      CHECK(in.run(parts, "parts." + suffix) == whole);
      if (suffix != "tsv") continue;
      std::istringstream lines(whole);
      std::string line;
      std::getline(lines, line);
      CHECK(line == "name_i\tname_j\trho\tt\tp\tq");
      std::size_t edges = 0;
      for (; std::getline(lines, line); ++edges) {
        const auto at = line.rfind('\t');
        const double q = std::stod(line.substr(at + 1));
        const double p = std::stod(line.substr(line.rfind('\t', at - 1) + 1));
        CHECK(q <= 0.2);
        CHECK(q >= p);
        if (how == "bonferroni") CHECK(q == Approx(p * 60 * 59 / 2).epsilon(1e-5));
      }
      CHECK(edges > 10);
    }
  }
  // Not exact there, so that there is none.
  const auto text =
      in.run({"spearman", "--max-p", "0.2", "--adjust", "bh", "--min-abs", "0.1"}, "x");
  CHECK(text.substr(0, text.find('\n')) == "name_i\tname_j\trho\tt\tp");
}

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
  const auto folded = in.run({"spearman", "--keep", "folded-edges", "--patterns",
                              in.folder.path("patterns"), "--max-p", "0.2", "--confidence", "0.95"},
                             "folded.tsv");
  check_lines(folded, "name_i\tname_j\trho\tt\tp\tlower\tupper\tpairs", 2, false);
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
  for (const std::string keep : {"edges", "folded-edges"}) {
    std::vector<std::string> job = with_cut({"spearman", "--keep", keep});
    if (keep != "edges") job.insert(job.end(), {"--patterns", in.folder.path("patterns")});
    const auto npy = in.run(job, "a.npy");
    CHECK(npy.find("('p', '<f8'), ('lower', '<f8'), ('upper', '<f8')") != std::string::npos);
    const auto values = values_of(npy, keep == "edges" ? 40 : 48, {8, 24, 32});
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
    CHECK(json.find("\"permutations\": {\"number\": 99, \"seed\": 3, ") != std::string::npos);
    const std::string least = gpu_test::report_value(json, "min_abs_effective");
    std::istringstream parts(
        in.run({measure, "--min-abs", least, "--resume", "--parts", "3"}, "parts.tsv"));
    std::size_t lines = 0;
    for (std::string line; std::getline(parts, line);) ++lines;
    CHECK(lines == some.size() + 1);
  }
  const auto refused = [&](const std::vector<std::string>& words, const std::string& part) {
    auto all = words;
    all.insert(all.begin(), {"spearman", in.input, "-q"});
    const auto got = run_command(all);
    INFO(got.err);
    CHECK(got.exit_code == exit_usage);
    CHECK(got.err.find(part) != std::string::npos);
  };
  refused({"--permutations", "5"}, "--permutations needs --adjust max-t");
  refused({"--seed", "5", "--adjust", "bh"}, "--seed needs --adjust max-t");
  refused({"--adjust", "max-t", "--max-p", "0.0005"}, "expected at least 0.000999");
  refused({"--adjust", "max-t", "--permutations", "0"}, "a whole number from 1 to 1000000");
  refused({"--adjust", "max-t", "--plan"}, "--plan");
  refused({"--adjust", "max-t", "--nan", "pairwise"}, "--nan pairwise");
  refused({"--adjust", "max-t", "--covariates", in.input}, "--covariates");
  refused({"--adjust", "max-t", "--part", "1/3", "--output-dir", in.folder.path("p")},
          "give the min_abs_effective");
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
  for (const std::string format : {"mtx", "sif", "ncol"}) {
    refused({"spearman", "--format", format}, "--confidence does not go with --format " + format);
  }
  for (const std::string level : {"0", "1", "95", "nan"}) {
    const auto got = run_command({"spearman", in.input, "--confidence", level});
    CHECK(got.exit_code == exit_usage);
    CHECK(got.err.find("a number above 0 and below 1") != std::string::npos);
  }
}

TEST_CASE("Partners of an adjusted cut have the q of the edges", "[cli][parts][adjusted]") {
  const files in(numbers());
  // Each line but the first: names of the pair in either order, and q.
  const auto q_of = [](const std::string& text, std::size_t skipped) {
    std::map<std::pair<std::string, std::string>, std::string> out;
    std::istringstream lines(text);
    std::string line;
    std::getline(lines, line);
    while (std::getline(lines, line)) {
      std::istringstream fields(line);
      std::string i;
      std::string j;
      std::string rank;
      fields >> i;
      for (std::size_t s = 0; s < skipped; ++s) fields >> rank;
      fields >> j;
      const std::string q = line.substr(line.rfind('\t') + 1);
      out[{std::min(i, j), std::max(i, j)}] = q;
    }
    return out;
  };
  for (const std::string how : {"bonferroni", "bh"}) {
    for (const std::string side : {"two-sided", "greater"}) {
      INFO(how << " " << side);
      const std::vector<std::string> cut{"spearman", "--max-p", "0.3", "--adjust",
                                         how,        "--tail",  side};
      const auto edges = q_of(in.run(cut, "edges.tsv"), 0);
      auto best = cut;
      best.insert(best.end(), {"--keep", "top-k", "-k", "2", "--min-abs", "0.3"});
      const auto text = in.run(best, "best.tsv");
      CHECK(text.substr(0, text.find('\n')) == "name_i\trank\tname_j\trho\tt\tp\tq");
      const auto partners = q_of(text, 1);
      CHECK(partners.size() > 5);
      CHECK(partners.size() < edges.size());
      std::size_t wrong = 0;
      for (const auto& [pair, q] : partners) {
        const auto found = edges.find(pair);
        wrong += found == edges.end() || found->second != q ? 1U : 0U;
      }
      CHECK(wrong == 0);
      auto parts = best;
      parts.insert(parts.end(), {"--resume", "--parts", "3"});
      CHECK(in.run(parts, "parts.tsv") == text);
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
  INFO(refused.err);
  CHECK(refused.exit_code == exit_resources);
  CHECK(refused.err.find("p of all 179700 pairs that pass --max-p") != std::string::npos);
  CHECK(refused.err.find("--memory-limit is 1000000") != std::string::npos);
}
