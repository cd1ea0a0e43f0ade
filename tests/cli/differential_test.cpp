// gpu-similarity differential.
#include <cmath>
#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include <gpu/differential.hpp>
#include <gpu/matrix.hpp>

#include "cli/run_command.hpp"
#include "cli/small_tables.hpp"
#include "support/catch.hpp"

using namespace gpu_test;

namespace {

gpu::matrix<double> values() {
  gpu::matrix<double> out(60, 12);
  std::istringstream text(numbers());
  for (gpu::index_t i = 0; i < 60; ++i) {
    for (gpu::index_t k = 0; k < 12; ++k) text >> out(i, k);
  }
  return out;
}

// The values as a table with names.
std::string named() {
  std::string text = "id";
  for (int k = 0; k < 12; ++k) text += "\tc" + std::to_string(k);
  std::istringstream lines(numbers());
  std::string line;
  for (int i = 0; std::getline(lines, line); ++i) {
    std::istringstream fields(line);
    text += "\ng" + std::to_string(i);
    for (std::string field; fields >> field;) text += "\t" + field;
  }
  return text + "\n";
}

}  // namespace

TEST_CASE("differential says why there is no column q", "[cli][differential]") {
  const files in(numbers());
  const std::vector<std::string> job{
      "differential", in.input, "--groups", "a,b,a,b,a,b,a,b,a,b,a,b", "--adjust", "bh"};
  const auto said = [&](std::vector<std::string> more) {
    more.insert(more.begin(), job.begin(), job.end());
    const auto result = run_command(more);
    CHECK(result.exit_code == 0);
    return result.err;
  };
  const std::string reason = "there is no column q with ";
  CHECK(said({"--min-abs-z", "0.5"}).find(reason + "--min-abs-z") != std::string::npos);
  CHECK(said({"--keep", "top-k", "-k", "2"}).find(reason + "--keep top-k") != std::string::npos);
  CHECK(said({}).find(reason) == std::string::npos);
  CHECK(said({"--keep", "counts"}).find(reason) == std::string::npos);
  CHECK(said({"--min-abs-z", "0.5", "-q"}).find(reason) == std::string::npos);
}

TEST_CASE("differential writes what the library finds", "[cli][differential]") {
  const files in(numbers());
  const auto text = in.run({"differential", "--groups", "a,b,a,b,a,b,a,b,a,b,-,NA", "--measure",
                            "spearman", "--max-p", "0.2", "--adjust", "bh"},
                           "out.tsv");
  const std::vector<gpu::index_t> first{0, 2, 4, 6, 8};
  const std::vector<gpu::index_t> second{1, 3, 5, 7, 9};
  const auto wanted = gpu::differential_pairs(
      gpu::measure::spearman, values(), {first, second}, {},
      gpu::differential_edge_sink{
          .keep = {.max_p = 0.2, .adjust = gpu::adjustment::benjamini_hochberg}});
  std::istringstream lines(text);
  std::string line;
  std::getline(lines, line);
  CHECK(line == "name_i\tname_j\trho_a\trho_b\tz\tp\tq");
  std::size_t e = 0;
  for (; std::getline(lines, line); ++e) {
    REQUIRE(e < wanted.edges.size());
    const gpu::differential_edge& own = wanted.edges[e];
    std::istringstream fields(line);
    std::vector<std::string> all;
    for (std::string field; fields >> field;) all.push_back(field);
    REQUIRE(all.size() == 7);
    CHECK(all[0] == "X" + std::to_string(own.row + 1));
    CHECK(all[1] == "X" + std::to_string(own.col + 1));
    CHECK(std::stod(all[2]) == own.first);
    CHECK(std::stod(all[3]) == own.second);
    const double z = std::strtod(all[4].c_str(), nullptr);
    CHECK((z == own.z || std::abs(z - own.z) <= 1e-5 * std::abs(own.z)));
    CHECK(std::stod(all[6]) >= std::stod(all[5]));
    CHECK(std::stod(all[6]) <= 0.2);
  }
  CHECK(e == wanted.edges.size());
  CHECK(e > 3);
}

