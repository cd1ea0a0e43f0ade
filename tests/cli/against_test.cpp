// The command on two tables: every result and format names rows of both, and the report knows both.
#include <cstdint>
#include <cstring>
#include <sstream>
#include <string>
#include <vector>

#include "cli/run_command.hpp"
#include "support/catch.hpp"

using namespace gpu_test;

namespace {

// Of x: up and down are known, flat has no correlation. Of y: no names.
constexpr const char* x_table =
    "id a b c d e\n"
    "up 1 2 3 4 5\n"
    "flat 3 3 3 3 3\n"
    "down 9 7 6 4 1\n";
constexpr const char* y_table =
    "1 2 3 5 4\n"
    "2 3 5 7 11\n";

struct two_tables {
  temporary_folder folder;
  std::string x = folder.write("x.txt", x_table);
  std::string y = folder.write("y.txt", y_table);

  command_result run(std::vector<std::string> arguments) const {
    arguments.insert(arguments.end(), {"--against", y, "--backend", "cpu", "-q"});
    return run_command(arguments);
  }
};

std::string after_header(const std::string& text) {
  return text.substr(text.find('\n') + 1);
}

template <class T>
std::vector<T> npy_values(const std::string& bytes) {
  std::uint16_t length = 0;
  std::memcpy(&length, bytes.data() + 8, sizeof length);
  const std::size_t begin = 10 + std::size_t{length};
  std::vector<T> out((bytes.size() - begin) / sizeof(T));
  std::memcpy(out.data(), bytes.data() + begin, out.size() * sizeof(T));
  return out;
}

}  // namespace

TEST_CASE("Edges of two tables name a row of each", "[cli][against]") {
  const two_tables tables;
  const auto result = tables.run({"spearman", tables.x});
  INFO(result.err);
  CHECK(result.exit_code == 0);
  CHECK(result.out.starts_with("name_i\tname_j\trho\tp\nup\tY1\t0.9\t"));
  std::istringstream lines(result.out);
  std::vector<std::string> starts;
  for (std::string line; std::getline(lines, line);) {
    starts.push_back(line.substr(0, line.find('\t', line.find('\t', line.find('\t') + 1) + 1)));
  }
  CHECK(starts == std::vector<std::string>{"name_i\tname_j\trho", "up\tY1\t0.9", "up\tY2\t1",
                                           "down\tY1\t-0.9", "down\tY2\t-1"});
}

TEST_CASE("Other results of two tables", "[cli][against]") {
  const two_tables tables;
  const auto dense = tables.run({"spearman", tables.x, "--keep", "dense"});
  CHECK(dense.out == "name\tY1\tY2\nup\t0.9\t1\nflat\tNaN\tNaN\ndown\t-0.9\t-1\n");
  const auto best = tables.run({"spearman", tables.x, "--keep", "top-k", "-k", "1"});
  CHECK(after_header(best.out).starts_with("up\t1\tY2\t1\t"));
  const auto counts =
      tables.run({"spearman", tables.x, "--keep", "counts", "--min-abs", "0.95", "-o", "-"});
  CHECK(counts.out ==
        "table\tname\tdegree\nx\tup\t1\nx\tflat\t0\nx\tdown\t1\ny\tY1\t0\ny\tY2\t2\n");
}

TEST_CASE("Two tables as .npy", "[cli][against]") {
  const two_tables tables;
  const std::string out = tables.folder.path("out.npy");
  REQUIRE(tables.run({"spearman", tables.x, "--keep", "dense", "--format", "npy", "-o", out})
              .exit_code == 0);
  const auto dense = npy_values<double>(read_file(out));
  REQUIRE(dense.size() == 6);
  CHECK(dense[0] == 0.9);
  CHECK(dense[5] == -1.0);
  REQUIRE(tables
              .run({"spearman", tables.x, "--keep", "counts", "--min-abs", "0.95", "--format",
                    "npy", "-o", out})
              .exit_code == 0);
  CHECK(npy_values<std::uint32_t>(read_file(out)) == std::vector<std::uint32_t>{1, 0, 1, 0, 2});
  REQUIRE(tables.run({"spearman", tables.x, "--format", "npy", "-o", out}).exit_code == 0);
  const auto words = npy_values<std::uint32_t>(read_file(out));
  REQUIRE(words.size() == 4 * 6);
  CHECK(words[6 * 3] == 2);
  CHECK(words[6 * 3 + 1] == 1);
}

TEST_CASE("The report and the plan know both tables", "[cli][against]") {
  const two_tables tables;
  const std::string report_file = tables.folder.path("report.json");
  REQUIRE(
      tables.run({"spearman", tables.x, "-o", "/dev/null", "--report", report_file}).exit_code ==
      0);
  const std::string report = read_file(report_file);
  CHECK(report.find("\"against\": {\"name\": \"" + tables.y + "\", \"bytes\": " +
                    std::to_string(std::string(y_table).size())) != std::string::npos);
  CHECK(report_value(report, "rows") == "3");
  CHECK(report_value(report, "y_rows") == "2");
  CHECK(report_value(report, "constant_rows") == "1");
  CHECK(report_value(report, "y_constant_rows") == "0");
  CHECK(report_value(report, "pairs_tested") == "4");
  CHECK(report_value(report, "edge_sum") == "10");  // 0 + 1 + 4 + 5
  CHECK(report_value(report, "checksum").starts_with("\"4:"));
  const auto plan =
      run_command({"spearman", tables.x, "--against", tables.y, "--plan", "--backend", "cpu"});
  CHECK(
      plan.out.starts_with("input\t3 rows against 2 rows x 5 columns, int8 and int8\npairs\t6\n"));
}

TEST_CASE("What cannot be compared is refused", "[cli][against]") {
  const two_tables tables;
  const std::string narrow = tables.folder.write("narrow.txt", "1 2 3\n3 1 2\n");
  const auto columns = run_command({"pearson", tables.x, "--against", narrow});
  CHECK(columns.exit_code == 3);
  CHECK(columns.err.find("got 3 columns of numbers, expected 5 as in") != std::string::npos);
  const auto twice = run_command({"spearman", "-", "--against", "-"});
  CHECK(twice.exit_code == 2);
  CHECK(twice.err.find("--against -: standard input is INPUT already") != std::string::npos);
  const auto over = run_command({"spearman", tables.x, "--against", tables.y, "-o", tables.y});
  CHECK(over.exit_code == 2);
  CHECK(over.err.find("is the table of --against") != std::string::npos);
  CHECK(read_file(tables.y) == y_table);
  const auto large = run_command(
      {"spearman", tables.x, "--against", tables.y, "--keep", "dense", "--max-output", "10"});
  CHECK(large.exit_code == 4);
}

TEST_CASE("A single row finds its partners", "[cli][against]") {
  const two_tables tables;
  const std::string one = tables.folder.write("one.txt", "5 3 2 4 1\n");
  const auto result = run_command(
      {"spearman", one, "--against", tables.x, "--keep", "top-k", "-q", "--backend", "cpu"});
  INFO(result.err);
  CHECK(result.exit_code == 0);
  CHECK(after_header(result.out).starts_with("X1\t1\tup\t-0.7\t"));
}
