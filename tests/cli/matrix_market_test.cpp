// Edges as a sparse matrix, read back by hand and held to the TSV.
#include <sstream>
#include <string>
#include <vector>

#include "cli/small_tables.hpp"
#include "support/catch.hpp"

using namespace gpu_test;

namespace {

/// Rows in groups that move together or against each other, with the names given or "g<i>".
std::string graded_table(int rows, const std::vector<std::string>& names = {}) {
  std::string text = "gene\ta\tb\tc\td\tu\tv\tw\tx\n";
  unsigned state = 11;
  for (int i = 0; i < rows; ++i) {
    const auto at = static_cast<std::size_t>(i);
    text += at < names.size() ? names[at] : "g" + std::to_string(i);
    for (int j = 0; j < 8; ++j) {
      state = state * 1664525U + 1013904223U;
      const int trend = (i % 2 == 0 ? 1 : -1) * j * (i % 3 + 1) * 10;
      text += "\t" + std::to_string(trend + static_cast<int>((state >> 16) % 40));
    }
    text += '\n';
  }
  return text;
}

/// name_i, name_j, statistic of every edge of a TSV.
std::vector<words> edges_of(const words& arguments) {
  words line = arguments;
  line.insert(line.end(), {"--quiet", "--format", "tsv"});
  const command_result result = run_command(line);
  INFO(result.err);
  REQUIRE(result.exit_code == 0);
  std::vector<words> edges = fields_of(result.out, '\t');
  edges.erase(edges.begin());
  for (words& fields : edges) fields.resize(3);
  return edges;
}

std::string written(words arguments, const std::string& file) {
  arguments.insert(arguments.end(), {"--quiet", "-o", file});
  const command_result result = run_command(arguments);
  INFO(result.err);
  REQUIRE(result.exit_code == 0);
  return read_file(file);
}

}  // namespace

TEST_CASE("Edges as .mtx are the lower triangle of a symmetric matrix", "[cli][mtx]") {
  const temporary_folder folder;
  const std::string input = folder.write("in.tsv", graded_table(24));
  const words job{"pearson", input, "--min-abs", "0.6"};
  const std::vector<words> edges = edges_of(job);
  const std::vector<words> matrix = fields_of(written(job, folder.path("out.mtx")), ' ');
  REQUIRE(matrix.size() == edges.size() + 2);
  CHECK(matrix[0] == words{"%%MatrixMarket", "matrix", "coordinate", "real", "symmetric"});
  CHECK(matrix[1] == words{"24", "24", std::to_string(edges.size())});
  for (std::size_t i = 0; i < edges.size(); ++i) {
    const int row = std::stoi(edges[i][0].substr(1));
    const int col = std::stoi(edges[i][1].substr(1));
    CHECK(matrix[i + 2] == words{std::to_string(col + 1), std::to_string(row + 1), edges[i][2]});
  }
  // Of two tables: all pairs, where they are.
  const std::string other = folder.write("y.tsv", graded_table(7));
  const words across{"pearson", input, "--against", other, "--min-abs", "0.6"};
  const std::vector<words> pairs = edges_of(across);
  const std::vector<words> general = fields_of(written(across, folder.path("across.mtx")), ' ');
  REQUIRE(general.size() == pairs.size() + 2);
  CHECK(general[0].back() == "general");
  CHECK(general[1] == words{"24", "7", std::to_string(pairs.size())});
  CHECK(general[2] == words{std::to_string(std::stoi(pairs[0][0].substr(1)) + 1),
                            std::to_string(std::stoi(pairs[0][1].substr(1)) + 1), pairs[0][2]});
}

TEST_CASE("A sparse matrix goes with edges alone", "[cli][mtx]") {
  const temporary_folder folder;
  const std::string input = folder.write("in.tsv", graded_table(8));
  const auto refused = [&](const words& arguments, const std::string& part) {
    check_refused(run_command(arguments), exit_usage, part);
  };
  const std::string out = folder.path("out.mtx");
  refused({"spearman", input, "--keep", "dense", "-o", out}, "--format mtx needs --keep edges");
  refused({"spearman", input, "--keep", "top-k", "--format", "mtx"}, "needs --keep edges");
  refused({"spearman", input, "-o", out, "--resume"}, "does not go with --resume");
  refused({"spearman", input, "--part", "1/2", "--output-dir", folder.path("d"), "--format", "mtx"},
          "does not go with --part");
  refused({"rank", input, "-o", out}, "which is only for edges");
  refused({"rank", input, "--format", "mtx"}, "mtx");
  // Compressed, and to standard output.
  CHECK(run_command({"spearman", input, "-o", folder.path("out.mtx.gz"), "--quiet"}).exit_code ==
        0);
  CHECK(run_command({"spearman", input, "--format", "mtx", "--quiet"}).out.size() > 100);
}

TEST_CASE("Formats that Python writes are refused with the call that does", "[cli][mtx]") {
  const temporary_folder folder;
  const std::string input = folder.write("in.tsv", graded_table(8));
  for (const std::string name : {"graphml", "sif", "ncol", "parquet", "feather"}) {
    const command_result result =
        run_command({"spearman", input, "-o", folder.path("out." + name)});
    INFO(result.err);
    CHECK(result.exit_code == exit_usage);
    CHECK(result.err.find("Python does: ") != std::string::npos);
    CHECK(result.err.find("gs.edges(x, ...).to_" +
                          (name == "parquet" || name == "feather" ? std::string("arrow") : name)) !=
          std::string::npos);
  }
}