TEST_CASE("groups of differential come from a list or a file", "[cli][differential]") {
  const files in(named());
  const auto run = [&](const std::string& groups) {
    return in.run({"differential", "--groups", groups, "--min-abs-z", "1"}, "out.csv");
  };
  const auto wanted = run("n,n,n,n,n,t,t,t,t,t,-,-");
  CHECK(wanted.starts_with("name_i,name_j,r_n,r_t,z,p\ng"));
  std::string in_order;
  std::string by_name;
  for (int k = 11; k >= 0; --k) {
    const std::string label = k < 5 ? "n" : k < 10 ? "t" : "-";
    in_order.insert(0, label + "\n");
    by_name += "c" + std::to_string(k) + "\t" + label + "\r\n";
  }
  CHECK(run(in.folder.write("order.txt", in_order)) == wanted);
  CHECK(run(in.folder.write("names.txt", by_name)) == wanted);
}

TEST_CASE("groups of differential that are wrong are named", "[cli][differential]") {
  const files in(named());
  const auto refused = [&](const std::vector<std::string>& words, int code) {
    std::vector<std::string> all{"differential", in.input, "-q"};
    all.insert(all.end(), words.begin(), words.end());
    const auto result = run_command(all);
    CHECK(result.exit_code == code);
    CHECK(result.out.empty());
    return result.err;
  };
  const auto says = [](const std::string& text, const std::string& part) {
    INFO(text);
    return text.find(part) != std::string::npos;
  };
  CHECK(says(refused({}, exit_usage), "--groups"));
  CHECK(says(refused({"--groups", "a,b"}, exit_usage), "got 2 labels"));
  CHECK(says(refused({"--groups", "a,a,a,a,b,b,b,b,c,c,c,c"}, exit_usage), "third group"));
  CHECK(says(refused({"--groups", "a,a,a,b,b,b,b,b,b,b,b,b"}, exit_usage),
             "got groups of 3 and 9 columns"));
  const auto unknown = in.folder.write("unknown.txt", "c0\ta\nd1\tb\n");
  CHECK(says(refused({"--groups", unknown}, exit_bad_input), "got column 'd1'"));
  const std::string groups = "a,a,a,a,b,b,b,b,-,-,-,-";
  CHECK(says(refused({"--groups", groups, "--format", "npy"}, exit_usage),
             "--format: got npy, expected csv|tsv"));
  CHECK(says(refused({"--groups", groups, "-o", in.folder.path("out.npy")}, exit_usage), "npy"));
  CHECK(says(refused({"--groups", ""}, exit_usage), "--groups: got an empty text"));
  CHECK(says(refused({"--groups", "", "--part", "1/2", "--output-dir", in.folder.path("parts")},
                     exit_usage),
             "--groups: got an empty text"));
  CHECK(says(refused({"--groups", groups, "--max-p", "2"}, exit_usage), "--max-p"));
  CHECK(says(refused({"--groups", groups, "--measure", "kendall"}, exit_usage), "--measure"));
}

