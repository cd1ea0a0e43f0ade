// What the command computes and writes: reports with known answers, every result and format.
#include <cstring>
#include <sstream>
#include <string>
#include <vector>

#include "cli/run_command.hpp"
#include "support/catch.hpp"
#include "support/data_files.hpp"
#include "support/skip.hpp"

using namespace gpu_test;

namespace {

const std::string demo =
    std::string(GPU_SIMILARITY_SOURCE_DIR) + "/examples/data/fashion_5000x30.txt";

/// Runs a job with a report and returns the report.
std::string report_of(std::vector<std::string> arguments) {
  const temporary_folder folder;
  arguments.insert(arguments.end(), {"--report", folder.path("report.json"), "--backend", "cpu"});
  const auto result = run_command(arguments);
  INFO(result.err);
  CHECK(result.exit_code == 0);
  return read_file(folder.path("report.json"));
}

/// Four rows: 0 and 1 rise together, 2 falls, 3 is constant.
constexpr const char* small_table =
    "id a b c d e\n"
    "up 1 2 3 4 5\n"
    "rise 2 3 5 7 11\n"
    "fall 9 7 6 4 1\n"
    "flat 3 3 3 3 3\n";

}  // namespace

TEST_CASE("The demo table gives its known answers", "[cli][report]") {
  SECTION("p <= 0.001, all edges") {
    const auto report = report_of({"spearman", demo, "--max-p", "0.001", "-o", "/dev/null"});
    CHECK(report_value(report, "rows") == "5000");
    CHECK(report_value(report, "cols") == "30");
    CHECK(report_value(report, "constant_rows") == "0");
    CHECK(report_value(report, "pairs_tested") == "12497500");
    CHECK(report_value(report, "pairs_kept") == "3182212");
    CHECK(report_value(report, "edge_sum") == "26421216136289");
    CHECK(report_value(report, "max_p_effective") == "0.001");
    CHECK(report_value(report, "backend") == "\"cpu\"");
    for (const char* key : {"min_abs_effective", "device", "variant", "seconds", "read", "prepare",
                            "pairs", "write", "total"}) {
      CHECK(report_value(report, key) != "absent");
    }
  }
  SECTION("Counts") {
    const std::vector<std::pair<std::vector<std::string>, std::string>> cases{
        {{"--max-p", "0.05"}, "6554845"},
        {{"--max-p", "1e-6"}, "978696"},
        {{"--max-p", "0.05", "--adjust", "bonferroni"}, "342810"},
        {{"--max-p", "0.05", "--adjust", "bh"}, "5528728"},
        {{"--min-abs", "0.8"}, "654186"},
        {{"--min-abs", "1"}, "8"}};
    for (const auto& [cut, kept] : cases) {
      std::vector<std::string> arguments{"spearman", demo, "--keep", "counts"};
      arguments.insert(arguments.end(), cut.begin(), cut.end());
      const auto report = report_of(arguments);
      CHECK(report_value(report, "pairs_kept") == kept);
      CHECK(report_value(report, "edge_sum") == "null");
    }
  }
}

TEST_CASE("Gene expression gives its known answers", "[cli][report]") {
  const auto golub = find_data_file("golub.tsv");
  if (!golub) {
    note_skip(missing::data, "known answers of golub.tsv");
    return;
  }
  const auto report =
      report_of({"spearman", golub->string(), "--max-p", "0.05", "-o", "/dev/null"});
  CHECK(report_value(report, "pairs_kept") == "879588");
  CHECK(report_value(report, "edge_sum") == "2720987703967");
  const auto pearson =
      report_of({"pearson", golub->string(), "--max-p", "0.05", "--keep", "counts"});
  CHECK(report_value(pearson, "pairs_kept") == "831516");
}

TEST_CASE("Edges are written with names, statistic, t and p", "[cli][output]") {
  const temporary_folder folder;
  const std::string input = folder.write("in.txt", small_table);
  const auto result = run_command({"spearman", input});
  INFO(result.err);
  CHECK(result.exit_code == 0);
  CHECK(lines_of(result.out) ==
        std::vector<std::string>{"name_i\tname_j\trho\tp", "up\trise\t1\t0.0166667",
                                 "up\tfall\t-1\t0.0166667", "rise\tfall\t-1\t0.0166667"});
  const auto by_t = run_command({"spearman", input, "--p-method", "t"});
  CHECK(lines_of(by_t.out) ==
        std::vector<std::string>{"name_i\tname_j\trho\tt\tp", "up\trise\t1\tinf\t0",
                                 "up\tfall\t-1\t-inf\t0", "rise\tfall\t-1\t-inf\t0"});
  CHECK(result.err.find("1 constant row has") != std::string::npos);
  CHECK(result.err.find('\r') == std::string::npos);

  const auto pearson = run_command({"pearson", input, "--tail", "greater", "--max-p", "0.1"});
  REQUIRE(lines_of(pearson.out).size() == 2);
  CHECK(lines_of(pearson.out)[0] == "name_i\tname_j\tr\tt\tp");
  CHECK(lines_of(pearson.out)[1].starts_with("up\trise\t0.97227"));
}

