// gpu-similarity modules against components that a search from node to node finds, --keep-fraction
// against all edges sorted, --digits against printf.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "cli/small_tables.hpp"
#include "support/catch.hpp"
#include "support/temporary_file.hpp"

using namespace gpu_test;

namespace {

/// Rows of few groups, of integers where there are to be ties.
std::string grouped_rows(int rows, int cols, bool has_ties, unsigned seed) {
  std::mt19937 random(seed);
  const auto uniform = [&] { return static_cast<double>(random() >> 8) / (1 << 24); };
  std::vector<std::vector<double>> centers(5, std::vector<double>(static_cast<std::size_t>(cols)));
  for (auto& center : centers) {
    for (double& value : center) value = uniform();
  }
  std::ostringstream out;
  for (int i = 0; i < rows; ++i) {
    out << "g" << i;
    for (const double value : centers[static_cast<std::size_t>(i % 5)]) {
      const double noisy = value + 0.7 * uniform();
      out << '\t';
      has_ties ? out << std::lround(4 * noisy) : out << noisy;
    }
    out << '\n';
  }
  return out.str();
}

double strength_of(double statistic, const std::string& tail) {
  return tail == "greater" ? statistic : tail == "less" ? -statistic : std::abs(statistic);
}

/// That `out` has the components of the edges (name, name, statistic, ...) whose magnitude is at
/// least `cut`, found by a search from node to node; the largest first.
void check_modules(const std::vector<words>& edges, const std::string& out, double cut) {
  std::map<std::string, std::set<std::string>> near;
  for (const words& e : edges) {
    near[e[0]];
    near[e[1]];
    if (std::abs(std::stod(e[2])) < cut) continue;
    near[e[0]].insert(e[1]);
    near[e[1]].insert(e[0]);
  }
  const auto lines = fields_of(out);
  REQUIRE(lines.size() == near.size() + 1);
  CHECK(lines.front() == words{"name", "module"});
  std::map<std::string, std::set<std::string>> of_module;
  for (std::size_t i = 1; i < lines.size(); ++i) of_module[lines[i][1]].insert(lines[i][0]);
  std::size_t before = near.size();
  for (std::size_t m = 1; m <= of_module.size(); ++m) {
    const std::set<std::string>& got = of_module.at(std::to_string(m));
    CHECK(got.size() <= before);
    before = got.size();
    std::set<std::string> reached{*got.begin()};
    for (words open{*got.begin()}; !open.empty();) {
      const std::string node = open.back();
      open.pop_back();
      for (const std::string& other : near[node]) {
        if (reached.insert(other).second) open.push_back(other);
      }
    }
    CHECK(got == reached);
  }
}

}  // namespace

TEST_CASE("Modules are the connected components of the edges that the cut keeps",
          "[cli][modules]") {
  const temporary_folder folder;
  std::mt19937 random(7);
  std::string text = "name_i\tname_j\tr\tt\tp\n";
  constexpr int nodes = 120;
  std::vector<words> edges;
  for (int e = 0; e < 150; ++e) {
    const auto name = [&] { return "n" + std::to_string(random() % nodes); };
    const double r = static_cast<double>(random() % 2001) / 1000 - 1;
    edges.push_back({name(), name(), std::to_string(r)});
    text += edges.back()[0] + "\t" + edges.back()[1] + "\t" + edges.back()[2] + "\t1\t0.5\n";
  }
  const std::string file = folder.write("edges.tsv", text);
  for (const std::string cut : {"0", "0.4", "0.9"}) {
    INFO("cut " << cut);
    const auto result = run_command({"modules", file, "--min-abs", cut});
    REQUIRE(result.exit_code == 0);
    check_modules(edges, result.out, std::stod(cut));
    // What was compressed, as CSV and from standard input too.
    const std::string copy = folder.path("copy.csv");
    REQUIRE(std::system(("tr '\\t' , < " + file + " > " + copy + " && gzip -kf " + copy).c_str()) ==
            0);
    CHECK(run_command({"modules", copy + ".gz", "--min-abs", cut}).out == result.out);
    CHECK(run_command({"modules", "-", "--min-abs", cut}, {.input_path = file}).out == result.out);
  }
}

