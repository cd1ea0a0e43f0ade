// rank, top-k and mean-filter: against the oracles, over several blocks of rows, in little memory.
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <random>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "cli/run_command.hpp"
#include "reference/mean_filter_reference.hpp"
#include "reference/rank_reference.hpp"
#include "reference/top_k_reference.hpp"
#include "support/catch.hpp"
#include "support/gzip_files.hpp"
#include "support/npy_bytes.hpp"

using namespace gpu_test;

namespace {

/// A table with names whose text takes three blocks: integers first, then halves.
struct large_table {
  static constexpr gpu::index_t rows = 300'000;
  static constexpr gpu::index_t cols = 20;
  gpu::matrix<double> values{rows, cols};
  std::string text;

  large_table() {
    std::mt19937_64 engine(17);
    text = "id";
    for (gpu::index_t j = 0; j < cols; ++j) text += "\tc" + std::to_string(j);
    text += '\n';
    for (gpu::index_t i = 0; i < rows; ++i) {
      text += "row" + std::to_string(i);
      for (gpu::index_t j = 0; j < cols; ++j) {
        const bool is_half = i > 200'000 && engine() % 2 == 0;
        const auto whole = static_cast<int>(engine() % 200) - 100;
        values(i, j) = whole < 0 ? whole - (is_half ? 0.5 : 0) : whole + (is_half ? 0.5 : 0);
        text += '\t' + std::to_string(whole) + (is_half ? ".5" : "");
        // "-0.5" of whole 0 does not occur: halves go away from 0.
      }
      text += '\n';
    }
  }
};

const large_table& table() {
  static const large_table made;
  return made;
}

/// An .npy of zeros, of which only the header takes room on the disk.
std::string write_zeros(const std::string& path, gpu::index_t rows, gpu::index_t cols) {
  std::ofstream(path, std::ios::binary) << npy_header("<f8", rows, cols);
  CHECK(::truncate(path.c_str(), 128 + rows * cols * static_cast<off_t>(sizeof(double))) == 0);
  return path;
}

double number_at(const std::string& bytes, std::size_t at) {
  double value = 0;
  std::memcpy(&value, bytes.data() + at, sizeof(value));
  return value;
}

}  // namespace