TEST_CASE("differential writes partners and degrees", "[cli][differential]") {
  const files in(named());
  const std::string groups = "n,n,n,n,n,t,t,t,t,t,-,-";
  const std::vector<gpu::index_t> first{0, 1, 2, 3, 4};
  const std::vector<gpu::index_t> second{5, 6, 7, 8, 9};
  const gpu::differential_filter keep{.max_p = 0.4, .adjust = gpu::adjustment::none};
  const auto wanted = gpu::differential_pairs(gpu::measure::pearson, values(), {first, second}, {},
                                              gpu::differential_top_k_sink{.k = 3, .keep = keep});
  std::istringstream lines(
      in.run({"differential", "--groups", groups, "--keep", "top-k", "-k", "3", "--max-p", "0.4"},
             "out.tsv"));
  std::string line;
  std::getline(lines, line);
  CHECK(line == "name_i\trank\tname_j\tr_n\tr_t\tz\tp");
  std::size_t count = 0;
  for (gpu::index_t i = 0; i < 60; ++i) {
    for (gpu::index_t e = 0; e < gpu::index_t{wanted.count[static_cast<std::size_t>(i)]}; ++e) {
      REQUIRE(std::getline(lines, line));
      std::istringstream fields(line);
      std::vector<std::string> all;
      for (std::string field; fields >> field;) all.push_back(field);
      REQUIRE(all.size() == 7);
      CHECK(all[0] == "g" + std::to_string(i));
      CHECK(all[1] == std::to_string(e + 1));
      CHECK(all[2] == "g" + std::to_string(wanted.index(i, e)));
      CHECK(std::stod(all[3]) == wanted.first(i, e));
      CHECK(std::stod(all[4]) == wanted.second(i, e));
      ++count;
    }
  }
  CHECK(!std::getline(lines, line));
  CHECK(count > 60);
  const auto degrees = gpu::differential_pairs(gpu::measure::pearson, values(), {first, second}, {},
                                               gpu::differential_count_sink{keep});
  std::string text = "name,degree\n";
  for (std::size_t i = 0; i < 60; ++i) {
    text += "g" + std::to_string(i) + "," + std::to_string(degrees.degree[i]) + "\n";
  }
  CHECK(in.run({"differential", "--groups", groups, "--keep", "counts", "--max-p", "0.4"},
               "out.csv") == text);
  const auto q = in.run(
      {"differential", "--groups", groups, "--keep", "top-k", "-k", "1", "--adjust", "bonferroni"},
      "q.tsv");
  CHECK(q.starts_with("name_i\trank\tname_j\tr_n\tr_t\tz\tp\tq\n"));
  const auto refused = run_command({"differential", in.input, "--groups", groups, "-k", "2"});
  CHECK(refused.exit_code == exit_usage);
  CHECK(refused.err.find("-k needs --keep top-k") != std::string::npos);
}

TEST_CASE("names in a file of groups are those of all columns, once", "[cli][differential]") {
  const files in(named());
  std::string lines;
  for (int k = 0; k < 12; ++k) {
    lines += "c" + std::to_string(k) + "," + (k < 5 ? "n" : k < 10 ? "t" : "-") + "\n";
  }
  const auto run = [&](const std::string& groups, const std::string& input) {
    return run_command({"differential", input, "-q", "--groups", in.folder.write("g.csv", groups),
                        "--min-abs-z", "1"});
  };
  const auto refused = [&](const std::string& groups, const std::string& input,
                           const std::string& why) {
    const auto result = run(groups, input);
    INFO(result.err);
    CHECK(result.exit_code == exit_bad_input);
    CHECK(result.err.find(why) != std::string::npos);
  };
  const std::string wanted = run(lines, in.input).out;
  CHECK(wanted.starts_with("name_i"));
  refused(lines + "c0,t\n", in.input, "names column 'c0' twice");
  refused(lines.substr(lines.find('\n') + 1), in.input, "has no label for column 'c0'");
  std::string header = read_file(in.input);
  header.replace(header.find("\tc11"), 4, "\tc0");
  refused(lines, in.folder.write("twice.txt", header), "two that are named 'c0'");
  // As spreadsheets write it: a byte order mark, quotes, blanks at the end of a line.
  std::string quoted = "\xEF\xBB\xBF";
  for (const char c : lines) {
    if (c == ',') {
      quoted += "\", \"";
    } else if (c == '\n') {
      quoted += "\" \r\n";
    } else {
      if (c == 'c') quoted += '"';
      quoted += c;
    }
  }
  const auto of_spreadsheet = run(quoted, in.input);
  CHECK(of_spreadsheet.exit_code == 0);
  CHECK(of_spreadsheet.out == wanted);
}