TEST_CASE("Kendall's edges and partners have p by the ties of their rows", "[cli][output]") {
  const temporary_folder folder;
  // up and tied have the tau and p of SciPy's kendalltau.
  const std::string input = folder.write("in.txt",
                                         "id a b c d e\n"
                                         "up 12 2 1 12 2\n"
                                         "tied 1 4 7 1 0\n"
                                         "apart 1 2 3 5 4\n");
  const auto edges = run_command({"kendall", input});
  INFO(edges.err);
  REQUIRE(lines_of(edges.out).size() == 4);
  CHECK(lines_of(edges.out)[0] == "name_i\tname_j\ttau\tp");
  CHECK(lines_of(edges.out)[1] == "up\ttied\t-0.47140452079103173\t0.282745");
  const auto top = run_command({"kendall", input, "--keep", "top-k", "-k", "1", "--tail", "less"});
  REQUIRE(lines_of(top.out).size() >= 2);
  CHECK(lines_of(top.out)[0] == "name_i\trank\tname_j\ttau\tp");
  CHECK(lines_of(top.out)[1] == "up\t1\ttied\t-0.47140452079103173\t0.141373");
  const auto cut = run_command({"correlate", "--measure", "kendall", input, "--max-p", "0.28"});
  CHECK(cut.out.find("up\ttied") == std::string::npos);
  const auto adjusted = run_command({"kendall", input, "--adjust", "bonferroni"});
  CHECK(lines_of(adjusted.out).at(0) == "name_i\tname_j\ttau\tp\tq");
}

TEST_CASE("Rows without names are X1, X2, ...", "[cli][output]") {
  const temporary_folder folder;
  const auto result =
      run_command({"spearman", folder.write("in.txt", "1 2 3\n4 5 6\n"), "--quiet"});
  CHECK(lines_of(result.out).at(1) == "X1\tX2\t1\t0.333333");
  CHECK(result.err.empty());
}

TEST_CASE("Edges, degrees and a matrix are written as .npy", "[cli][output]") {
  const temporary_folder folder;
  const std::string input = folder.write("in.txt", small_table);
  const std::string output = folder.path("out.npy");
  const auto written = [&](const std::vector<std::string>& options) {
    std::vector<std::string> arguments{"spearman", input, "--format", "npy", "-o", output};
    arguments.insert(arguments.end(), options.begin(), options.end());
    const auto result = run_command(arguments);
    INFO(result.err);
    CHECK(result.exit_code == 0);
    return read_file(output);
  };
  SECTION("Edges") {
    const std::string bytes = written({});
    CHECK(bytes.find("'shape': (3,)") != std::string::npos);
    CHECK(bytes.find("('statistic', '<f8')") != std::string::npos);
    constexpr std::size_t header = 192;
    constexpr std::size_t record = 24;
    REQUIRE(bytes.size() == header + 3 * record);
    std::uint32_t col = 0;
    double rho = 0;
    std::memcpy(&col, bytes.data() + header + record + 4, sizeof(col));
    std::memcpy(&rho, bytes.data() + header + record + 8, sizeof(rho));
    CHECK(col == 2);
    CHECK(rho == -1);
  }
  SECTION("Degrees") {
    const std::string bytes = written({"--keep", "counts"});
    std::vector<std::uint32_t> degree(4);
    std::memcpy(degree.data(), bytes.data() + 128, 16);
    CHECK(degree == std::vector<std::uint32_t>{2, 2, 2, 0});
  }
  SECTION("Matrix") {
    const std::string bytes = written({"--keep", "dense"});
    REQUIRE(bytes.size() == 128 + 16 * sizeof(double));
    double value = 0;
    std::memcpy(&value, bytes.data() + 128 + sizeof(double), sizeof(value));
    CHECK(value == 1);
  }
  SECTION("Partners") {
    const std::string bytes = written({"--keep", "top-k", "-k", "1"});
    CHECK(bytes.find("'shape': (3,)") != std::string::npos);
  }
}

TEST_CASE("Folded rows have the edges of single rows, and a report says so", "[cli][output]") {
  const temporary_folder folder;
  const std::string input = folder.write("in.txt", small_table);
  const std::string report = folder.path("report.json");
  CHECK(run_command({"spearman", input, "--p-method", "t", "--fold", "always", "--report", report})
            .out == run_command({"spearman", input, "--p-method", "t", "--fold", "never"}).out);
  CHECK(report_value(read_file(report), "patterns") == "2");
}

