// Signals in every phase: the run ends within a second or two, says what there is, and leaves
// nothing that it does not name.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "cli/run_command.hpp"
#include "cli/small_tables.hpp"
#include "support/catch.hpp"

using namespace gpu_test;

namespace {

namespace fs = std::filesystem;

constexpr int exit_interrupted = 130;
constexpr int exit_terminated = 143;
constexpr int exit_closed_pipe = 141;
// A second, and what a loaded machine adds to it.
constexpr double soon = 5;

/// The unfinished file of the result "out.tsv"; empty where there is none.
std::string partial_file(const temporary_folder& folder) {
  std::string found;
  for (const auto& entry : fs::directory_iterator(folder.path(""))) {
    const std::string name = entry.path().filename();
    if (name.starts_with("out.tsv.") && name.ends_with(".partial")) found = entry.path().string();
  }
  return found;
}

std::function<bool()> after(std::chrono::milliseconds wait) {
  const auto start = std::chrono::steady_clock::now();
  return [=] { return std::chrono::steady_clock::now() - start > wait; };
}

/// Sends `signal` when the unfinished file has more than `bytes`.
command_settings signal_at_size(const temporary_folder& folder, int signal, std::uintmax_t bytes) {
  command_settings settings;
  settings.signal = signal;
  settings.is_time_to_signal = [&folder, bytes] {
    std::error_code ignored;
    const auto size = fs::file_size(partial_file(folder), ignored);
    return !ignored && size > bytes;
  };
  return settings;
}

}  // namespace

TEST_CASE("SIGINT leaves no edges, and says so in the report", "[cli][signal]") {
  const temporary_folder folder;
  const std::string input = folder.write("in.txt", moving_rows(20000));
  const std::string report = folder.path("report.json");
  const auto result =
      run_command({"spearman", input, "-o", folder.path("out.tsv"), "--force", "--report", report},
                  signal_at_size(folder, SIGINT, 1000));
  INFO(result.err);
  CHECK(result.exit_code == exit_interrupted);
  CHECK(result.seconds_after_signal < soon);
  CHECK(result.err.find("nothing is written") != std::string::npos);
  CHECK_FALSE(fs::exists(folder.path("out.tsv")));
  CHECK(partial_file(folder).empty());
  const std::string json = read_file(report);
  CHECK(report_value(json, "status") == "\"interrupted\"");
  CHECK(report_value(json, "rows") == "20000");
  CHECK(report_value(json, "pairs_kept") == "null");
}

TEST_CASE("SIGTERM leaves nothing behind", "[cli][signal]") {
  const temporary_folder folder;
  const std::string input = folder.write("in.txt", moving_rows(20000));
  const auto result = run_command({"spearman", input, "-o", folder.path("out.tsv"), "--force"},
                                  signal_at_size(folder, SIGTERM, 1000));
  INFO(result.err);
  CHECK(result.exit_code == exit_terminated);
  CHECK(result.seconds_after_signal < soon);
  CHECK(std::distance(fs::directory_iterator(folder.path("")), fs::directory_iterator()) == 1);
}

TEST_CASE("An interrupt ends the writing of results that are written whole", "[cli][signal]") {
  const temporary_folder folder;
  const std::string input = folder.write("in.txt", moving_rows(8000));
  const std::string output = folder.path("out.tsv");
  for (const auto& kept : {std::vector<std::string>{"dense"}, {"top-k", "-k", "7000"}}) {
    std::vector<std::string> arguments{"spearman", input, "-o", output, "--force", "--keep"};
    arguments.insert(arguments.end(), kept.begin(), kept.end());
    const auto result = run_command(arguments, signal_at_size(folder, SIGINT, 1000));
    INFO(result.err);
    CHECK(result.exit_code == exit_interrupted);
    CHECK(result.seconds_after_signal < soon);
    CHECK(result.err.find("nothing is written") != std::string::npos);
    CHECK_FALSE(fs::exists(output));
    CHECK(partial_file(folder).empty());
  }
}

TEST_CASE("An interrupt of a verb that takes the whole table is reported", "[cli][signal]") {
  const temporary_folder folder;
  const std::string report = folder.path("report.json");
  command_settings settings;
  settings.is_time_to_signal = after(std::chrono::milliseconds(1000));
  const auto result = run_command({"soft-threshold", folder.write("in.txt", moving_rows(20000)),
                                   "--threads", "1", "--report", report},
                                  settings);
  INFO(result.err);
  CHECK(result.exit_code == exit_interrupted);
  CHECK(result.seconds_after_signal < soon);
  CHECK(result.err.ends_with("gpu-similarity: interrupted: nothing is written\n"));
  CHECK(report_value(read_file(report), "status") == "\"interrupted\"");
}

TEST_CASE("An interrupt ends a wait", "[cli][signal]") {
  const temporary_folder folder;
  const std::string input = folder.write("in.txt", moving_rows(2000));
  const std::string pipe = folder.path("pipe");
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  command_settings settings;
  settings.is_time_to_signal = after(std::chrono::milliseconds(1000));
  const auto ends_soon = [&](const std::vector<std::string>& arguments) {
    const command_result result = run_command(arguments, settings);
    INFO(result.err);
    CHECK(result.exit_code == exit_interrupted);
    CHECK(result.seconds_after_signal < soon);
    return result;
  };
  SECTION("for standard input") {
    const int held = ::open(pipe.c_str(), O_RDWR);  // neither blocks nor ends
    settings.input_path = pipe;
    ends_soon({"spearman", "-"});
    ::close(held);
  }
  SECTION("for the writer of a FIFO") {
    ends_soon({"spearman", pipe});
  }
  SECTION("for the reader of a FIFO") {
    ends_soon({"spearman", input, "-o", pipe});
  }
  SECTION("for room in a full pipe") {
    const int held = ::open(pipe.c_str(), O_RDWR);  // nobody reads what comes
    const auto result = ends_soon({"spearman", input, "-o", pipe});
    CHECK(result.err.find(pipe) != std::string::npos);
    CHECK(result.err.find("partial") != std::string::npos);
    ends_soon({"spearman", input, "-o", pipe, "--keep", "dense"});
    ends_soon({"mean-filter", input, "-w", "3", "-o", pipe});
    ends_soon({"rank", input, "-o", pipe});
    ends_soon({"top-k", input, "-o", pipe});
    ::close(held);
  }
  SECTION("for the reader of the report") {
    ends_soon({"spearman", input, "-o", "/dev/null", "--report", pipe});
  }
}

TEST_CASE("A result that nobody reads any more ends the run quietly", "[cli][signal]") {
  const temporary_folder folder;
  const std::string input = folder.write("in.txt", moving_rows(900));
  const std::string report = folder.path("report.json");
  const std::string code = folder.path("code");
  const std::string error = folder.path("error");
  const std::string line = std::string("{ ") + GPU_SIMILARITY_COMMAND + " spearman " + input +
                           " --report " + report + " 2> " + error + "; echo $? > " + code +
                           "; } | head -n 2 > /dev/null";
  CHECK(std::system(line.c_str()) == 0);
  CHECK(std::stoi(read_file(code)) == exit_closed_pipe);
  CHECK(read_file(error).empty());
  CHECK(report_value(read_file(report), "status") == "\"output closed\"");
}