TEST_CASE("Modules of what the command writes, and what is no table of edges", "[cli][modules]") {
  const temporary_folder folder;
  const std::string in = folder.write("in.tsv", grouped_rows(40, 30, false, 3));
  const std::string edges = folder.path("edges.tsv");
  REQUIRE(run_command({"pearson", in, "--min-abs", "0.6", "-o", edges, "-q"}).exit_code == 0);
  const std::string partners = folder.path("partners.csv");
  REQUIRE(
      run_command({"pearson", in, "--keep", "top-k", "-k", "3", "-o", partners, "-q"}).exit_code ==
      0);
  auto table = fields_of(read_file(edges));
  table.erase(table.begin());
  check_modules(table, run_command({"modules", edges}).out, 0);
  check_modules(table, run_command({"modules", edges, "--min-abs", "0.8"}).out, 0.8);
  CHECK(run_command({"modules", edges}).err.find(std::to_string(table.size()) + " of ") == 0);
  CHECK(run_command({"modules", partners, "--min-abs", "0.3"}).exit_code == 0);
  const auto refused = [&](const std::string& text, const words& options, const std::string& said) {
    const auto result = run_command(with({"modules", folder.write("bad.tsv", text)}, options));
    INFO(result.err);
    CHECK(result.exit_code != 0);
    CHECK(result.out.empty());
    CHECK(has(result.err, said));
  };
  refused("", {}, "is empty");
  refused("a\tb\tc\n", {}, "expected a table of edges with the columns name_i and name_j");
  refused("name_i\tname_j\tr\na\n", {}, "bad.tsv:2: column 2: got nothing, expected a name");
  refused("name_i\tname_j\tr\na\tb\tx\n", {"--min-abs", "0.5"}, "bad.tsv:2: column 3: got 'x'");
  refused("name_i\tname_j\tr\na\tb\t1\n", {"-o", folder.path("m.npy")}, "expected tsv or csv");
}

TEST_CASE("--keep-fraction keeps the strongest pairs and their ties", "[cli][fraction]") {
  const temporary_folder folder;
  for (const bool has_ties : {false, true}) {
    const std::string in =
        folder.write("in.tsv", grouped_rows(60, has_ties ? 6 : 25, has_ties, 11));
    for (const std::string measure : {"pearson", "spearman", "cosine", "kendall"}) {
      for (const std::string tail : {"two-sided", "greater", "less"}) {
        const auto all = fields_of(run_command({measure, in, "-q"}).out);
        std::vector<double> strengths;
        for (std::size_t e = 1; e < all.size(); ++e) {
          strengths.push_back(strength_of(std::stod(all[e][2]), tail));
        }
        std::sort(strengths.rbegin(), strengths.rend());
        for (const std::string fraction : {"0.001", "0.1", "0.3", "1"}) {
          INFO(measure << " " << tail << " " << fraction << (has_ties ? " ties" : ""));
          const auto pairs = static_cast<double>(strengths.size());
          const auto wanted = static_cast<std::size_t>(
              std::max(1.0, std::ceil(std::stod(fraction) * pairs - 1e-9)));
          const double cut = strengths.at(wanted - 1);
          const auto got =
              run_command({measure, in, "-q", "--tail", tail, "--keep-fraction", fraction});
          if (tail != "two-sided" && cut <= 0) {
            CHECK(got.exit_code == 2);
            CHECK(got.err.find("have the sign of --tail") != std::string::npos);
            continue;
          }
          REQUIRE(got.exit_code == 0);
          const auto kept = fields_of(got.out);
          std::size_t expected = 0;
          std::size_t at = 1;
          bool are_equal = true;
          for (std::size_t e = 1; e < all.size(); ++e) {
            if (strength_of(std::stod(all[e][2]), tail) < cut) continue;
            ++expected;
            are_equal = are_equal && at < kept.size() && kept[at][0] == all[e][0] &&
                        kept[at][1] == all[e][1] && kept[at][2] == all[e][2];
            ++at;
          }
          CHECK(kept.size() == expected + 1);
          CHECK(are_equal);
        }
      }
    }
  }
  const std::string in = folder.write("in.tsv", grouped_rows(60, 25, false, 11));
  const std::string report = folder.path("report.json");
  const auto counts = run_command(
      {"pearson", in, "--keep-fraction", "0.1", "--keep", "counts", "--report", report});
  CHECK(counts.exit_code == 0);
  CHECK(report_value(read_file(report), "pairs_kept") == "177");  // of 1770
  for (const words& other : std::vector<words>{{"--min-abs", "0.1"},
                                               {"--adjust", "bh"},
                                               {"--plan"},
                                               {"--keep", "dense"},
                                               {"--part", "1/2", "--output-dir", in}}) {
    check_refused(run_command(with({"pearson", in, "--keep-fraction", "0.1"}, other)), exit_usage,
                  "--keep-fraction");
  }
}

