// gpu-similarity differential in parts: joined to the bytes of a single run.
#include <signal.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "cli/parts_jobs.hpp"
#include "cli/run_command.hpp"
#include "support/catch.hpp"

using namespace gpu_test;

namespace {

namespace fs = std::filesystem;

// Rows that move together in the columns 0, 3, 6, ... and a few elsewhere too, a constant row, and
// a name that needs quotes in CSV.
std::string table_of(int rows, int cols) {
  std::mt19937 random(7);  // NOLINT: the same rows on every run
  const auto value = [&] { return static_cast<int>(random() % 100); };
  std::vector<int> common(static_cast<std::size_t>(cols));
  std::generate(common.begin(), common.end(), value);
  std::string text;
  for (int i = 0; i < rows; ++i) {
    text += i == 0 ? "gene 0, the first" : "gene" + std::to_string(i);
    for (int k = 0; k < cols; ++k) {
      const bool moves_along = k % 3 == 0 || i % 10 == 0;
      const int x = value() / 4 + (moves_along ? common[static_cast<std::size_t>(k)] : value());
      text.append("\t").append(std::to_string(i == 17 ? 5 : x));
    }
    text += "\n";
  }
  return text;
}

// The table and its groups: every third column is in neither.
struct job {
  temporary_folder folder;
  std::string input = folder.write("in.tsv", table_of(150, 21));
  std::string groups = folder.write("groups.txt", labels());
  std::string in = folder.path("parts");

  static std::string labels() {
    std::string out;
    for (int k = 0; k < 21; ++k) out += k % 3 == 0 ? "tumour\n" : k % 3 == 1 ? "normal\n" : "-\n";
    return out;
  }
  [[nodiscard]] words command(const words& options) const {
    return joined({"differential", input, "-q", "--groups", groups}, options);
  }
  [[nodiscard]] std::string single(const words& options, const std::string& name) const {
    const command_result result = run_command(joined(command(options), {"-o", folder.path(name)}));
    INFO(result.err);
    REQUIRE(result.exit_code == 0);
    return read_file(folder.path(name));
  }
  [[nodiscard]] command_result part(const words& options, int number, int of) const {
    return run_command(
        joined(command(options),
               {"--part", std::to_string(number) + "/" + std::to_string(of), "--output-dir", in}));
  }
  // Until nothing is left.
  int all(const words& options, int of) const {
    for (int round = 1;; ++round) {
      REQUIRE(round < 6);
      for (int number = of; number >= 1; --number) {
        const command_result result = part(options, number, of);
        INFO(result.err);
        REQUIRE(result.exit_code == 0);
      }
      if (run_command({"parts", in, "--format", "slurm"}).out.empty()) return round;
    }
  }
};

bool says(const std::string& text, const std::string& what) {
  INFO(text);
  return text.find(what) != std::string::npos;
}

}  // namespace

