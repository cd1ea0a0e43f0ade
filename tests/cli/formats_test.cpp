// What the names of outputs decide, how names of rows are written, and the columns of edges.
#include <fcntl.h>
#include <stdlib.h>  // NOLINT: posix_openpt
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "cli/run_command.hpp"
#include "support/catch.hpp"
#include "support/gzip_files.hpp"

namespace {

using gpu_test::read_file;
using gpu_test::read_gzip;
using gpu_test::run_command;

constexpr int exit_usage = 2;
constexpr int exit_resources = 4;

/// Six rows with names that need quotes, and one that does not.
constexpr const char* named =
    "5'-end\t1\t2\t3\t4\t5\t6\n"
    "say\"so\"\t2\t3\t5\t7\t11\t1\n"
    "no#1\t9\t7\t6\t4\t1\t0\n"
    "a,b\t3\t1\t4\t1\t5\t9\n"
    "plain\t2\t7\t1\t8\t2\t8\n";

/// 60 rows of 12 without names.
std::string numbers() {
  std::string text;
  unsigned state = 3;
  for (int i = 0; i < 60; ++i) {
    for (int j = 0; j < 12; ++j) {
      state = state * 1664525U + 1013904223U;
      text += std::to_string((state >> 16) % 50 + static_cast<unsigned>(i % 3 * j * 20)) + " ";
    }
    text += '\n';
  }
  return text;
}

struct files {
  gpu_test::temporary_folder folder;
  std::string input;
  explicit files(const std::string& text) : input(folder.write("in.txt", text)) {}
  /// Runs a job that has to succeed, and gives what it wrote.
  std::string run(std::vector<std::string> words, const std::string& output) const {
    words.insert(words.begin() + 1, input);
    words.insert(words.end(), {"-q", "-o", folder.path(output)});
    const auto result = run_command(words);
    INFO(result.err);
    CHECK(result.exit_code == 0);
    return read_file(folder.path(output));
  }
};

}  // namespace

TEST_CASE("The suffix of an output decides how it is written", "[cli][format]") {
  const files in(named);
  for (const std::string keep : {"edges", "top-k", "counts", "dense"}) {
    INFO(keep);
    const std::vector<std::string> job{"spearman", "--keep", keep};
    const auto tsv = in.run(job, "a.tsv");
    const auto csv = in.run(job, "a.csv");
    CHECK(tsv == in.run(job, "plain"));
    CHECK(csv.find('\t') == std::string::npos);
    CHECK(csv.find(',') != std::string::npos);
    (void)in.run(job, "a.tsv.gz");
    CHECK(read_gzip(in.folder.path("a.tsv.gz")) == tsv);
    (void)in.run(job, "a.csv.gz");
    CHECK(read_gzip(in.folder.path("a.csv.gz")) == csv);
    CHECK(in.run(job, "a.npy").substr(1, 5) == "NUMPY");
  }
  const auto ranks = in.run({"rank"}, "r.tsv");
  (void)in.run({"rank"}, "r.tsv.gz");
  CHECK(read_gzip(in.folder.path("r.tsv.gz")) == ranks);
}

TEST_CASE("Many compressed edges are those of the plain file", "[cli][format]") {
  const std::string demo =
      std::string(GPU_SIMILARITY_SOURCE_DIR) + "/examples/data/fashion_5000x30.txt";
  const gpu_test::temporary_folder folder;
  for (const std::string name : {"a.tsv", "a.tsv.gz"}) {
    const auto got = run_command(
        {"spearman", demo, "--min-abs", "0.9", "-q", "--backend", "cpu", "-o", folder.path(name)});
    CHECK(got.exit_code == 0);
  }
  const auto plain = read_file(folder.path("a.tsv"));
  CHECK(plain.size() > (std::size_t{1} << 20));
  CHECK(read_gzip(folder.path("a.tsv.gz")) == plain);
}

/// Whether `text` has one of some words, between which bars stand: a build without Parquet says
/// that first.
bool has_one_of(const std::string& text, const std::string& words) {
  std::istringstream each(words);
  for (std::string word; std::getline(each, word, '|');) {
    if (text.find(word) != std::string::npos) return true;
  }
  return false;
}

TEST_CASE("Parquet is written, or its library named", "[cli][format]") {
  const files in(named);
  const std::string path = in.folder.path("a.parquet");
  const auto got = run_command({"spearman", in.input, "-q", "-o", path});
  if (got.exit_code == 0) {
    const std::string bytes = read_file(path);
    CHECK(bytes.substr(0, 4) == "PAR1");
    CHECK(bytes.substr(bytes.size() - 4) == "PAR1");
    return;
  }
  CHECK(got.exit_code == exit_usage);
  CHECK(got.err.find("Apache Arrow") != std::string::npos);
  CHECK(got.err.find("GPU_SIMILARITY_ENABLE_PARQUET") != std::string::npos);
  const auto read = run_command({"rank", in.folder.write("b.parquet", "PAR1\x15\x04PAR1")});
  CHECK(read.err.find("GPU_SIMILARITY_ENABLE_PARQUET") != std::string::npos);
}

