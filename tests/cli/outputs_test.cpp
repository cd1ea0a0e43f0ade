// Where results go: devices, links, modes, limits, and files that must not be the same.
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>
#include <string>
#include <vector>

#include "cli/run_command.hpp"
#include "support/catch.hpp"

using namespace gpu_test;

namespace {

namespace fs = std::filesystem;

constexpr const char* three_rows = "1 2 3 4\n4 3 2 2\n5 7 9 8\n";
constexpr const char* first_line = "name_i\tname_j\trho\tp\n";

mode_t mode_of(const std::string& path) {
  struct stat status{};
  CHECK(::stat(path.c_str(), &status) == 0);
  return status.st_mode & 07777;
}

/// Files in a folder that a run left beside those with a name of their own.
std::size_t leftovers(const std::string& folder) {
  std::size_t found = 0;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".partial") ++found;
  }
  return found;
}

}  // namespace

TEST_CASE("Standard output by its other names is written to, not replaced", "[cli][output]") {
  const temporary_folder folder;
  const std::string input = folder.write("in.txt", three_rows);
  const std::string expected = run_command({"spearman", input}).out;
  REQUIRE(expected.starts_with(first_line));
  const std::string link = folder.path("link");
  fs::create_symlink("/dev/stdout", link);
  for (const std::string& name : {std::string("/dev/stdout"), std::string("/dev/fd/1"),
                                  std::string("/proc/self/fd/1"), link}) {
    const auto result = run_command({"spearman", input, "-o", name});
    INFO(name << ": " << result.err);
    CHECK(result.exit_code == 0);
    CHECK(result.out == expected);
  }
  CHECK(fs::is_symlink("/dev/stdout"));
  CHECK(fs::is_symlink(link));
  CHECK(run_command({"spearman", input, "-o", "/dev/fd/77"}).exit_code == exit_resources);
  CHECK(run_command({"spearman", input, "-o", "/dev/stdin"}).exit_code == exit_resources);
  CHECK(run_command({"spearman", input, "-o", "/dev/stdout", "--format", "npy"}).exit_code ==
        exit_usage);
}

TEST_CASE("A FIFO and a device stay what they are", "[cli][output]") {
  const temporary_folder folder;
  const std::string input = folder.write("in.txt", three_rows);
  const std::string pipe = folder.path("pipe");
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  std::future<std::string> read = std::async(std::launch::async, [&] { return read_file(pipe); });
  CHECK(run_command({"spearman", input, "-o", pipe}).exit_code == 0);
  CHECK(read.get() == run_command({"spearman", input}).out);
  CHECK(fs::is_fifo(pipe));
  CHECK(run_command({"spearman", input, "-o", "/dev/null", "--report", "/dev/null"}).exit_code ==
        0);
  CHECK(fs::is_character_file("/dev/null"));
}

TEST_CASE("Outputs that are the input or each other are refused before any work", "[cli][output]") {
  const temporary_folder folder;
  const std::string input = folder.write("in.txt", three_rows);
  const std::string old = folder.write("old", "old");
  const std::string fresh = folder.path("new");
  fs::create_symlink(input, folder.path("input link"));
  fs::create_hard_link(input, folder.path("input too"));
  fs::create_symlink(fresh, folder.path("new link"));
  const auto refused = [&](std::vector<std::string> arguments,
                           const command_settings& settings = {}) {
    arguments.insert(arguments.begin(), "spearman");
    const auto result = run_command(arguments, settings);
    INFO(result.err);
    CHECK(result.exit_code == exit_usage);
    CHECK(result.out.empty());
    CHECK(read_file(input) == three_rows);
    CHECK(read_file(old) == "old");
    CHECK_FALSE(fs::exists(fresh));
  };
  for (const char* same : {"in.txt", "input link", "input too", "./in.txt"}) {
    refused({input, "-o", folder.path(same)});
    refused({input, "-o", "-", "--report", folder.path(same)});
  }
  refused({"-", "-o", input}, {.input_path = input});
  refused({"in.txt", "-o", input}, {.folder = folder.path("")});
  refused({input, "-o", old, "--report", old});
  refused({input, "-o", fresh, "--report", fresh});
  refused({input, "-o", fresh, "--report", folder.path("new link")});
  refused({input, "-o", fresh, "--report", "new"}, {.folder = folder.path("")});
  refused({input, "--report", "/dev/stdout"});
  refused({input, "--report", "-"});
  for (const std::vector<std::string>& more :
       {std::vector<std::string>{fresh}, {old, "--report", old}}) {
    std::vector<std::string> two{input,   "--nan", "pairwise", "--keep",
                                 "dense", "-o",    fresh,      "--observations-output"};
    two.insert(two.end(), more.begin(), more.end());
    refused(two);
  }
  CHECK(run_command({"mean-filter", input, "-w", "2", "-o", input}).exit_code == exit_usage);
  CHECK(read_file(input) == three_rows);
}