TEST_CASE("Partners, degrees and a matrix are written as text", "[cli][output]") {
  const temporary_folder folder;
  const std::string input = folder.write("in.txt", small_table);
  const auto top = run_command({"spearman", input, "--keep", "top-k", "-k", "1"});
  CHECK(lines_of(top.out) ==
        std::vector<std::string>{"name_i\trank\tname_j\trho\tp", "up\t1\trise\t1\t0.0166667",
                                 "rise\t1\tup\t1\t0.0166667", "fall\t1\tup\t-1\t0.0166667"});
  const auto counts = run_command({"spearman", input, "--keep", "counts"});
  CHECK(counts.out == "pairs_tested\t3\npairs_kept\t3\n");
  const auto degrees = run_command({"spearman", input, "--keep", "counts", "-o", "-"});
  CHECK(degrees.out == "name\tdegree\nup\t2\nrise\t2\nfall\t2\nflat\t0\n");
  const auto dense = run_command({"spearman", input, "--keep", "dense"});
  CHECK(lines_of(dense.out).at(0) == "name\tup\trise\tfall\tflat");
  CHECK(lines_of(dense.out).at(3).starts_with("fall\t-1\t-1\t1\tNaN"));
}

TEST_CASE("Standard input is read, gzipped too", "[cli][input]") {
  const temporary_folder folder;
  const std::string input = folder.write("in.txt", small_table);
  const auto plain = run_command({"spearman", "-"}, {.input_path = input});
  CHECK(lines_of(plain.out).size() == 4);
  REQUIRE(std::system(("gzip " + input).c_str()) == 0);
  const auto zipped = run_command({"spearman", "-"}, {.input_path = input + ".gz"});
  CHECK(zipped.out == plain.out);
  CHECK(run_command({"spearman", input + ".gz"}).out == plain.out);
}

TEST_CASE("The plan and the info are told without running", "[cli]") {
  const auto plan =
      run_command({"spearman", demo, "--max-p", "0.05", "--plan", "--backend", "cpu"});
  CHECK(plan.exit_code == 0);
  CHECK(plan.out.find("pairs\t12497500") != std::string::npos);
  CHECK(plan.out.find("kept, estimated") != std::string::npos);
  CHECK(plan.out.find("choice\t") == std::string::npos);
  CHECK(plan.out.find("refused\t") == std::string::npos);
  const std::string refused = "refused\tthis run would end with 4: the result would take about";
  const auto large = run_command({"spearman", demo, "--plan", "--max-output", "1M"});
  CHECK(large.exit_code == 0);
  CHECK(large.out.find(refused) != std::string::npos);
  CHECK(run_command({"spearman", demo, "--max-output", "1M"}).exit_code == 4);
  CHECK(run_command({"spearman", demo, "--plan", "--max-output", "1M", "--force"})
            .out.find(refused) == std::string::npos);
  const auto partners = run_command({"spearman", demo, "--keep", "top-k", "-k", "5", "--plan"});
  CHECK(partners.out.find("kept, estimated\t25000 partners, at most") != std::string::npos);
  const auto dense = run_command({"spearman", demo, "--keep", "dense", "--plan"});
  CHECK(dense.out.find("output, estimated") != std::string::npos);
  const auto info = run_command({"info"});
  CHECK(info.exit_code == 0);
  CHECK(info.out.find("backend cpu") != std::string::npos);
  CHECK(info.out.find("auto takes") != std::string::npos);
}

TEST_CASE("A column of numbers and rows are filtered", "[cli][mean_filter]") {
  const temporary_folder folder;
  const std::string column = folder.write("column.txt", "1\n2\n3\n4\n5\n6\n7\n");
  // uniform_filter1d of 1..7, size 5, mode constant.
  const auto zero = run_command({"mean-filter", column, "--window", "5", "--boundary", "zero"});
  INFO(zero.err);
  CHECK(zero.exit_code == 0);
  CHECK(zero.out == "1.2\n2\n3\n4\n5\n4.4\n3.6\n");
  const std::string rows = folder.write("rows.txt", "a\t1\t2\t3\t4\nb\t-4\t0\t4\t8\n");
  const auto valid = run_command({"mean-filter", rows, "-w", "3", "--boundary", "valid"});
  CHECK(valid.out == "a\t2\t3\nb\t0\t4\n");
  const std::string output = folder.path("out.npy");
  CHECK(run_command({"mean-filter", rows, "-w", "2", "--format", "npy", "-o", output}).exit_code ==
        0);
  CHECK(read_file(output).size() == 128 + 8 * sizeof(double));
  CHECK(run_command({"mean-filter", rows, "-w", "0"}).exit_code == 2);
  CHECK(run_command({"mean-filter", rows}).exit_code == 2);
  CHECK(run_command({"mean-filter", rows, "-w", "3", "--origin", "9"}).exit_code == 2);
}