TEST_CASE("rank gives the ranks of every block, with the names", "[cli][rows]") {
  const temporary_folder folder;
  const std::string input = folder.write("in.tsv", table().text);
  const std::string output = folder.path("out.tsv");
  const auto result = run_command(
      {"rank", input, "-o", output, "--ties", "min", "--order", "descending", "--backend", "cpu"});
  INFO(result.err);
  REQUIRE(result.exit_code == 0);
  CHECK(result.err.find("300000 rows x 20 columns") != std::string::npos);
  std::ifstream lines(output);
  std::string line;
  REQUIRE(std::getline(lines, line));
  CHECK(line == table().text.substr(0, table().text.find('\n')));
  std::size_t wrong = 0;
  gpu::index_t row = 0;
  for (; std::getline(lines, line); ++row) {
    const auto fields = split(line, '\t');
    REQUIRE(fields.size() == 21);
    wrong += fields[0] != std::string("row").append(std::to_string(row));
    const auto expected = reference_ranks(table().values.row(row).data(), 20, gpu::tie_method::min,
                                          gpu::rank_order::descending);
    for (std::size_t j = 0; j < 20; ++j) wrong += std::stod(fields[j + 1]) != expected[j];
  }
  CHECK(row == large_table::rows);
  CHECK(wrong == 0);

  // The same through gzip, as .npy and with the default ties.
  write_gzip(folder.path("in.gz"), table().text, "wb1");
  const std::string npy = folder.path("out.npy");
  CHECK(run_command({"rank", folder.path("in.gz"), "-o", npy, "-q"}).err.empty());
  const std::string bytes = read_file(npy);
  REQUIRE(bytes.size() == 128 + 300'000 * 20 * sizeof(double));
  CHECK(bytes.find("'shape': (300000, 20)") != std::string::npos);
  for (const gpu::index_t i : {0, 150'000, 299'999}) {
    const auto expected =
        reference_ranks(table().values.row(i).data(), 20, gpu::tie_method::average);
    for (gpu::index_t j = 0; j < 20; ++j) {
      wrong += number_at(bytes, 128 + static_cast<std::size_t>(i * 20 + j) * 8) !=
               expected[static_cast<std::size_t>(j)];
    }
  }
  const auto piped = run_command({"rank", folder.path("in.gz"), "--format", "npy", "-q"});
  CHECK(piped.exit_code == 4);
  CHECK(piped.out.empty());
  CHECK(piped.err.find("as .npy needs a regular file") != std::string::npos);
  CHECK(wrong == 0);
}

TEST_CASE("top-k gives the best entries of every block", "[cli][rows]") {
  const temporary_folder folder;
  const std::string input = folder.write("in.tsv", table().text);
  const std::string output = folder.path("out");
  // One vector over several blocks, below, has the other two.
  for (const auto& [is_distinct, is_largest] : {std::pair(false, false), std::pair(true, true)}) {
    std::vector<std::string> arguments{"top-k", input, "-k", "3", "-q", "-o", output};
    if (is_distinct) arguments.emplace_back("--distinct");
    if (!is_largest) arguments.emplace_back("--smallest");
    REQUIRE(run_command(arguments).exit_code == 0);
    std::ifstream lines(output);
    std::string line;
    std::getline(lines, line);
    CHECK(line == std::string("name\trank\tcolumn\tvalue") + (is_distinct ? "\tcount" : ""));
    std::size_t wrong = 0;
    for (gpu::index_t row = 0; row < large_table::rows; ++row) {
      const double* const values = table().values.row(row).data();
      const auto expected = is_distinct ? reference_top_k_distinct(values, 20, 3, is_largest)
                                        : reference_top_k(values, 20, 3, is_largest);
      for (std::size_t k = 0; k < expected.size(); ++k) {
        REQUIRE(std::getline(lines, line));
        const auto fields = split(line, '\t');
        REQUIRE(fields.size() == (is_distinct ? 5 : 4));
        wrong += fields[0] != std::string("row").append(std::to_string(row)) ||
                 fields[1] != std::to_string(k + 1) ||
                 fields[2] != std::string("c").append(std::to_string(expected[k].index)) ||
                 std::stod(fields[3]) != expected[k].value;
        if (is_distinct) wrong += fields[4] != std::to_string(expected[k].count);
      }
    }
    CHECK(wrong == 0);
    CHECK_FALSE(std::getline(lines, line));
  }
}

TEST_CASE("top-k as .npy has records, and nothing behind the last distinct value", "[cli][rows]") {
  const temporary_folder folder;
  const std::string input = folder.write("in.txt", "4 4 1\n7 7 7\n");
  const std::string output = folder.path("out.npy");
  CHECK(run_command({"top-k", input, "-k", "2", "--distinct", "-o", output}).exit_code == 0);
  const std::string bytes = read_file(output);
  REQUIRE(bytes.size() == 192 + 4 * 24);
  CHECK(bytes.find("[('index', '<i8'), ('value', '<f8'), ('count', '<i8')]") != std::string::npos);
  CHECK(bytes.find("(2, 2)") != std::string::npos);
  const auto integer_at = [&](std::size_t at) {
    std::int64_t value = 0;
    std::memcpy(&value, bytes.data() + 192 + at, sizeof(value));
    return value;
  };
  CHECK(integer_at(0) == 0);
  CHECK(number_at(bytes, 192 + 8) == 4);
  CHECK(integer_at(16) == 2);
  CHECK(integer_at(24) == 2);
  CHECK(integer_at(72) == -1);
  CHECK(number_at(bytes, 192 + 80) == 0);
  CHECK(integer_at(88) == 0);
}

TEST_CASE("A column of numbers is one vector, over several blocks", "[cli][rows]") {
  const temporary_folder folder;
  std::mt19937_64 engine(29);
  std::vector<double> values(4'000'000);
  std::string text;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto whole = static_cast<int>(engine() % 90'000) + 10'000;
    const bool has_fraction = i > values.size() / 2;
    values[i] = has_fraction ? whole + 0.25 : whole;
    if (i == 3'000'000) values[i] = std::nan("");
    text += i == 3'000'000 ? "NaN" : std::to_string(whole) + (has_fraction ? ".25" : "");
    text += '\n';
  }
  const std::string input = folder.write("in.txt", text);
  for (const auto& [is_distinct, is_largest] : {std::pair(true, false), std::pair(false, true)}) {
    std::vector<std::string> arguments{"top-k", input, "-k", "1000", "-q"};
    if (is_distinct) arguments.emplace_back("--distinct");
    if (!is_largest) arguments.emplace_back("--smallest");
    const auto result = run_command(arguments);
    REQUIRE(result.exit_code == 0);
    const auto expected =
        is_distinct ? reference_top_k_distinct(values.data(), values.size(), 1000, is_largest)
                    : reference_top_k(values.data(), values.size(), 1000, is_largest);
    std::istringstream lines(result.out);
    std::string line;
    std::getline(lines, line);
    std::size_t wrong = 0;
    for (std::size_t k = 0; k < expected.size(); ++k) {
      REQUIRE(std::getline(lines, line));
      const auto fields = split(line, '\t');
      wrong += fields[0] != std::to_string(k + 1) ||
               fields[1] != std::to_string(expected[k].index + 1) ||
               std::stod(fields[2]) != expected[k].value;
      if (is_distinct) wrong += fields[3] != std::to_string(expected[k].count);
    }
    CHECK(wrong == 0);
    CHECK_FALSE(std::getline(lines, line));
  }
  CHECK(run_command({"rank", folder.write("c", "v\n5\n3\n5\n1\n"), "-q"}).out ==
        "v\n3.5\n2\n3.5\n1\n");
}

TEST_CASE("mean-filter takes every block, with the names", "[cli][rows][mean_filter]") {
  const temporary_folder folder;
  const std::string input = folder.write("in.tsv", table().text);
  const std::string output = folder.path("out.tsv");
  REQUIRE(run_command({"mean-filter", input, "-w", "4", "--boundary", "valid", "-q", "-o", output})
              .exit_code == 0);
  std::ifstream lines(output);
  std::string line;
  REQUIRE(std::getline(lines, line));
  CHECK(split(line, '\t').size() == 18);
  CHECK(split(line, '\t').back() == "c16");
  std::size_t wrong = 0;
  const gpu::mean_filter_options options{.window = 4, .boundary = gpu::boundary::valid};
  for (gpu::index_t row = 0; row < large_table::rows; ++row) {
    REQUIRE(std::getline(lines, line));
    const auto fields = split(line, '\t');
    REQUIRE(fields.size() == 18);
    const std::span<const double> values = table().values.row(row);
    for (std::int64_t j = 0; j < 17; ++j) {
      const auto expected = reference_mean(values, options, j);
      wrong += std::stod(fields[static_cast<std::size_t>(j) + 1]) != double(expected.mean);
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE("A file larger than memory passes through", "[cli][rows]") {
  const temporary_folder folder;
  const std::string input = write_zeros(folder.path("zeros.npy"), 1'000'000, 100);  // 800 MB
  constexpr std::uint64_t most_memory = 300'000'000;
  for (const auto& verb : {std::vector<std::string>{"rank"},
                           {"mean-filter", "-w", "5"},
                           {"top-k", "-k", "2", "--distinct"}}) {
    std::vector<std::string> arguments{verb.front(), input, "-o", "/dev/null", "--format", "npy",
                                       "--backend",  "cpu", "-q", "--threads", "2"};
    arguments.insert(arguments.end(), verb.begin() + 1, verb.end());
    const auto result = run_command(arguments);
    INFO(verb.front() << ": " << result.err << ", " << result.peak_bytes << " bytes");
    CHECK(result.exit_code == 0);
    CHECK(result.peak_bytes < most_memory);
  }
}

TEST_CASE("A result over --max-output is refused soon, and leaves nothing", "[cli][rows]") {
  const temporary_folder folder;
  const std::string input = write_zeros(folder.path("zeros.npy"), 1'000'000, 100);
  const std::string output = folder.path("out.npy");
  const auto result =
      run_command({"rank", input, "-o", output, "--format", "npy", "--max-output", "100M"});
  CHECK(result.exit_code == 4);
  CHECK(result.err.find("about 800.0 MB") != std::string::npos);
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path("")), {}) == 1);
  const std::string small = folder.write("small.txt", "1 2 3\n4 5 6\n");
  CHECK(run_command({"rank", small, "--max-output", "5"}).exit_code == 4);
  CHECK(run_command({"rank", small, "--max-output", "5", "--force", "-q"}).out ==
        "1\t2\t3\n1\t2\t3\n");
}

TEST_CASE("Rows are reported, and a NaN is refused where it stands", "[cli][rows]") {
  const temporary_folder folder;
  const std::string input = folder.write("in.txt", "1 2 3\n4 NaN 6\n");
  const std::string report = folder.path("report.json");
  const auto refused = run_command({"rank", input});
  CHECK(refused.exit_code == 3);
  CHECK(refused.err.find(":2: column 2: got a missing value") != std::string::npos);
  CHECK(refused.out.empty());
  const auto taken = run_command({"rank", input, "--nan", "propagate", "--report", report, "-q"});
  CHECK(taken.out == "1\t2\t3\nNaN\tNaN\tNaN\n");
  const std::string json = read_file(report);
  CHECK(report_value(json, "status") == "\"complete\"");
  CHECK(report_value(json, "rows") == "2");
  CHECK(report_value(json, "cols") == "3");
  CHECK(report_value(json, "bytes_written") == "18");
  CHECK(run_command({"rank", input, "-o", input}).exit_code == 2);
  CHECK(run_command({"rank", input, "-o", report, "--report", report}).exit_code == 2);
  CHECK(run_command({"top-k", input, "-k", "0"}).exit_code == 2);
  CHECK(run_command({"top-k", input, "--largest", "--smallest"}).exit_code == 2);
  CHECK(run_command({"rank", input, "--ties", "none"}).exit_code == 2);
  CHECK(run_command(
            {"rank", input, "--backend", "cpu", "--variant", "block_sort", "--nan", "propagate"})
            .exit_code == 2);
}