TEST_CASE("A file keeps its mode, and a link is followed", "[cli][output]") {
  const temporary_folder folder;
  const std::string input = folder.write("in.txt", three_rows);
  const std::string output = folder.write("out", "old");
  ::chmod(output.c_str(), 0640);
  const std::string link = folder.path("link");
  fs::create_symlink("out", link);
  // What an older run, or someone else, left under a name that can be guessed.
  const std::string planted = folder.write("victim", "untouched");
  fs::create_symlink(planted, output + ".partial");
  CHECK(run_command({"spearman", input, "-o", link}).exit_code == 0);
  CHECK(fs::is_symlink(link));
  CHECK(read_file(output).starts_with(first_line));
  CHECK(mode_of(output) == 0640);
  CHECK(read_file(planted) == "untouched");
  fs::remove(output + ".partial");

  const mode_t umask = ::umask(027);
  const std::string fresh = folder.path("fresh");
  fs::create_symlink(fresh, folder.path("dangling"));
  CHECK(run_command({"spearman", input, "-o", folder.path("dangling")}).exit_code == 0);
  ::umask(umask);
  CHECK(mode_of(fresh) == 0640);
  CHECK(leftovers(folder.path("")) == 0);

  // The bits that run a program as its owner were given to the old bytes, not to the new ones.
  REQUIRE(::chmod(output.c_str(), 06751) == 0);
  CHECK(run_command({"spearman", input, "-o", output}).exit_code == 0);
  CHECK(mode_of(output) == 0751);
}

TEST_CASE("--max-output holds to the byte whatever the estimate", "[cli][output]") {
  const temporary_folder folder;
  const std::string input = folder.write("in.txt", three_rows);
  const std::string output = folder.path("out.npy");
  const std::string counts = folder.path("n.npy");
  const auto run = [&](const std::vector<std::string>& more) {
    std::vector<std::string> arguments{"spearman", input,    "--nan",
                                       "pairwise", "--keep", "dense",
                                       "-o",       output,   "--observations-output",
                                       counts};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_command(arguments);
  };
  REQUIRE(run({}).exit_code == 0);
  const std::uint64_t bytes = fs::file_size(output) + fs::file_size(counts);
  fs::remove(output);
  fs::remove(counts);
  const auto refused = run({"--max-output", std::to_string(bytes - 1)});
  INFO(refused.err);
  CHECK(refused.exit_code == exit_resources);
  CHECK(refused.err.find("--max-output") != std::string::npos);
  CHECK_FALSE(fs::exists(output));
  CHECK_FALSE(fs::exists(counts));
  CHECK(leftovers(folder.path("")) == 0);
  CHECK(run({"--max-output", std::to_string(bytes)}).exit_code == 0);
  CHECK(fs::file_size(output) + fs::file_size(counts) == bytes);
  CHECK(run({"--max-output", "1", "--force"}).exit_code == 0);
}

TEST_CASE("A result of as many bytes as --max-output is written", "[cli][output]") {
  const temporary_folder folder;
  const std::string input = folder.write("in.txt", three_rows);
  const std::string output = folder.path("out");
  for (const std::vector<std::string>& job :
       {std::vector<std::string>{"spearman", "--keep", "counts"},
        {"spearman", "--keep", "counts", "--format", "npy"},
        {"spearman", "--keep", "dense", "--format", "npy"},
        {"rank"},
        {"top-k", "-k", "2"},
        {"mean-filter", "-w", "2"}}) {
    const auto run = [&](const std::vector<std::string>& more) {
      std::vector<std::string> arguments{job.front(), input, "-o", output};
      arguments.insert(arguments.end(), job.begin() + 1, job.end());
      arguments.insert(arguments.end(), more.begin(), more.end());
      return run_command(arguments);
    };
    REQUIRE(run({}).exit_code == 0);
    const std::uint64_t bytes = fs::file_size(output);
    fs::remove(output);
    INFO(job.front() << ' ' << job.back() << ": " << bytes << " bytes");
    CHECK(run({"--max-output", std::to_string(bytes - 1)}).exit_code == exit_resources);
    CHECK_FALSE(fs::exists(output));
    const auto allowed = run({"--max-output", std::to_string(bytes)});
    INFO(allowed.err);
    CHECK(allowed.exit_code == 0);
    CHECK((fs::exists(output) && fs::file_size(output) == bytes));
  }
}

TEST_CASE("Nothing is written before there is a result", "[cli][output]") {
  const temporary_folder folder;
  const std::string input = folder.write("in.txt", three_rows);
  const auto variant = run_command({"spearman", input, "--backend", "cpu", "--variant", "hopper"});
  CHECK(variant.exit_code == exit_usage);
  CHECK(variant.out.empty());
  const auto memory = run_command({"spearman", input, "--backend", "cpu", "--memory-limit", "1"});
  CHECK(memory.exit_code == exit_resources);
  CHECK(memory.out.empty());
}

