// The command with covariates and weights of columns.
#include <cmath>
#include <sstream>
#include <string>
#include <vector>

#include "cli/small_tables.hpp"
#include "support/catch.hpp"

using namespace gpu_test;

namespace {

// The numbers of tests/columns/column_cases.hpp, whose partial correlations numpy gives there.
constexpr const char* sample_table =
    "id\ts1\ts2\ts3\ts4\ts5\ts6\ts7\ts8\ts9\ts10\n"
    "a\t2.1\t3.4\t1.2\t5.6\t4.4\t7.1\t6.0\t8.3\t2.2\t9.0\n"
    "b\t1.0\t2.5\t2.0\t4.1\t3.9\t6.6\t7.2\t7.0\t1.1\t10.5\n"
    "c\t9.0\t7.5\t8.8\t5.0\t6.1\t3.3\t2.0\t2.2\t8.1\t0.5\n"
    "d\t0.3\t0.1\t0.9\t0.4\t0.2\t0.8\t0.3\t0.6\t0.7\t0.5\n";
constexpr const char* covariates =
    "id\ts1\ts2\ts3\ts4\ts5\ts6\ts7\ts8\ts9\ts10\n"
    "age\t20\t35\t28\t50\t66\t41\t58\t70\t25\t62\n"
    "sex\t1\t0\t1\t1\t0\t0\t1\t0\t1\t0\n";
// A number a line, with the name of its column.
constexpr const char* weights = "s1 1\ns2 2\ns3 0.5\ns4 1\ns5 3\ns6 1\ns7 0\ns8 2\ns9 1\ns10 1.5\n";

std::string transposed(const std::string& text) {
  std::vector<std::vector<std::string>> rows;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    std::vector<std::string>& row = rows.emplace_back();
    for (std::string field; std::getline(fields, field, '\t');) row.push_back(field);
  }
  std::string out;
  for (std::size_t k = 0; k < rows.front().size(); ++k) {
    for (std::size_t i = 0; i < rows.size(); ++i) out += (i > 0 ? "\t" : "") + rows[i][k];
    out += '\n';
  }
  return out;
}

struct column_files {
  temporary_folder folder;
  std::string x = folder.write("x.tsv", sample_table);
  std::string z = folder.write("z.tsv", covariates);
  std::string w = folder.write("w.txt", weights);

  command_result run(std::vector<std::string> arguments) const {
    arguments.insert(arguments.end(), {"--backend", "cpu", "-q"});
    return run_command(arguments);
  }
};

// The numbers of the first line behind the header.
std::vector<double> first_edge(const std::string& out) {
  std::istringstream lines(out);
  std::string line;
  std::getline(lines, line);
  std::getline(lines, line);
  std::istringstream fields(line);
  std::string name;
  fields >> name >> name;
  std::vector<double> found;
  for (double value = 0; fields >> value;) found.push_back(value);
  return found;
}

}  // namespace

TEST_CASE("The command gives partial correlations with t and p of fewer degrees", "[cli]") {
  const column_files in;
  const std::string report = in.folder.path("report");
  const auto pearson = in.run({"pearson", in.x, "--covariates", in.z, "--report", report});
  INFO(pearson.err);
  REQUIRE(pearson.exit_code == 0);
  CHECK(pearson.out.starts_with("name_i\tname_j\tr\tt\tp\na\tb\t0.846250576736"));
  const auto edge = first_edge(pearson.out);
  REQUIRE(edge.size() == 3);
  const double r = 0.8462505767369389;
  CHECK(std::abs(edge[1] - r * std::sqrt(6 / (1 - r * r))) < 1e-4);
  CHECK(std::abs(edge[2] - 0.00807063623861903) < 1e-7);
  CHECK(report_value(read_file(report), "observations") == "8");
  CHECK(report_value(read_file(report), "cols") == "10");

  const auto spearman = in.run({"spearman", in.x, "--covariates", in.z});
  CHECK(std::abs(first_edge(spearman.out)[0] - 0.8477962935223117) < 1e-14);
  const auto plain = in.run({"spearman", in.x});
  CHECK(std::abs(first_edge(plain.out)[0] - first_edge(spearman.out)[0]) > 0.01);
}

TEST_CASE("Tables of covariates are read as the input is", "[cli]") {
  const column_files in;
  const auto wanted = in.run({"pearson", in.x, "--covariates", in.z, "--max-p", "0.01"});
  CHECK(wanted.exit_code == 0);
  const std::string tx = in.folder.write("tx.tsv", transposed(sample_table));
  const std::string tz = in.folder.write("tz.tsv", transposed(covariates));
  CHECK(in.run({"pearson", tx, "--transpose", "--covariates", tz, "--max-p", "0.01"}).out ==
        wanted.out);
  // Without the names that both have.
  const auto some = in.run({"pearson", in.x, "--covariates", in.z, "--skip-columns", "s3,s10"});
  INFO(some.err);
  CHECK(some.exit_code == 0);
  CHECK(some.out != wanted.out);
}