TEST_CASE("--digits writes all numbers of a text result in so many digits", "[cli][digits]") {
  const temporary_folder folder;
  const std::string in = folder.write("in.tsv", grouped_rows(12, 15, false, 5));
  const std::vector<words> jobs{
      {"pearson", in, "--confidence", "0.95"},
      {"spearman", in, "--max-p", "0.9", "--adjust", "bh"},
      {"kendall", in},
      {"cosine", in},
      {"pearson", in, "--keep", "top-k", "-k", "3", "--adjust", "bonferroni"},
      {"pearson", in, "--keep", "dense"}};
  for (const words& job : jobs) {
    const auto run = [&](const char* digits) {
      words line = job;
      line.insert(line.end(), {"-q", "--digits", digits});
      const auto result = run_command(line);
      INFO(result.err);
      CHECK(result.exit_code == 0);
      return fields_of(result.out);
    };
    const auto full = run("17");
    for (const int digits : {1, 4, 6}) {
      INFO(job[0] << " in " << digits);
      const auto some = run(std::to_string(digits).c_str());
      REQUIRE(some.size() == full.size());
      CHECK(some.front() == full.front());
      int wrong = 0;
      for (std::size_t i = 1; i < full.size(); ++i) {
        for (std::size_t k = 1; k < full[i].size(); ++k) {
          char* end = nullptr;
          const double value = std::strtod(full[i][k].c_str(), &end);
          std::string expected = full[i][k];
          if (*end == '\0' && full.front()[k] != "rank") {
            char text[40];
            std::snprintf(text, sizeof(text), "%.*g", digits, value);
            expected = text;
          }
          if (some[i].at(k) != expected) ++wrong;
        }
      }
      CHECK(wrong == 0);
    }
    // In 17 digits it is the double of the usual text.
    words line = job;
    line.push_back("-q");
    const auto usual = fields_of(run_command(line).out);
    REQUIRE(usual.size() == full.size());
    const std::size_t statistic = job.size() > 2 && job[2] == "--keep" && job[3] == "top-k" ? 3 : 2;
    for (std::size_t i = 1; i < full.size(); ++i) {
      CHECK(std::stod(usual[i][statistic]) == std::stod(full[i][statistic]));
    }
  }
  const auto refused = [&](const words& options, const char* said) {
    check_refused(run_command(with({"pearson", in, "--digits", "6"}, options)), exit_usage, said);
  };
  refused({"-o", folder.path("e.npy")}, "--digits needs real numbers in text");
  refused({"--keep", "counts"}, "--digits needs real numbers in text");
  refused({"--part", "1/2", "--output-dir", folder.path("parts")},
          "--digits does not go with --part");
}