TEST_CASE("An output that cannot be written is found before the input is read", "[cli][output]") {
  const temporary_folder folder;
  const std::string nowhere = folder.path("no/file");
  for (const char* option : {"-o", "--report"}) {
    const auto result = run_command({"spearman", "/nonexistent", option, nowhere});
    INFO(result.err);
    CHECK(result.exit_code == exit_resources);
    CHECK(result.err.find("cannot be created") != std::string::npos);
    CHECK(result.err.find("nonexistent") == std::string::npos);
    // One byte more than a name may have.
    const std::string long_name(256, 'a');
    const auto too_long = run_command({"spearman", "/nonexistent", option, folder.path(long_name)});
    INFO(too_long.err);
    CHECK(too_long.exit_code == exit_resources);
    CHECK(too_long.err.find(long_name + ": cannot be written: File name too long") !=
          std::string::npos);
  }
}

TEST_CASE("A closed or full standard error changes no result", "[cli][output]") {
  const temporary_folder folder;
  const std::string input = folder.write("in.txt", three_rows);
  const std::string expected = run_command({"spearman", input}).out;
  const std::string output = folder.path("out");
  for (const command_settings& settings :
       {command_settings{.error_path = "/dev/full"}, command_settings{.closes_error = true}}) {
    CHECK(run_command({"spearman", input, "-o", output}, settings).exit_code == 0);
    CHECK(read_file(output) == expected);
    CHECK(run_command({"spearman", "/nonexistent"}, settings).exit_code == 3);
    CHECK(run_command({"spearman", input, "--max-p", "7"}, settings).exit_code == exit_usage);
  }
}

TEST_CASE("Rows on a terminal are not mixed with progress", "[cli][output]") {
  const temporary_folder folder;
  const std::string input = folder.write("in.txt", three_rows);
  const std::string said = folder.path("said");
  // script(1) gives the command a terminal for both of its streams.
  const std::string on_terminal =
      "script -qec '" + std::string(GPU_SIMILARITY_COMMAND) + " spearman " + input;
  if (std::system("command -v script > /dev/null") != 0) return;
  REQUIRE(std::system((on_terminal + "' /dev/null > " + said + " < /dev/null").c_str()) == 0);
  CHECK(read_file(said).find("\x1b[K") == std::string::npos);
  REQUIRE(std::system(
              (on_terminal + " -o " + folder.path("out") + "' /dev/null > " + said + " < /dev/null")
                  .c_str()) == 0);
  CHECK(read_file(said).find("\x1b[K") != std::string::npos);
}

TEST_CASE("What a full device swallows is no success", "[cli][output]") {
  const command_settings full{.output_path = "/dev/full"};
  CHECK(run_command({"info"}, full).exit_code == exit_resources);
  CHECK(run_command({"--help"}, full).exit_code == exit_resources);
  CHECK(run_command({"spearman", "--help"}, full).exit_code == exit_resources);
  CHECK(run_command({"--version"}, full).exit_code == exit_resources);
}

TEST_CASE("The report says what was run on what", "[cli][report]") {
  const temporary_folder folder;
  const std::string input = folder.write("in\x1b[31m\xff.txt", three_rows);
  const std::string report = folder.path("report.json");
  const auto result = run_command({"spearman", input, "--tail", "less", "--min-abs", "0.5",
                                   "--report", report, "-o", "/dev/null"});
  INFO(result.err);
  REQUIRE(result.exit_code == 0);
  const std::string json = read_file(report);
  CHECK(json.find("in\\u001b[31m\\udcff.txt\"") != std::string::npos);
  CHECK(report_value(json, "bytes") == "24");
  CHECK(report_value(json, "crc32") == "\"d6b30088\"");  // zlib.crc32 of Python
  CHECK(report_value(json, "status") == "\"complete\"");
  CHECK(report_value(json, "version") != "absent");
  CHECK(json.find("\"spearman\", \"") != std::string::npos);
  CHECK(json.find("\"--min-abs\", \"0.5\"") != std::string::npos);
  CHECK(report_value(json, "cut_at_least") == "null");
  CHECK(report_value(json, "cut_at_most") == "-0.5");
  CHECK(report_value(json, "min_abs_effective") == "0.5");
  CHECK(result.err.find("statistic <= -0.5") != std::string::npos);

  const auto all = run_command({"spearman", input, "--tail", "greater", "--report", report});
  CHECK(all.err.find("statistic >= -1") != std::string::npos);
  CHECK(report_value(read_file(report), "min_abs_effective") == "0");
  CHECK(report_value(read_file(report), "cut_at_least") == "-1");
}
