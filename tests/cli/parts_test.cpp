// Jobs in parts: every result joined to the bytes of a single run, and what goes wrong on the way.
#include <sys/stat.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>
#include <iomanip>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "cli/run_command.hpp"
#include "support/catch.hpp"

namespace {

using gpu_test::command_result;
using gpu_test::command_settings;
using gpu_test::read_file;
using gpu_test::report_value;
using gpu_test::run_command;
namespace fs = std::filesystem;

constexpr int exit_usage = 2;
constexpr int exit_bad_input = 3;
constexpr int exit_resources = 4;
constexpr int parts = 7;

/// A table of correlated rows with ties, a constant row, and names.
std::string correlated_table(int rows, int cols) {
  std::mt19937 random(20251122);  // NOLINT: the same rows on every run
  const auto value = [&] { return static_cast<int>(random() % 100); };
  std::vector<int> factor(static_cast<std::size_t>(cols));
  std::string text;
  for (int i = 0; i < rows; ++i) {
    if (i % 40 == 0) std::generate(factor.begin(), factor.end(), value);
    text.append("gene").append(std::to_string(i));
    for (const int f : factor) {
      const int x = i == 17 ? 5 : f + value() % (1 + i % 40 * 4);
      text.append("\t").append(std::to_string(x / 3));
    }
    text += "\n";
  }
  return text;
}

/// Rows of few values: many have the ranks of another one, and one is constant.
std::string repeated_table(int rows, int cols) {
  std::mt19937 random(5);  // NOLINT: the same rows on every run
  std::string text;
  for (int i = 0; i < rows; ++i) {
    text.append("gene").append(std::to_string(i));
    for (int j = 0; j < cols; ++j) {
      text.append("\t").append(std::to_string(i == 9 ? 1 : random() % 3));
    }
    text += "\n";
  }
  return text;
}

using words = std::vector<std::string>;

words joined(words first, const words& more) {
  first.insert(first.end(), more.begin(), more.end());
  return first;
}

command_result run_part(const std::string& input, const words& options, int number, int of,
                        const std::string& folder) {
  return run_command(joined(
      joined({"spearman", input, "--backend", "cpu"}, options),
      {"--part", std::to_string(number) + "/" + std::to_string(of), "--output-dir", folder}));
}

/// Runs what `parts --format slurm` says until nothing is left; how many rounds it took.
int run_all(const std::string& input, const words& options, int of, const std::string& folder) {
  for (int round = 1;; ++round) {
    REQUIRE(round < 6);
    for (int number = of; number >= 1; --number) {
      const command_result result = run_part(input, options, number, of, folder);
      INFO(result.err);
      REQUIRE(result.exit_code == 0);
    }
    if (run_command({"parts", folder, "--format", "slurm"}).out.empty()) return round;
  }
}

std::string single_run(const std::string& input, const words& options, const std::string& output) {
  const command_result result = run_command(
      joined(joined({"spearman", input, "--backend", "cpu", "-o", output}, options), {}));
  INFO(result.err);
  REQUIRE(result.exit_code == 0);
  return read_file(output);
}

std::size_t files_in(const std::string& folder) {
  return static_cast<std::size_t>(
      std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

void flip_a_byte(const std::string& path) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  const auto middle = static_cast<std::streamoff>(fs::file_size(path) / 2);
  file.seekg(middle);
  const char byte = static_cast<char>(file.get() ^ 1);
  file.seekp(middle);
  file.put(byte);
}

/// CRC-32 by its definition, bit by bit.
std::string crc32_of(const std::string& text) {
  std::uint32_t crc = ~0U;
  for (const char c : text) {
    crc ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ ((crc & 1U) != 0 ? 0xEDB88320U : 0U);
  }
  std::ostringstream out;
  out << std::hex << std::setw(8) << std::setfill('0') << ~crc;
  return out.str();
}

/// Gives `member` of a manifest another value, and the manifest the checksum that goes with it.
void forge(const std::string& path, const std::string& member, const std::string& value) {
  std::string text = read_file(path);
  const std::size_t at = text.find("\"" + member + "\": ");
  REQUIRE(at != std::string::npos);
  const std::size_t begin = at + member.size() + 4;
  text.replace(begin, text.find(",\n", begin) - begin, value);
  text.resize(text.find(",\n  \"manifest_crc32\""));
  std::ofstream(path) << text << ",\n  \"manifest_crc32\": \"" << crc32_of(text) << "\"\n}\n";
}

}  // namespace

TEST_CASE("Parts of every result are joined to the bytes of a single run", "[cli][parts]") {
  const gpu_test::temporary_folder folder;
  const std::string input = folder.write("in.tsv", correlated_table(401, 12));
  const std::vector<words> cases{
      {"--max-p", "0.01"},
      {"--max-p", "0.01", "--format", "npy"},
      {"--max-p", "0.2", "--adjust", "bonferroni", "--tail", "less"},
      {"--max-p", "0.05", "--adjust", "bh"},
      {"--max-p", "0.001", "--adjust", "bh", "--tail", "greater", "--format", "npy"},
      {"--keep", "counts", "--max-p", "0.01"},
      {"--keep", "counts", "--max-p", "0.05", "--adjust", "bh", "--format", "npy"},
      {"--keep", "top-k", "-k", "3", "--min-abs", "0.5"},
      {"--keep", "top-k", "-k", "3", "--format", "npy"},
      {"--keep", "dense"},
      {"--keep", "dense", "--format", "npy"}};
  for (const words& options : cases) {
    std::string shown;
    for (const std::string& word : options) shown += word + " ";
    INFO(shown);
    const std::string in = folder.path("parts");
    const std::string expected = single_run(input, options, folder.path("single"));
    const int rounds = run_all(input, options, parts, in);
    CHECK(rounds == (shown.find("bh") == std::string::npos ? 1 : rounds));
    const command_result merged = run_command({"merge", in, "-o", folder.path("merged")});
    INFO(merged.err);
    CHECK(merged.exit_code == 0);
    CHECK(read_file(folder.path("merged")) == expected);
    CHECK(merged.err.find("checksum ") != std::string::npos);
    fs::remove_all(in);
  }
}

TEST_CASE("Parts of folded edges are joined to the bytes of a single run", "[cli][parts]") {
  const gpu_test::temporary_folder folder;
  const std::string input = folder.write("in.tsv", repeated_table(300, 6));
  const std::string other = folder.write("other.tsv", repeated_table(90, 6));
  const std::string in = folder.path("parts");
  const std::string merged = folder.path("merged");
  const std::string patterns = folder.path("patterns");
  const std::vector<words> cases{
      {"--max-p", "0.1"},
      {"--max-p", "0.1", "--format", "npy"},
      {"--max-p", "0.2", "--adjust", "bh", "--tail", "greater"},
      {"--max-p", "0.1", "--against", other},
      {"--max-p", "0.2", "--adjust", "bonferroni", "--against", other, "--format", "npy"}};
  for (words options : cases) {
    INFO(options.back());
    options.insert(options.begin(), {"--keep", "folded-edges"});
    const words with_patterns = joined(options, {"--patterns", folder.path("single.patterns")});
    const std::string expected = single_run(input, with_patterns, folder.path("single"));
    REQUIRE(expected.size() > 1000);
    run_all(input, options, parts, in);
    CHECK(run_command({"parts", in}).out.find("patterns 0 to ") != std::string::npos);
    CHECK(run_command({"merge", in, "-o", merged}).exit_code == exit_usage);
    CHECK(!fs::exists(merged));
    const command_result result = run_command({"merge", in, "-o", merged, "--patterns", patterns});
    INFO(result.err);
    CHECK(result.exit_code == 0);
    CHECK(read_file(merged) == expected);
    CHECK(read_file(patterns) == read_file(folder.path("single.patterns")));
    for (const std::string& file : {in, merged, patterns}) fs::remove_all(file);

    const words resumed{"spearman", input,      "-o",      merged, "--patterns",
                        patterns,   "--resume", "--parts", "5"};
    CHECK(run_command(joined(resumed, options)).exit_code == 0);
    CHECK(read_file(merged) == expected);
    CHECK(read_file(patterns) == read_file(folder.path("single.patterns")));
    CHECK(!fs::exists(folder.path(".merged.parts")));
    fs::remove(merged);
    fs::remove(patterns);
  }
  REQUIRE(run_part(input, {}, 1, 1, in).exit_code == 0);
  CHECK(run_command({"merge", in, "-o", merged, "--patterns", patterns}).exit_code == exit_usage);
}

TEST_CASE("A job of two tables is one of both", "[cli][parts]") {
  const gpu_test::temporary_folder folder;
  const std::string x = folder.write("x.tsv", correlated_table(150, 10));
  const std::string y = folder.write("y.tsv", correlated_table(80, 10));
  const std::string in = folder.path("parts");
  const words options{"--against", y, "--max-p", "0.05"};
  const std::string expected = single_run(x, options, folder.path("single"));
  REQUIRE(run_part(x, options, 1, 3, in).exit_code == 0);
  const auto refused = [&](const std::string& from, const words& with, const std::string& why) {
    const command_result result = run_part(from, with, 2, 3, in);
    INFO(result.err);
    CHECK(result.exit_code == exit_bad_input);
    CHECK(result.err.find(why) != std::string::npos);
  };
  const std::string changed = folder.write("changed.tsv", correlated_table(81, 10));
  refused(x, {"--against", changed, "--max-p", "0.05"}, "its --against has");
  refused(x, {"--max-p", "0.05"}, "its --against has");
  refused(changed, options, "its input has");
  refused(y, {"--against", x, "--max-p", "0.05"}, "its input has");
  flip_a_byte(y);
  refused(x, options, "its --against has");
  flip_a_byte(y);
  run_all(x, options, 3, in);
  CHECK(run_command({"merge", in, "-o", folder.path("merged")}).exit_code == 0);
  CHECK(read_file(folder.path("merged")) == expected);
}

TEST_CASE("The report of merge is that of the whole job", "[cli][parts]") {
  const gpu_test::temporary_folder folder;
  const std::string x = folder.write("x.tsv", correlated_table(150, 10));
  const std::string y = folder.write("y.tsv", correlated_table(80, 10));
  const std::string in = folder.path("parts");
  const words options{"--against", y, "--max-p", "0.05"};
  const std::string report = folder.path("report.json");
  single_run(x, joined(options, {"--report", report}), folder.path("single"));
  const std::string single = read_file(report);
  run_all(x, options, 3, in);
  REQUIRE(run_command({"merge", in, "-o", folder.path("merged"), "--report", report}).exit_code ==
          0);
  const std::string merged = read_file(report);
  for (const char* key : {"status", "rows", "cols", "y_rows", "constant_rows", "y_constant_rows",
                          "nan_rows", "y_nan_rows", "pairs_tested", "pairs_kept", "checksum",
                          "max_p_effective", "cut_at_least", "cut_at_most"}) {
    INFO(key);
    CHECK(report_value(merged, key) == report_value(single, key));
  }
  CHECK(report_value(merged, "y_constant_rows") == "1");
  // As for every other report: it may not be the file of the result, and where the report cannot be
  // written the result stays.
  const std::string same = folder.path("same");
  CHECK(run_command({"merge", in, "-o", same, "--report", same}).exit_code == exit_usage);
  CHECK(!fs::exists(same));
  const command_result full = run_command({"merge", in, "-o", same, "--report", "/dev/full"});
  CHECK(full.exit_code == exit_resources);
  CHECK(full.err.find("the result is complete") != std::string::npos);
  CHECK(read_file(same) == read_file(folder.path("single")));
}

TEST_CASE("Header and parts one behind the other are the file", "[cli][parts]") {
  const gpu_test::temporary_folder folder;
  const std::string input = folder.write("in.tsv", correlated_table(200, 10));
  const std::string in = folder.path("parts");
  const std::string expected = single_run(input, {"--max-p", "0.01"}, folder.path("single"));
  run_all(input, {"--max-p", "0.01"}, 3, in);
  std::string text = read_file(in + "/header.tsv");
  for (const char* part : {"1", "2", "3"}) text += read_file(in + "/part-" + part + "-of-3.tsv");
  CHECK(text == expected);
}

TEST_CASE("A part that is there is not computed again", "[cli][parts]") {
  const gpu_test::temporary_folder folder;
  const std::string input = folder.write("in.tsv", correlated_table(100, 10));
  const std::string in = folder.path("deep/parts");
  CHECK(run_part(input, {}, 2, 3, in).exit_code == 0);
  const std::string manifest = read_file(in + "/part-2-of-3.json");
  const command_result again = run_part(input, {}, 2, 3, in);
  CHECK(again.exit_code == 0);
  CHECK(again.err.find("part 2 of 3 is there already: nothing to do") != std::string::npos);
  CHECK(read_file(in + "/part-2-of-3.json") == manifest);
  // What runs it, and with how much, changes nothing.
  CHECK(run_part(input, {"--threads", "1", "--variant", "naive"}, 2, 3, in).exit_code == 0);
  CHECK(read_file(in + "/part-2-of-3.json") == manifest);
}

TEST_CASE("Parts of another job are refused", "[cli][parts]") {
  const gpu_test::temporary_folder folder;
  const std::string input = folder.write("in.tsv", correlated_table(100, 10));
  const std::string in = folder.path("parts");
  REQUIRE(run_part(input, {"--max-p", "0.05"}, 2, 3, in).exit_code == 0);
  const auto refused = [&](const std::string& from, const words& options, int number, int of,
                           const std::string& why) {
    const command_result result = run_part(from, options, number, of, in);
    INFO(result.err);
    CHECK(result.exit_code == exit_bad_input);
    CHECK(result.err.find(why) != std::string::npos);
  };
  refused(input, {"--max-p", "0.01"}, 1, 3, "--max-p is 0.05, expected 0.01");
  refused(input, {"--max-p", "0.01"}, 2, 3, "--max-p is 0.05, expected 0.01");
  refused(input, {"--max-p", "0.05", "--keep", "counts"}, 1, 3, "--keep is edges, expected counts");
  refused(input, {"--max-p", "0.05"}, 1, 4, "holds a job of 3 parts, expected one of 4");
  const std::string other = folder.write("other.tsv", correlated_table(101, 10));
  refused(other, {"--max-p", "0.05"}, 1, 3, "its input has");
  CHECK(files_in(in) == 2);
}

TEST_CASE("What is missing or damaged is listed, named and run again", "[cli][parts]") {
  const gpu_test::temporary_folder folder;
  const std::string input = folder.write("in.tsv", correlated_table(300, 10));
  const std::string in = folder.path("parts");
  const words options{"--max-p", "0.01"};
  const std::string expected = single_run(input, options, folder.path("single"));
  const auto listed = [&] { return run_command({"parts", in, "--format", "slurm"}).out; };
  CHECK(run_command({"parts", in}).exit_code == exit_bad_input);
  for (const int number : {1, 2, 4, 6}) {
    REQUIRE(run_part(input, options, number, 9, in).exit_code == 0);
  }
  CHECK(listed() == "3,5,7-9\n");
  const command_result early = run_command({"merge", in, "-o", folder.path("merged")});
  CHECK(early.exit_code == exit_bad_input);
  CHECK(early.err.find("5 of 9 parts are missing: 3,5,7-9") != std::string::npos);
  CHECK(!fs::exists(folder.path("merged")));
  run_all(input, options, 9, in);
  CHECK(listed().empty());

  flip_a_byte(in + "/part-4-of-9.tsv");
  const command_result merged = run_command({"merge", in, "-o", folder.path("merged")});
  CHECK(merged.exit_code == exit_bad_input);
  CHECK(merged.err.find("part-4-of-9.tsv: was changed") != std::string::npos);
  CHECK(!fs::exists(folder.path("merged")));
  flip_a_byte(in + "/part-6-of-9.json");
  fs::resize_file(in + "/part-8-of-9.tsv", 10);
  fs::remove(in + "/part-9-of-9.tsv");
  CHECK(listed() == "4,6,8-9\n");
  const std::string json = run_command({"parts", in, "--format", "json"}).out;
  CHECK(report_value(json, "is_whole") == "false");
  CHECK(json.find("part-8-of-9.tsv has 10 bytes") != std::string::npos);
  CHECK(run_command({"parts", in}).out.find("part 6 of 9\tdamaged") != std::string::npos);
  run_all(input, options, 9, in);
  CHECK(run_command({"merge", in, "-o", folder.path("merged")}).exit_code == 0);
  CHECK(read_file(folder.path("merged")) == expected);
}

TEST_CASE("Parts that contradict each other are not joined", "[cli][parts]") {
  const gpu_test::temporary_folder folder;
  const std::string input = folder.write("in.tsv", correlated_table(100, 10));
  const std::string in = folder.path("parts");
  const std::string merged = folder.path("merged");
  run_all(input, {"--max-p", "0.05"}, 3, in);
  const std::string manifest = in + "/part-2-of-3.json";
  const std::string whole = read_file(manifest);
  const auto number = [&](const std::string& member) {
    return std::stoll(report_value(whole, member));
  };
  const auto refused = [&](const std::string& member, const std::string& value,
                           const std::string& why) {
    std::ofstream(manifest) << whole;
    forge(manifest, member, value);
    // The forgery is a manifest: what is refused is what it says.
    CHECK(run_command({"parts", in, "--format", "slurm"}).out.empty());
    const command_result result = run_command({"merge", in, "-o", merged});
    INFO(member << ' ' << value << ": " << result.err);
    CHECK(result.exit_code == exit_bad_input);
    CHECK(result.err.find(why) != std::string::npos);
    CHECK(!fs::exists(merged));
  };
  const long long first = number("first_row");
  const std::string places = "expected it to begin with " + std::to_string(first);
  refused("first_row", std::to_string(first + 1), places);  // a row is missing
  refused("first_row", std::to_string(first - 1), places);  // a row is there twice
  const std::string cut = "part 2 of 3 was decided by another cut than part 1 of 3";
  refused("max_p_effective", "0.04", cut);
  refused("cut_at_least", "0.5", cut);
  refused("cut_at_most", "-0.5", cut);
  refused("pairs_tested", std::to_string(number("pairs_tested") - 1), "of the whole job");
  refused("pairs_kept", std::to_string(number("pairs_kept") + 1), "the checksum is of");
  std::ofstream(manifest) << whole;
  CHECK(run_command({"merge", in, "-o", merged}).exit_code == 0);
}

TEST_CASE("Benjamini and Hochberg's cut is found by all parts", "[cli][parts]") {
  const gpu_test::temporary_folder folder;
  const std::string input = folder.write("in.tsv", correlated_table(300, 10));
  const std::string in = folder.path("parts");
  const words options{"--max-p", "0.05", "--adjust", "bh"};
  CHECK(run_part(input, options, 1, 2, in).exit_code == 0);
  const command_result waits = run_part(input, options, 1, 2, in);
  CHECK(waits.exit_code == 0);
  CHECK(waits.err.find("nothing to do") != std::string::npos);
  CHECK(run_command({"parts", in, "--format", "slurm"}).out == "2\n");
  const command_result early = run_command({"merge", in, "-o", folder.path("merged")});
  CHECK(early.exit_code == exit_bad_input);
  CHECK(early.err.find("the cut of --adjust bh is not fixed yet") != std::string::npos);
  // A pass that was damaged is counted again.
  CHECK(run_part(input, options, 2, 2, in).err.find("run the parts again") != std::string::npos);
  fs::remove(in + "/count-1-sum.json");
  flip_a_byte(in + "/count-1-part-2-of-2.bins");
  CHECK(run_command({"parts", in, "--format", "slurm"}).out == "2\n");
  run_all(input, options, 2, in);
  CHECK(run_command({"merge", in, "-o", folder.path("merged")}).exit_code == 0);
  CHECK(read_file(folder.path("merged")) == single_run(input, options, folder.path("single")));
}

TEST_CASE("Two processes compute one part at the same time", "[cli][parts]") {
  const gpu_test::temporary_folder folder;
  const std::string input = folder.write("in.tsv", correlated_table(600, 20));
  const std::string in = folder.path("parts");
  std::vector<std::future<command_result>> both;
  for (int process = 0; process < 4; ++process) {
    both.push_back(std::async(std::launch::async, [&] { return run_part(input, {}, 1, 1, in); }));
  }
  for (auto& process : both) {
    const command_result result = process.get();
    INFO(result.err);
    CHECK(result.exit_code == 0);
  }
  CHECK(files_in(in) == 3);
  CHECK(run_command({"merge", in, "-o", folder.path("merged")}).exit_code == 0);
  CHECK(read_file(folder.path("merged")) == single_run(input, {}, folder.path("single")));
}

TEST_CASE("A disk that is full, and a folder that goes away", "[cli][parts]") {
  const gpu_test::temporary_folder folder;
  const std::string input = folder.write("in.tsv", correlated_table(400, 10));
  const std::string in = folder.path("parts");
  const words options{"spearman", input, "--part", "1/2", "--output-dir", in, "--backend", "cpu"};
  command_settings full;
  full.largest_file = 20000;
  const command_result stopped = run_command(options, full);
  CHECK(stopped.exit_code == exit_resources);
  CHECK(stopped.err.find("cannot be written") != std::string::npos);
  CHECK(files_in(in) == 0);
  for (int number = 1; number <= 2; ++number) {
    REQUIRE(run_part(input, {}, number, 2, in).exit_code == 0);
  }
  CHECK(run_command({"merge", in, "-o", folder.path("merged")}, full).exit_code == exit_resources);
  CHECK(!fs::exists(folder.path("merged")));
  CHECK(files_in(in) == 5);

  fs::remove_all(in);
  CHECK(run_command({"merge", in, "-o", folder.path("merged")}).exit_code == exit_bad_input);
  std::ofstream(in) << "no folder";
  const command_result nowhere = run_part(input, {}, 1, 2, in);
  CHECK(nowhere.exit_code == exit_resources);
}

TEST_CASE("A folder that goes away while a part is computed", "[cli][parts]") {
  const gpu_test::temporary_folder folder;
  const std::string input = folder.write("in.tsv", correlated_table(3000, 30));
  const std::string in = folder.path("parts");
  bool is_removed = false;
  command_settings removing;
  // The file exists as soon as the part begins, and has bytes long before the part ends.
  removing.is_time_to_signal = [&] {
    if (!is_removed && fs::exists(in) && files_in(in) > 0) is_removed = fs::remove_all(in) > 0;
    return false;
  };
  const command_result result =
      run_command({"spearman", input, "--backend", "cpu", "--variant", "naive", "--threads", "1",
                   "--part", "1/2", "--output-dir", in},
                  removing);
  INFO(result.err);
  REQUIRE(is_removed);
  CHECK(result.exit_code == exit_resources);
  CHECK(result.err.find("parts") != std::string::npos);
  CHECK(!fs::exists(in));
  CHECK(run_part(input, {}, 1, 2, in).exit_code == 0);  // begun again
}

TEST_CASE("Times of files mean nothing", "[cli][parts]") {
  const gpu_test::temporary_folder folder;
  const std::string input = folder.write("in.tsv", correlated_table(100, 10));
  const std::string in = folder.path("parts");
  run_all(input, {}, 3, in);
  using clock = fs::file_time_type::clock;
  fs::last_write_time(in + "/part-1-of-3.json", clock::now() + std::chrono::hours(1000));
  fs::last_write_time(in + "/part-2-of-3.tsv", clock::now() + std::chrono::hours(2000));
  fs::last_write_time(in + "/part-3-of-3.tsv", clock::now() - std::chrono::hours(100000));
  fs::last_write_time(input, clock::now() + std::chrono::hours(3000));
  CHECK(run_part(input, {}, 1, 3, in).err.find("nothing to do") != std::string::npos);
  CHECK(run_command({"merge", in, "-o", folder.path("merged")}).exit_code == 0);
  CHECK(read_file(folder.path("merged")) == single_run(input, {}, folder.path("single")));
}

TEST_CASE("A run that is killed is resumed, and nothing is lost or there twice", "[cli][parts]") {
  const gpu_test::temporary_folder folder;
  const std::string input = folder.write("in.tsv", correlated_table(700, 20));
  const std::string output = folder.path("out.tsv");
  for (const words& options :
       {words{"--max-p", "0.01"}, words{"--max-p", "0.05", "--adjust", "bh"}}) {
    const std::string expected = single_run(input, options, folder.path("single"));
    const words resumed =
        joined({"spearman", input, "--backend", "cpu", "-o", output, "--resume"}, options);
    // A moment later each time.
    for (int moment = 0; moment < 6; ++moment) {
      command_settings killed;
      int polls = 0;
      killed.signal = SIGKILL;
      killed.is_time_to_signal = [&] { return ++polls > 1 + moment; };
      (void)run_command(joined(resumed, {"--parts", "9"}), killed);
    }
    const command_result result = run_command(resumed);
    INFO(result.err);
    CHECK(result.exit_code == 0);
    CHECK(read_file(output) == expected);
    CHECK(!fs::exists(folder.path(".out.tsv.parts")));
    fs::remove(output);
  }
}

TEST_CASE("A resumed run that is interrupted keeps its parts", "[cli][parts]") {
  const gpu_test::temporary_folder folder;
  const std::string input = folder.write("in.tsv", correlated_table(2500, 30));
  const std::string in = folder.path("kept");
  const words options{"spearman", input,          "--backend", "cpu",     "-o", folder.path("out"),
                      "--resume", "--output-dir", in,          "--parts", "40"};
  command_settings interrupted;
  interrupted.is_time_to_signal = [&] { return fs::exists(in + "/part-03-of-40.json"); };
  const command_result result = run_command(options, interrupted);
  if (result.exit_code == 0) return;  // it was faster than the signal
  CHECK(result.exit_code == 130);
  CHECK(result.err.find("--resume goes on") != std::string::npos);
  CHECK(fs::exists(in + "/part-03-of-40.json"));
  CHECK(run_command({"spearman", input, "-o", folder.path("out"), "--resume", "--output-dir", in,
                     "--parts", "7"})
            .exit_code == exit_bad_input);
  CHECK(run_command(options).exit_code == 0);
  CHECK(!fs::exists(in));
  CHECK(read_file(folder.path("out")) == single_run(input, {}, folder.path("single")));
}

TEST_CASE("Options of parts that do not go together are refused", "[cli][parts]") {
  const gpu_test::temporary_folder folder;
  const std::string input = folder.write("in.tsv", "1 2 3\n3 2 2\n");
  const std::string in = folder.path("parts");
  const std::vector<words> cases{
      {"--part", "0/3", "--output-dir", in},
      {"--part", "4/3", "--output-dir", in},
      {"--part", "1of3", "--output-dir", in},
      {"--part", "1/3"},
      {"--output-dir", in},
      {"--parts", "3"},
      {"--resume"},
      {"--resume", "-o", "-"},
      {"--part", "1/3", "--output-dir", in, "-o", folder.path("out")},
      {"--part", "1/3", "--output-dir", in, "--resume", "-o", folder.path("out")},
      {"--part", "1/3", "--output-dir", in, "--plan"},
      {"--part", "1/3", "--output-dir", in, "--keep", "folded-edges", "--patterns", "p"},
      {"--resume", "-o", folder.path("out"), "--keep", "folded-edges"}};
  for (const words& options : cases) {
    const command_result result = run_command(joined({"spearman", input}, options));
    INFO(result.err);
    CHECK(result.exit_code == exit_usage);
  }
  CHECK(run_command({"spearman", "-", "--part", "1/3", "--output-dir", in}).exit_code ==
        exit_usage);
  CHECK(!fs::exists(in));
}

TEST_CASE("A job in parts is planned", "[cli][parts]") {
  const gpu_test::temporary_folder folder;
  const std::string input = folder.write("in.tsv", correlated_table(400, 10));
  const std::string plan = run_command({"spearman", input, "--plan", "--parts", "7"}).out;
  CHECK(plan.find("parts\t7, of about ") != std::string::npos);
  CHECK(plan.find("parts, advised\t1\n") != std::string::npos);
}
