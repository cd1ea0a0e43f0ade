// What the names of outputs decide, how names of rows are written, and the columns of edges.
#include <fcntl.h>
#include <stdlib.h>  // NOLINT: posix_openpt
#include <unistd.h>

#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "cli/run_command.hpp"
#include "cli/small_tables.hpp"
#include "support/catch.hpp"
#include "support/gzip_files.hpp"

using namespace gpu_test;

namespace {

/// Six rows with names that need quotes, and one that does not.
constexpr const char* named_rows =
    "5'-end\t1\t2\t3\t4\t5\t6\n"
    "say\"so\"\t2\t3\t5\t7\t11\t1\n"
    "no#1\t9\t7\t6\t4\t1\t0\n"
    "a,b\t3\t1\t4\t1\t5\t9\n"
    "plain\t2\t7\t1\t8\t2\t8\n";

}  // namespace

TEST_CASE("The suffix of an output decides how it is written", "[cli][format]") {
  const files in(named_rows);
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
  const std::string table =
      std::string(GPU_SIMILARITY_SOURCE_DIR) + "/examples/data/fashion_5000x30.txt";
  const temporary_folder folder;
  for (const std::string name : {"a.tsv", "a.tsv.gz"}) {
    const auto got = run_command(
        {"spearman", table, "--min-abs", "0.9", "-q", "--backend", "cpu", "-o", folder.path(name)});
    CHECK(got.exit_code == 0);
  }
  const auto plain = read_file(folder.path("a.tsv"));
  CHECK(plain.size() > (std::size_t{1} << 20));
  CHECK(read_gzip(folder.path("a.tsv.gz")) == plain);
}

TEST_CASE("A suffix that is not known or contradicts is refused before any work", "[cli][format]") {
  const files in(named_rows);
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases{
      {{"-o", in.folder.path("a.xlsx")}, "expected .tsv, .txt, .csv or .npy"},
      {{"-o", in.folder.path("a.feather")}, "to_arrow()"},
      {{"-o", in.folder.path("a.npy.gz")}, "expected .npy, or .tsv.gz"},
      {{"-o", in.folder.path("a.csv"), "--format", "tsv"}, "expected tsv as --format tsv says"},
      {{"-o", in.folder.path("a.npy"), "--format", "csv"}, "expected csv"},
      {{"-o", in.folder.path("a.csv"), "--keep", "dense", "--nan", "pairwise",
        "--observations-output", in.folder.path("n.npy")},
       "expected csv as --output"}};
  for (auto [words, expected] : cases) {
    words.insert(words.begin(), {"spearman", in.input});
    const auto got = run_command(words);
    INFO(got.err);
    CHECK(got.exit_code == exit_usage);
    CHECK(got.err.find(expected) != std::string::npos);
  }
  // --format says enough.
  (void)in.run({"spearman", "--format", "csv"}, "a.result");
}

TEST_CASE("Formats that Python writes are refused with the call that does", "[cli][format]") {
  const files in(numbers());
  for (const auto& [suffix, call] : {std::pair("graphml", "graphml"),
                                     {"sif", "sif"},
                                     {"ncol", "ncol"},
                                     {"mtx", "matrix_market"},
                                     {"parquet", "arrow"},
                                     {"feather", "arrow"}}) {
    const auto got =
        run_command({"spearman", in.input, "-o", in.folder.path(std::string("out.") + suffix)});
    check_refused(got, exit_usage, "Python does: ");
    CHECK(has(got.err, std::string("gs.edges(x, ...).to_") + call));
  }
}

TEST_CASE("Names stand in quotes where R or pandas would read another", "[cli][format]") {
  const files in(named_rows);
  const auto tsv = in.run({"spearman"}, "a.tsv");
  for (const char* name : {"\"5'-end\"\t\"say\"\"so\"\"\"\t", "\"no#1\"\ta,b\t", "a,b\tplain\t"}) {
    CHECK(tsv.find(name) != std::string::npos);
  }
  const auto csv = in.run({"spearman"}, "a.csv");
  CHECK(csv.find("\"a,b\",plain,") != std::string::npos);
  CHECK(in.run({"rank"}, "r.csv").substr(0, 9) == "\"5'-end\",");
}

TEST_CASE("--no-clobber keeps a file that is there", "[cli][output]") {
  const files in(named_rows);
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
  command_settings settings;
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