TEST_CASE("The command takes weights in a row or in a column", "[cli]") {
  const column_files in;
  const auto cosine = in.run({"cosine", in.x, "--weights", in.w});
  CHECK(cosine.out.starts_with("name_i\tname_j\tcosine\na\tb\t0.98401053448756"));
  const auto plain = in.run({"pearson", in.x, "--weights", in.w});
  CHECK(plain.out.starts_with("name_i\tname_j\tr\na\tb\t0.95608528529742"));
  const std::string row = in.folder.write("row.csv", "1,2,0.5,1,3,1,0,2,1,1.5\n");
  CHECK(in.run({"pearson", in.x, "--weights", row}).out == plain.out);
  const auto tested = in.run({"pearson", in.x, "--weights", in.w, "--effective-observations", "8",
                              "--covariates", in.z, "--max-p", "0.5"});
  INFO(tested.err);
  CHECK(tested.out.starts_with("name_i\tname_j\tr\tt\tp\na\tb\t0.91915647363257"));
  const auto edge = first_edge(tested.out);
  const double r = 0.9191564736325719;
  CHECK(std::abs(edge[1] - r * std::sqrt(4 / (1 - r * r))) < 1e-4);
  // Partners without p, in a file of records too.
  const auto partners = in.run({"pearson", in.x, "--weights", in.w, "--keep", "top-k", "-k", "1"});
  CHECK(partners.out.starts_with("name_i\trank\tname_j\tr\na\t1\tc\t-0.99158623740428"));
}

TEST_CASE("The command computes t, p and intervals for an effective sample size", "[cli]") {
  const column_files in;
  const std::string report = in.folder.path("report.json");
  const auto plain = first_edge(in.run({"pearson", in.x}).out);
  const auto got = in.run({"pearson", in.x, "--effective-observations", "6.5", "--confidence",
                           "0.95", "--report", report});
  INFO(got.err);
  const auto edge = first_edge(got.out);
  const double r = plain[0];
  CHECK(edge[0] == r);
  CHECK(std::abs(edge[1] / (r * std::sqrt(4.5 / (1 - r * r))) - 1) < 1e-5);
  CHECK(edge[2] > plain[2]);
  const double half = 1.959963984540054 / std::sqrt(3.5);
  CHECK(std::abs(edge[3] - std::tanh(std::atanh(r) - half)) < 1e-5);
  CHECK(std::abs(edge[4] - std::tanh(std::atanh(r) + half)) < 1e-5);
  CHECK(report_value(read_file(report), "observations") == "6.5");
}

TEST_CASE("The command refuses what covariates and weights do not go with", "[cli]") {
  const column_files in;
  constexpr int usage = 2;
  constexpr int input = 3;
  check_refused(in.run({"cosine", in.x, "--covariates", in.z}), usage,
                "--covariates: not offered for Cosine");
  check_refused(in.run({"spearman", in.x, "--weights", in.w}), usage,
                "--weights: not offered for Spearman");
  check_refused(in.run({"pearson", in.x, "--weights", in.w, "--max-p", "0.1"}), usage,
                "without --effective-observations has no significance test");
  check_refused(in.run({"kendall", in.x, "--effective-observations", "8"}), usage,
                "--effective-observations: not offered for Kendall");
  check_refused(in.run({"cosine", in.x, "--effective-observations", "8"}), usage,
                "--effective-observations: not offered for Cosine");
  check_refused(in.run({"spearman", in.x, "--effective-observations", "8", "--p-method", "exact"}),
                usage, "--p-method: exact is not offered with --effective-observations");
  check_refused(in.run({"pearson", in.x, "--effective-observations", "8", "--nan", "pairwise"}),
                usage, "--nan: pairwise is not offered with --effective-observations");
  check_refused(in.run({"pearson", in.x, "--effective-observations", "2.9"}), usage,
                "expected a number from 3");
  check_refused(in.run({"pearson", in.x, "--covariates", in.z, "--nan", "pairwise"}), usage,
                "--nan: pairwise is not offered with --covariates");
  check_refused(in.run({"spearman", in.x, "--covariates", in.z, "--fold", "always"}), usage,
                "--fold: always is not offered with --covariates");
  check_refused(in.run({"pearson", in.x, "--covariates", "-"}), usage, "--covariates -");
  const std::string few = in.folder.write("few.txt", "1 2 3\n");
  check_refused(in.run({"pearson", in.x, "--covariates", few}), input,
                "got 3 columns of numbers, expected 10");
  check_refused(in.run({"pearson", in.x, "--weights", few}), input, "got 1 x 3 numbers");
  const std::string missing = in.folder.write("missing.txt", "1 2 3 4 NA 6 7 8 9 1\n");
  check_refused(in.run({"pearson", in.x, "--covariates", missing}), input, "missing");
  const std::string alike = in.folder.write("alike.txt", "1 1 1 1 1 1 1 1 1 1\n");
  check_refused(in.run({"pearson", in.x, "--covariates", alike}), input,
                "--covariates: the values of row 0 are all equal");
  check_refused(in.run({"pearson", in.x, "--covariates", in.z, "-o", in.z}), usage, "--covariates");
}

TEST_CASE("Parts of other covariates or weights are no parts of the job", "[cli]") {
  const column_files in;
  const auto part = [&](const std::vector<std::string>& more, const std::string& number) {
    std::vector<std::string> words{"pearson", in.x,   "--max-p",      "0.5",
                                   "--part",  number, "--output-dir", in.folder.path("parts")};
    words.insert(words.end(), more.begin(), more.end());
    return in.run(words);
  };
  REQUIRE(part({"--covariates", in.z}, "1/2").exit_code == 0);
  const std::string other = in.folder.write("other.tsv", "1 2 3 4 5 6 7 8 9 11\n");
  constexpr int input = 3;
  check_refused(part({}, "2/2"), input, "of another job: --covariates is");
  check_refused(part({"--covariates", other}, "2/2"), input, "of another job: --covariates is");
  check_refused(
      part({"--covariates", in.z, "--weights", in.w, "--effective-observations", "9.5"}, "2/2"),
      input, "of another job: --weights is absent");
}
