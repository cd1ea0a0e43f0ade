// Edges for other programs: .mtx, .graphml, .sif and .ncol, read back by hand and held to the TSV.
#include <filesystem>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "cli/run_command.hpp"
#include "support/catch.hpp"

namespace {

namespace fs = std::filesystem;
using gpu_test::command_result;
using gpu_test::read_file;
using gpu_test::run_command;
using words = std::vector<std::string>;

constexpr int exit_usage = 2;
constexpr int exit_resources = 4;

/// Rows in groups that move together or against each other, with the names given or "g<i>".
std::string table(int rows, const std::vector<std::string>& names = {}) {
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

std::vector<words> lines_of(const std::string& text, char separator) {
  std::vector<words> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    words& fields = lines.emplace_back();
    std::istringstream of_line(line);
    for (std::string field; std::getline(of_line, field, separator);) fields.push_back(field);
  }
  return lines;
}

/// name_i, name_j, statistic of every edge of a TSV.
std::vector<words> edges_of(const words& arguments) {
  words line = arguments;
  line.insert(line.end(), {"--quiet", "--format", "tsv"});
  const command_result result = run_command(line);
  INFO(result.err);
  REQUIRE(result.exit_code == 0);
  std::vector<words> edges = lines_of(result.out, '\t');
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

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

}  // namespace

TEST_CASE("Edges as .ncol and .sif are those of the table", "[cli][networks]") {
  const gpu_test::temporary_folder folder;
  const words job{"spearman", folder.write("in.tsv", table(24)), "--min-abs", "0.6"};
  const std::vector<words> edges = edges_of(job);
  REQUIRE(edges.size() > 20);
  const std::vector<words> ncol = lines_of(written(job, folder.path("out.ncol")), ' ');
  CHECK(ncol == edges);
  const std::vector<words> sif = lines_of(written(job, folder.path("out.sif")), '\t');
  REQUIRE(sif.size() == edges.size());
  bool has_negative = false;
  for (std::size_t i = 0; i < edges.size(); ++i) {
    const bool is_negative = edges[i][2].front() == '-';
    has_negative = has_negative || is_negative;
    CHECK(sif[i] == words{edges[i][0], is_negative ? "negative" : "positive", edges[i][1]});
  }
  CHECK(has_negative);
}

TEST_CASE("Edges as .mtx are the lower triangle of a symmetric matrix", "[cli][networks]") {
  const gpu_test::temporary_folder folder;
  const std::string input = folder.write("in.tsv", table(24));
  const words job{"pearson", input, "--min-abs", "0.6"};
  const std::vector<words> edges = edges_of(job);
  const std::vector<words> matrix = lines_of(written(job, folder.path("out.mtx")), ' ');
  REQUIRE(matrix.size() == edges.size() + 2);
  CHECK(matrix[0] == words{"%%MatrixMarket", "matrix", "coordinate", "real", "symmetric"});
  CHECK(matrix[1] == words{"24", "24", std::to_string(edges.size())});
  for (std::size_t i = 0; i < edges.size(); ++i) {
    const int row = std::stoi(edges[i][0].substr(1));
    const int col = std::stoi(edges[i][1].substr(1));
    CHECK(matrix[i + 2] == words{std::to_string(col + 1), std::to_string(row + 1), edges[i][2]});
  }
  // Of two tables: all pairs, where they are.
  const std::string other = folder.write("y.tsv", table(7));
  const words across{"pearson", input, "--against", other, "--min-abs", "0.6"};
  const std::vector<words> pairs = edges_of(across);
  const std::vector<words> general = lines_of(written(across, folder.path("across.mtx")), ' ');
  REQUIRE(general.size() == pairs.size() + 2);
  CHECK(general[0].back() == "general");
  CHECK(general[1] == words{"24", "7", std::to_string(pairs.size())});
  CHECK(general[2] == words{std::to_string(std::stoi(pairs[0][0].substr(1)) + 1),
                            std::to_string(std::stoi(pairs[0][1].substr(1)) + 1), pairs[0][2]});
}

TEST_CASE("Edges as .graphml have names of any signs, p and q", "[cli][networks]") {
  const gpu_test::temporary_folder folder;
  const std::string input =
      folder.write("in.tsv", table(12, {"a<b & \"c\"", "bad\xff utf", "same", "same", "5' end"}));
  const words job{"spearman", input, "--max-p", "0.5", "--adjust", "bh"};
  const std::vector<words> edges = edges_of(job);
  const std::string text = written(job, folder.path("out.graphml"));
  CHECK(count_of(text, "<edge ") == edges.size());
  CHECK(count_of(text, "<data key=\"q\">") == edges.size());
  CHECK(count_of(text, ">a&lt;b &amp; &quot;c&quot;<") == 1);
  CHECK(count_of(text, ">bad\xEF\xBF\xBD utf<") == 1);
  CHECK(count_of(text, ">same<") == 2);
  CHECK(text.find("attr.name=\"rho\" attr.type=\"double\"") != std::string::npos);
  words with_bounds = job;
  with_bounds.insert(with_bounds.end(), {"--confidence", "0.95"});
  const std::string bounds = written(with_bounds, folder.path("bounds.graphml"));
  CHECK(count_of(bounds, "<data key=\"l\">") == edges.size());
  CHECK(count_of(bounds, "<data key=\"u\">") == edges.size());
  CHECK(bounds.find("attr.name=\"upper\" attr.type=\"double\"") != std::string::npos);
  // Around the surrogates, which XML does not take.
  const std::string edge_input =
      folder.write("around.tsv",
                   table(12, {"a\xED\x9F\xBF", "b\xED\xA0\x80", "c\xED\xBF\xBF", "d\xEE\x80\x80"}));
  const std::string around =
      written({"spearman", edge_input, "--max-p", "0.9"}, folder.path("around.graphml"));
  CHECK(count_of(around, ">a\xED\x9F\xBF<") == 1);
  CHECK(count_of(around, ">d\xEE\x80\x80<") == 1);
  for (const char* name : {"b", "c"}) {
    CHECK(count_of(around, std::string(">") + name + "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD<") == 1);
  }
  // Rows without an edge are no nodes, and a measure without a test has no p.
  const std::string few =
      written({"cosine", input, "--min-abs", "0.999999"}, folder.path("few.graphml"));
  CHECK(count_of(few, "<node ") == 0);
  CHECK(count_of(few, "attr.name=\"p\"") == 0);
  const std::string across = written({"spearman", input, "--against", input, "--max-p", "0.5"},
                                     folder.path("across.graphml"));
  CHECK(count_of(across, "<data key=\"table\">y</data>") > 1);
  CHECK(across.find("source=\"x0\" target=\"y0\"") != std::string::npos);
}

TEST_CASE("Names that a network of names cannot hold are refused before any work",
          "[cli][networks]") {
  const gpu_test::temporary_folder folder;
  const auto refused = [&](const std::vector<std::string>& names, const std::string& file,
                           const std::string& part) {
    const std::string input = folder.write("names.tsv", table(8, names));
    const command_result result = run_command({"spearman", input, "-o", folder.path(file)});
    INFO(result.err);
    CHECK(result.exit_code == exit_usage);
    CHECK(result.err.find(part) != std::string::npos);
    CHECK_FALSE(fs::exists(folder.path(file)));
  };
  refused({"a", "b", "a"}, "out.sif", "got the name 'a' of row 1 and of row 3");
  refused({"a", "b", "a"}, "out.ncol", "got the name 'a' of row 1 and of row 3");
  refused({"a", "b c"}, "out.ncol", "'b c' of row 2, expected names without blanks");
  const std::string input = folder.write("x.tsv", table(8));
  const command_result both =
      run_command({"spearman", input, "--against", input, "-o", folder.path("out.sif")});
  CHECK(both.exit_code == exit_usage);
  CHECK(both.err.find("'g0' of row 1 of INPUT and of row 1 of --against") != std::string::npos);
}

TEST_CASE("Names that are numbers give way to numbers of rows in .ncol", "[cli][networks]") {
  const gpu_test::temporary_folder folder;
  std::vector<std::string> ids;
  for (int i = 0; i < 10; ++i) ids.push_back(std::to_string(100287102 + 7 * (i * 3 % 10)));
  const words job{
      "spearman", folder.write("in.tsv", table(10, ids)), "--min-abs", "0.3", "--row-names", "yes"};
  const std::vector<words> edges = edges_of(job);
  const std::vector<words> ncol = lines_of(written(job, folder.path("out.ncol")), ' ');
  REQUIRE(ncol.size() == edges.size());
  for (std::size_t i = 0; i < edges.size(); ++i) {
    CHECK(ids[std::stoul(ncol[i][0])] == edges[i][0]);
    CHECK(ids[std::stoul(ncol[i][1])] == edges[i][1]);
  }
  words noisy = job;
  noisy.insert(noisy.end(), {"-o", folder.path("noted.ncol")});
  CHECK(run_command(noisy).err.find("note: ") != std::string::npos);
  CHECK(written(job, folder.path("out.sif")).find("100287102") != std::string::npos);
}

TEST_CASE("Rows of y have numbers behind those of x in .ncol", "[cli][networks]") {
  const gpu_test::temporary_folder folder;
  std::vector<std::string> ids;
  for (int i = 0; i < 10; ++i) ids.push_back(std::to_string(500 + i));
  const std::vector<std::string> of_y{ids.begin() + 2, ids.begin() + 8};
  const words job{"spearman",    folder.write("x.tsv", table(10, ids)),
                  "--against",   folder.write("y.tsv", table(6, of_y)),
                  "--min-abs",   "0.3",
                  "--row-names", "yes"};
  const std::vector<words> edges = edges_of(job);
  const std::vector<words> ncol = lines_of(written(job, folder.path("out.ncol")), ' ');
  REQUIRE(ncol.size() == edges.size());
  for (std::size_t i = 0; i < edges.size(); ++i) {
    CHECK(ids[std::stoul(ncol[i][0])] == edges[i][0]);
    CHECK(of_y.at(std::stoul(ncol[i][1]) - 10) == edges[i][1]);
  }
}

TEST_CASE("A network of more than a million edges is refused, a matrix is not", "[cli][networks]") {
  const gpu_test::temporary_folder folder;
  std::string text;
  for (int i = 0; i < 1500; ++i) {
    for (int j = 0; j < 6; ++j) text += std::to_string((i * 37 + j * j * 11) % 97) + " ";
    text += '\n';
  }
  const std::string input = folder.write("in.txt", text);
  const std::string out = folder.path("out.sif");
  // Told beforehand: every pair is kept.
  const command_result planned = run_command({"spearman", input, "-o", out});
  INFO(planned.err);
  CHECK(planned.exit_code == exit_resources);
  CHECK(planned.err.find("--format sif: got 1124250 edges, expected at most 1000000") !=
        std::string::npos);
  // Told at the end: the sample of rows cannot be sure of it.
  const command_result counted = run_command({"spearman", input, "-o", out, "--min-abs", "0.03"});
  INFO(counted.err);
  CHECK(counted.exit_code == (fs::exists(out) ? 0 : exit_resources));
  CHECK(run_command({"spearman", input, "-o", folder.path("out.mtx"), "--quiet"}).exit_code == 0);
  CHECK(run_command({"spearman", input, "-o", out, "--quiet", "--force"}).exit_code == 0);
  for (const auto& entry : fs::directory_iterator(fs::path(out).parent_path())) {
    CHECK(entry.path().extension() != ".partial");
  }
}

TEST_CASE("Formats of networks go with edges alone", "[cli][networks]") {
  const gpu_test::temporary_folder folder;
  const std::string input = folder.write("in.tsv", table(8));
  const auto refused = [&](const words& arguments, const std::string& part) {
    const command_result result = run_command(arguments);
    INFO(result.err);
    CHECK(result.exit_code == exit_usage);
    CHECK(result.err.find(part) != std::string::npos);
  };
  const std::string out = folder.path("out.mtx");
  refused({"spearman", input, "--keep", "dense", "-o", out}, "--format mtx needs --keep edges");
  refused({"spearman", input, "--keep", "top-k", "--format", "graphml"}, "needs --keep edges");
  refused({"spearman", input, "-o", out, "--resume"}, "does not go with --resume");
  refused({"spearman", input, "--part", "1/2", "--output-dir", folder.path("d"), "--format", "sif"},
          "does not go with --part");
  refused({"rank", input, "-o", out}, "which edges alone have");
  refused({"rank", input, "--format", "sif"}, "sif");
  // Compressed, and to standard output.
  CHECK(run_command({"spearman", input, "-o", folder.path("out.mtx.gz"), "--quiet"}).exit_code ==
        0);
  CHECK(run_command({"spearman", input, "--format", "ncol", "--quiet"}).out.size() > 100);
}