TEST_CASE("q of partners that are more than pairs is that of their pairs",
          "[cli][parts][differential]") {
  // Rows that are nearly the same in one group and unrelated in the other: every pair differs.
  constexpr int rows = 10;
  std::mt19937 random(3);  // NOLINT: the same rows on every run
  std::string table;
  std::string labels;
  for (int i = 0; i < rows; ++i) {
    for (int k = 0; k < 60; ++k) {
      const int noise = static_cast<int>(random() % 100);
      table += (k == 0 ? "" : "\t") + std::to_string(k < 30 ? 1000 * (k * k % 17) + noise : noise);
    }
    table += "\n";
  }
  for (int k = 0; k < 60; ++k) labels += k < 30 ? "a\n" : "b\n";
  const temporary_folder folder;
  const words command{"differential",
                      folder.write("in.tsv", table),
                      "-q",
                      "--groups",
                      folder.write("groups.txt", labels),
                      "--keep",
                      "top-k",
                      "-k",
                      "9",
                      "--adjust",
                      "bonferroni"};
  const auto run = [&](const words& more) {
    const command_result result = run_command(joined(command, more));
    INFO(result.err);
    CHECK(result.exit_code == 0);
  };
  run({"-o", folder.path("single.tsv")});
  std::istringstream lines(read_file(folder.path("single.tsv")));
  std::string line;
  std::getline(lines, line);
  CHECK(line == "name_i\trank\tname_j\tr_a\tr_b\tz\tp\tq");
  constexpr double pairs = rows * (rows - 1) / 2;
  int entries = 0;
  for (; std::getline(lines, line); ++entries) {
    std::istringstream fields(line);
    words all;
    for (std::string field; fields >> field;) all.push_back(field);
    REQUIRE(all.size() == 8);
    const double q = std::stod(all[6]) * pairs;
    CHECK(std::abs(std::stod(all[7]) - q) <= 2e-5 * q);  // both have six digits
  }
  CHECK(entries == rows * (rows - 1));
  for (const char* part : {"2/3", "1/3", "3/3"}) {
    run({"--part", part, "--output-dir", folder.path("parts")});
  }
  CHECK(run_command({"merge", folder.path("parts"), "-q", "-o", folder.path("merged.tsv")})
            .exit_code == 0);
  CHECK(read_file(folder.path("merged.tsv")) == read_file(folder.path("single.tsv")));
  run({"--resume", "--parts", "4", "-o", folder.path("resumed.tsv")});
  CHECK(read_file(folder.path("resumed.tsv")) == read_file(folder.path("single.tsv")));
}

TEST_CASE("differential goes on from the parts that are there", "[cli][parts][differential]") {
  const job of;
  const words options{"--max-p", "0.1", "--adjust", "bonferroni"};
  const std::string expected = of.single(options, "single.tsv");
  REQUIRE(of.part(options, 2, 3).exit_code == 0);
  CHECK(run_command({"parts", of.in, "--format", "slurm"}).out == "1,3\n");
  CHECK(run_command({"merge", of.in, "-o", of.folder.path("merged.tsv")}).exit_code ==
        exit_bad_input);
  const words resume{"differential",
                     of.input,
                     "--groups",
                     of.groups,
                     "--max-p",
                     "0.1",
                     "--adjust",
                     "bonferroni",
                     "--resume",
                     "--output-dir",
                     of.in,
                     "-o",
                     of.folder.path("resumed.tsv")};
  // It has the parts that it was begun with.
  const command_result other = run_command(joined(resume, {"--parts", "2"}));
  CHECK(other.exit_code == exit_bad_input);
  CHECK(says(other.err, "the job was begun in 3 parts, expected 2 as --parts says"));
  const command_result resumed = run_command(resume);
  INFO(resumed.err);
  CHECK(resumed.exit_code == 0);
  CHECK(says(resumed.err, "1 part was there"));
  CHECK(read_file(of.folder.path("resumed.tsv")) == expected);
}

TEST_CASE("parts of differential that were changed are named", "[cli][parts][differential]") {
  const job of;
  const words options{"--max-p", "0.9", "--adjust", "bonferroni",  "--keep",
                      "top-k",   "-k",  "5",        "--min-abs-z", "0.5"};
  of.all(options, 3);
  const std::string merged = of.folder.path("merged.tsv");
  for (const std::string file : {"part-2-of-3.tsv", "part-3-of-3.p", "header.tsv"}) {
    const std::string path = of.in + "/" + file;
    const std::string before = read_file(path);
    flip_a_byte(path);
    const command_result result = run_command({"merge", of.in, "-o", merged});
    CHECK(result.exit_code == exit_bad_input);
    CHECK(says(result.err, file));
    CHECK(!fs::exists(merged));
    (void)of.folder.write("parts/" + file, before);
  }
  CHECK(run_command({"merge", of.in, "-o", merged}).exit_code == 0);
}