TEST_CASE("A suffix that is not known or contradicts is refused before any work", "[cli][format]") {
  const files in(named);
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases{
      {{"-o", in.folder.path("a.xlsx")}, "expected .tsv, .txt, .csv or .npy"},
      {{"-o", in.folder.path("a.feather")}, "to_arrow()"},
      {{"-o", in.folder.path("a.parquet"), "--format", "tsv"}, "Parquet|expected tsv"},
      {{"--format", "parquet", "--keep", "folded-edges", "--patterns", in.folder.path("p")},
       "Parquet|--keep folded-edges"},
      {{"--format", "parquet", "--resume", "-o", in.folder.path("a")}, "Parquet|--resume"},
      {{"-o", in.folder.path("a.npy.gz")}, "expected .npy, or .tsv.gz"},
      {{"-o", in.folder.path("a.csv"), "--format", "tsv"}, "expected tsv as --format tsv says"},
      {{"-o", in.folder.path("a.npy"), "--format", "csv"}, "expected csv"},
      {{"-o", in.folder.path("a.csv"), "--keep", "folded-edges", "--patterns",
        in.folder.path("p.npy")},
       "expected csv as --output"}};
  for (auto [words, expected] : cases) {
    words.insert(words.begin(), {"spearman", in.input});
    const auto got = run_command(words);
    INFO(got.err);
    CHECK(got.exit_code == exit_usage);
    CHECK(has_one_of(got.err, expected));
  }
  // --format says enough.
  (void)in.run({"spearman", "--format", "csv"}, "a.result");
}

TEST_CASE("Names stand in quotes where R or pandas would read another", "[cli][format]") {
  const files in(named);
  const auto tsv = in.run({"spearman"}, "a.tsv");
  for (const char* name : {"\"5'-end\"\t\"say\"\"so\"\"\"\t", "\"no#1\"\ta,b\t", "a,b\tplain\t"}) {
    CHECK(tsv.find(name) != std::string::npos);
  }
  const auto csv = in.run({"spearman"}, "a.csv");
  CHECK(csv.find("\"a,b\",plain,") != std::string::npos);
  CHECK(in.run({"rank"}, "r.csv").substr(0, 9) == "\"5'-end\",");
}

TEST_CASE("--no-clobber keeps a file that is there", "[cli][output]") {
  const files in(named);
  (void)in.run({"spearman", "--no-clobber"}, "a.tsv");
  (void)in.folder.write("a.tsv", "mine");
  for (const char* verb : {"spearman", "rank"}) {
    const auto got = run_command({verb, in.input, "--no-clobber", "-o", in.folder.path("a.tsv")});
    CHECK(got.exit_code == exit_usage);
    CHECK(got.err.find("is there already") != std::string::npos);
  }
  CHECK(read_file(in.folder.path("a.tsv")) == "mine");
  (void)in.run({"spearman"}, "a.tsv");
  CHECK(read_file(in.folder.path("a.tsv")) != "mine");
}

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

TEST_CASE("Partners come by value, and with a one-sided tail of one sign", "[cli][top-k]") {
  const files in(numbers());
  const auto statistics = [&](std::vector<std::string> words) {
    words.insert(words.begin(), {"spearman", "--keep", "top-k", "-k", "59"});
    std::istringstream lines(in.run(words, "k.tsv"));
    std::vector<double> out;
    std::string line;
    std::getline(lines, line);
    while (std::getline(lines, line)) {
      std::istringstream fields(line);
      std::string skipped;
      double statistic = 0;
      fields >> skipped >> skipped >> skipped >> statistic;
      out.push_back(statistic);
    }
    return out;
  };
  const auto by_value = statistics({"--order", "by-value"});
  REQUIRE(by_value.size() == 60 * 59);
  std::size_t rises = 0;
  for (std::size_t i = 1; i < 59; ++i) rises += by_value[i] > by_value[i - 1] ? 1U : 0U;
  CHECK(rises == 0);
  CHECK(by_value[58] < 0);
  for (const double r : statistics({"--tail", "greater"})) CHECK(r >= 0);
  for (const double r : statistics({"--tail", "less"})) CHECK(r <= 0);
  CHECK(run_command({"spearman", in.input, "--order", "by-value"}).exit_code == exit_usage);
}

TEST_CASE("A terminal gets the best pairs where there is no cut", "[cli][output]") {
  const int terminal = ::posix_openpt(O_RDWR | O_NOCTTY);
  if (terminal < 0 || ::grantpt(terminal) != 0 || ::unlockpt(terminal) != 0) {
    WARN("this system gives no pseudo terminal");
    return;
  }
  const files in(numbers());
  gpu_test::command_settings settings;
  settings.output_path = ::ptsname(terminal);
  const auto got = run_command({"spearman", in.input}, settings);
  CHECK(got.exit_code == 0);
  CHECK(got.err.find("the 20 pairs of largest magnitude, of 1770") != std::string::npos);
  std::string shown(std::size_t{1} << 16, '\0');
  const auto bytes = ::read(terminal, shown.data(), shown.size());
  ::close(terminal);
  REQUIRE(bytes > 0);
  shown.resize(static_cast<std::size_t>(bytes));
  std::size_t lines = 0;
  for (const char c : shown) lines += c == '\n' ? 1U : 0U;
  CHECK(lines == 21);
}
