// Exit codes: everything that the command refuses, and how it ends when it cannot go on.
#include <sys/mount.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include <gpu/backend.hpp>

#include "cli/run_command.hpp"
#include "support/catch.hpp"
#include "support/skip.hpp"

namespace {

using gpu_test::command_result;
using gpu_test::command_settings;
using gpu_test::run_command;

constexpr int exit_usage = 2;
constexpr int exit_bad_input = 3;
constexpr int exit_resources = 4;
constexpr int exit_interrupted = 130;

constexpr const char* good_table = "1 2 3 4\n4 3 2 2\n5 7 9 8\n";

void check_refused(const std::vector<std::string>& arguments, int exit_code,
                   const std::string& part, const command_settings& settings = {}) {
  const command_result result = run_command(arguments, settings);
  INFO(result.err);
  CHECK(result.exit_code == exit_code);
  CHECK(result.err.find(part) != std::string::npos);
}

/// Many rows that all move together: every pair is an edge, so a run over it lasts.
std::string long_table(int rows) {
  std::string text;
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < 12; ++j) text += std::to_string(j * 7 + i % 5 + (i * j) % 3) + " ";
    text += "\n";
  }
  return text;
}

}  // namespace

TEST_CASE("A wrong command line is refused with 2", "[cli][usage]") {
  const gpu_test::temporary_folder folder;
  const std::string input = folder.write("in.txt", good_table);
  check_refused({}, exit_usage, "subcommand");
  check_refused({"spearman"}, exit_usage, "INPUT");
  check_refused({"kendall", input}, exit_usage, "");
  check_refused({"spearman", input, "--max-p", "0"}, exit_usage, "above 0 and up to 1");
  check_refused({"spearman", input, "--max-p", "1.5"}, exit_usage, "got 1.5");
  check_refused({"spearman", input, "--max-p", "-0.1"}, exit_usage, "");
  check_refused({"spearman", input, "--max-p", "nan"}, exit_usage, "got nan");
  check_refused({"spearman", input, "--max-p", "small"}, exit_usage, "got small");
  check_refused({"spearman", input, "--min-abs", "1.01"}, exit_usage, "from 0 to 1");
  check_refused({"spearman", input, "--keep", "top-k", "-k", "0"}, exit_usage, "got 0");
  check_refused({"spearman", input, "-k", "3"}, exit_usage, "needs --keep top-k");
  check_refused({"spearman", input, "--keep", "all"}, exit_usage, "all");
  check_refused({"spearman", input, "--tail", "both"}, exit_usage, "both");
  check_refused({"spearman", input, "--threads", "0"}, exit_usage, "got 0");
  check_refused({"spearman", input, "--backend", "rocm"}, exit_usage, "rocm");
  check_refused({"spearman", input, "--variant", "magic"}, exit_usage, "magic");
  check_refused({"spearman", input, "--format", "npy"}, exit_usage, "--output FILE");
  check_refused({"spearman", input, "--memory-limit", "many"}, exit_usage, "many");
  check_refused({"spearman", input, "surplus"}, exit_usage, "surplus");
  check_refused({"spearman", input, "--backend", "cpu", "--variant", "tensor"}, exit_usage,
                "tensor");
  CHECK(run_command({"--version"}).exit_code == 0);
  CHECK(run_command({"--help"}).exit_code == 0);
}

TEST_CASE("Bad input is refused with 3 and its place", "[cli][input]") {
  const gpu_test::temporary_folder folder;
  const auto refused = [&](const std::string& text, const std::string& part) {
    check_refused({"spearman", folder.write("in.txt", text)}, exit_bad_input, part);
  };
  refused("", "in.txt: the file is empty");
  refused("1 2 3\n4 5\n", "in.txt:2: got 2 numbers");
  refused("1 2 3\n4 five 6\n", "in.txt:2: column 2: got 'five'");
  refused("1 2 3\n4 NaN 6\n", "in.txt:2: column 2: got NaN");
  refused("1 2 3\n", "got 1 row of numbers");
  refused("1 2\n3 4\n", "got 2 columns of numbers");
  refused("1 2 3\n4 99999999999999999999 6\n", "2^53");
  check_refused({"spearman", folder.path("absent")}, exit_bad_input, "cannot be opened");
  check_refused({"spearman", folder.path("")}, exit_bad_input, "is a directory");
  check_refused({"spearman", folder.write("cut.npy", "\x93NUMPY\x01")}, exit_bad_input,
                "truncated");
  const std::string with_nan = folder.write("nan.txt", "1 2 3\n4 NaN 6\n3 2 2\n");
  CHECK(run_command({"spearman", with_nan, "--nan", "propagate"}).exit_code == 0);
}