TEST_CASE("parts of other differential jobs are refused", "[cli][parts][differential]") {
  const job of;
  REQUIRE(of.part({"--max-p", "0.1"}, 1, 3).exit_code == 0);
  const auto refused = [&](const words& command, const std::string& what) {
    const command_result result =
        run_command(joined(command, {"--part", "2/3", "--output-dir", of.in}));
    CHECK(result.exit_code == exit_bad_input);
    CHECK(says(result.err, what));
  };
  refused(of.command({"--max-p", "0.2"}), "--max-p is 0.1, expected 0.2");
  refused(of.command({"--max-p", "0.1", "--measure", "spearman"}),
          "the statistic is differential pearson, expected differential spearman");
  refused({"pearson", of.input, "--max-p", "0.1"},
          "the statistic is differential pearson, expected pearson");
  std::string list;
  for (int k = 0; k < 21; ++k) list += k < 10 ? "a," : k < 20 ? "b," : "-";
  refused({"differential", of.input, "--groups", list, "--max-p", "0.1"}, "--groups is ");
  std::string other = job::labels();
  other[0] = 'x';
  (void)of.folder.write("groups.txt", other);
  refused(of.command({"--max-p", "0.1"}), "--groups is ");

  // A job by labels is one of its own.
  const std::string in = of.folder.path("by_labels");
  const words by_labels{"differential", of.input, "--groups", list, "-q"};
  for (const std::string part : {"1/2", "2/2"}) {
    CHECK(run_command(joined(by_labels, {"--part", part, "--output-dir", in})).exit_code == 0);
  }
  const std::string merged = of.folder.path("merged.tsv");
  const std::string single = of.folder.path("single.tsv");
  CHECK(run_command({"merge", in, "-o", merged}).exit_code == 0);
  CHECK(run_command(joined(by_labels, {"-o", single})).exit_code == 0);
  CHECK(read_file(merged) == read_file(single));
}

TEST_CASE("wrong options of parts of differential are refused", "[cli][parts][differential]") {
  const job of;
  const auto refused = [&](const words& options, const std::string& what) {
    const command_result result = run_command(of.command(options));
    CHECK(result.exit_code == exit_usage);
    CHECK(says(result.err, what));
    CHECK(!fs::exists(of.in));
  };
  refused({"--part", "4/3", "--output-dir", of.in}, "--part: got 4/3");
  refused({"--part", "0/3", "--output-dir", of.in}, "--part: got 0/3");
  refused({"--part", "1/3"}, "--part needs --output-dir");
  refused({"--output-dir", of.in}, "--output-dir needs --part or --resume");
  refused({"--parts", "3"}, "--parts needs --resume");
  refused({"--resume"}, "--resume needs --output FILE");
  refused({"--resume", "--parts", "2"}, "--resume needs --output FILE");
  refused({"--resume", "-o", "-"}, "--resume needs --output FILE");
  refused({"--resume", "--parts", "0", "-o", of.folder.path("out.tsv")}, "--parts");
  refused({"--part", "1/3", "--output-dir", of.in, "-o", of.folder.path("out.tsv")},
          "--output does not go with --part");
  refused({"--part", "1/3", "--output-dir", of.in, "--format", "npy"},
          "--format: got npy, expected csv|tsv");
  const command_result piped = run_command(
      {"differential", "-", "--groups", of.groups, "--part", "1/2", "--output-dir", of.in});
  CHECK(piped.exit_code == exit_usage);
  CHECK(says(piped.err, "standard input has no parts"));
  // Groups under the name of a part would be replaced by it.
  fs::create_directories(of.in);
  const std::string inside = of.folder.write("parts/header.tsv", job::labels());
  const command_result own = run_command(
      {"differential", of.input, "--groups", inside, "--part", "1/2", "--output-dir", of.in});
  CHECK(own.exit_code == exit_usage);
  CHECK(says(own.err, "--groups"));
}