TEST_CASE("CUDA that is not there is refused with 4, before the input is read", "[cli][backend]") {
  if (gpu::available_backends().back().usable) {
    gpu_test::note_skip(gpu_test::missing::absence, "CUDA that is not there: there is a device");
    return;
  }
  check_refused({"spearman", "/nonexistent", "--backend", "cuda"}, exit_resources, "cuda");
  check_refused({"spearman", "/nonexistent", "--backend", "cpu"}, exit_bad_input, "nonexistent");
}

TEST_CASE("A result larger than allowed is refused with its estimate", "[cli][output]") {
  const gpu_test::temporary_folder folder;
  const std::string input = folder.write("in.txt", long_table(200));
  const std::string output = folder.path("out.tsv");
  check_refused({"spearman", input, "-o", output, "--max-output", "1K"}, exit_resources,
                "19900 pairs");
  CHECK_FALSE(std::filesystem::exists(output));
  CHECK(run_command({"spearman", input, "-o", output, "--max-output", "1K", "--force"}).exit_code ==
        0);
  CHECK(std::filesystem::exists(output));
  CHECK(run_command({"spearman", input, "--max-output", "1K", "--keep", "counts"}).exit_code == 0);
}

TEST_CASE("A full disk ends the run with 4", "[cli][output]") {
  const gpu_test::temporary_folder folder;
  const std::string input = folder.write("in.txt", long_table(400));
  const std::string output = folder.path("out.tsv");
  SECTION("A device without room") {
    check_refused({"spearman", input, "-o", "/dev/full"}, exit_resources, "/dev/full");
    check_refused({"spearman", input}, exit_resources, "standard output",
                  {.output_path = "/dev/full"});
  }
  SECTION("A file that cannot grow: nothing is left of it") {
    constexpr rlim_t limit = 10000;
    check_refused({"spearman", input, "-o", output}, exit_resources, "cannot be written",
                  {.largest_file = limit});
    CHECK_FALSE(std::filesystem::exists(output));
    CHECK_FALSE(std::filesystem::exists(output + ".partial"));
  }
  SECTION("A small file system, where this process may mount one") {
    const std::string point = folder.path("small");
    std::filesystem::create_directory(point);
    if (::mount("tmpfs", point.c_str(), "tmpfs", 0, "size=64k") == 0) {
      check_refused({"spearman", input, "-o", point + "/out.tsv"}, exit_resources, "No space left");
      CHECK(std::filesystem::is_empty(point));
      CHECK(::umount(point.c_str()) == 0);
    }
  }
  SECTION("A folder that is not there") {
    check_refused({"spearman", input, "-o", folder.path("no/out.tsv")}, exit_resources,
                  "cannot be created");
  }
}

TEST_CASE("An interrupt leaves what was written, and says that it is partial", "[cli][signal]") {
  const gpu_test::temporary_folder folder;
  const std::string input = folder.write("in.txt", long_table(20000));
  const std::string output = folder.path("out.tsv");
  const std::string partial = output + ".partial";
  for (const int signal : {SIGINT, SIGTERM}) {
    command_settings settings;
    settings.signal = signal;
    settings.is_time_to_signal = [&] {
      std::error_code ignored;
      const auto size = std::filesystem::file_size(partial, ignored);
      return !ignored && size > 1000;
    };
    const auto result = run_command({"spearman", input, "-o", output, "--force"}, settings);
    INFO(result.err);
    CHECK(result.exit_code == exit_interrupted);
    CHECK(result.err.find("partial") != std::string::npos);
    CHECK_FALSE(std::filesystem::exists(output));
    REQUIRE(std::filesystem::exists(partial));
    const std::string text = gpu_test::read_file(partial);
    CHECK(text.starts_with("name_i\tname_j\trho\tt\tp\nX1\tX2\t"));
    CHECK(text.back() == '\n');
    std::filesystem::remove(partial);
  }
}

TEST_CASE("An interrupt ends the wait for standard input", "[cli][signal]") {
  const gpu_test::temporary_folder folder;
  const std::string pipe = folder.path("pipe");
  REQUIRE(std::system(("mkfifo " + pipe).c_str()) == 0);
  // Open for both, so that the pipe neither blocks nor ends.
  const int held = ::open(pipe.c_str(), O_RDWR);
  REQUIRE(held >= 0);
  const auto start = std::chrono::steady_clock::now();
  command_settings settings;
  settings.input_path = pipe;
  settings.is_time_to_signal = [&] {
    return std::chrono::steady_clock::now() - start > std::chrono::milliseconds(300);
  };
  const auto result = run_command({"spearman", "-"}, settings);
  ::close(held);
  CHECK(result.exit_code == exit_interrupted);
}
