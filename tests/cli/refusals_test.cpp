// Exit codes: everything that the command refuses, and how it ends when it cannot go on.
#include <sys/mount.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <gpu/execution.hpp>

#include "cli/small_tables.hpp"
#include "support/catch.hpp"
#include "support/skip.hpp"

using namespace gpu_test;

namespace {

constexpr const char* good_table = "1 2 3 4\n4 3 2 2\n5 7 9 8\n";

void job_is_refused(const std::vector<std::string>& arguments, int exit_code,
                    const std::string& part, const command_settings& settings = {}) {
  check_refused(run_command(arguments, settings), exit_code, part);
}

}  // namespace

TEST_CASE("A wrong command line is refused with 2", "[cli][usage]") {
  const temporary_folder folder;
  const std::string input = folder.write("in.txt", good_table);
  job_is_refused({}, exit_usage, "subcommand");
  job_is_refused({"spearman"}, exit_usage, "INPUT");
  job_is_refused({"friedman", input}, exit_usage, "");
  job_is_refused({"spearman", input, "--max-p", "0"}, exit_usage, "above 0 and up to 1");
  job_is_refused({"spearman", input, "--max-p", "1.5"}, exit_usage, "got 1.5");
  job_is_refused({"spearman", input, "--max-p", "-0.1"}, exit_usage, "");
  job_is_refused({"spearman", input, "--max-p", "nan"}, exit_usage, "got nan");
  job_is_refused({"spearman", input, "--max-p", "small"}, exit_usage, "got small");
  job_is_refused({"spearman", input, "--min-abs", "1.01"}, exit_usage, "from 0 to 1");
  job_is_refused({"spearman", input, "--keep", "top-k", "-k", "0"}, exit_usage, "got 0");
  job_is_refused({"spearman", input, "-k", "3"}, exit_usage, "needs --keep top-k");
  job_is_refused({"spearman", input, "--keep", "all"}, exit_usage, "all");
  job_is_refused({"spearman", input, "--tail", "both"}, exit_usage, "both");
  job_is_refused({"spearman", input, "--threads", "0"}, exit_usage, "got 0");
  job_is_refused({"spearman", input, "--backend", "rocm"}, exit_usage, "rocm");
  job_is_refused({"spearman", input, "--variant", "magic"}, exit_usage, "magic");
  job_is_refused({"spearman", input, "--format", "npy"}, exit_usage, "--output FILE");
  job_is_refused({"spearman", input, "--memory-limit", "many"}, exit_usage, "many");
  job_is_refused({"spearman", input, "--memory-limit", "-1"}, exit_usage, "got -1");
  job_is_refused({"spearman", input, "--memory-limit", "0"}, exit_usage, "got 0");
  job_is_refused({"spearman", input, "--max-output", "99999999T"}, exit_usage, "99999999T");
  job_is_refused({"spearman", input, "--threads", "100000"}, exit_usage, "got 100000");
  job_is_refused({"spearman", input, "-o", ""}, exit_usage, "empty name");
  job_is_refused({"spearman", input, "--report", ""}, exit_usage, "empty name");
  job_is_refused({"spearman", ""}, exit_usage, "empty name");
  job_is_refused({"mean-filter", input, "-w", "3", "-o", ""}, exit_usage, "empty name");
  job_is_refused({"spearman", input, "surplus"}, exit_usage, "surplus");
  job_is_refused({"spearman", input, "--backend", "cpu", "--variant", "tensor"}, exit_usage,
                 "tensor");
  CHECK(run_command({"--version"}).exit_code == 0);
  CHECK(run_command({"--help"}).exit_code == 0);
}

TEST_CASE("An option that would change nothing is refused with 2", "[cli][usage]") {
  const temporary_folder folder;
  const std::string input = folder.write("in.txt", good_table);
  const std::string output = folder.path("out");
  const auto refused = [&](std::vector<std::string> more, const std::string& part) {
    more.insert(more.begin(), {"spearman", input});
    job_is_refused(more, exit_usage, part);
    CHECK_FALSE(std::filesystem::exists(output));
  };
  for (const auto& cut : {std::vector<std::string>{"--max-p", "0.5"},
                          {"--min-abs", "0.5"},
                          {"--tail", "less"},
                          {"--adjust", "bh"}}) {
    refused({"--keep", "dense", cut[0], cut[1]}, cut[0] + " does not go with --keep dense");
  }
  refused({"--keep", "counts", "--format", "npy"}, "--output");
  for (const char* file : {"-o", "--report"}) refused({"--plan", file, output}, "--plan");
  refused({"--backend", "cpu", "--devices", "0"}, "--devices");
  for (const std::vector<std::string>& rows :
       {std::vector<std::string>{"rank"}, {"top-k"}, {"mean-filter", "-w", "3"}}) {
    std::vector<std::string> all = rows;
    all.insert(all.begin() + 1, {input, "--devices", "0,1"});
    job_is_refused(
        all, exit_usage,
        "--devices: got 2 devices, expected one: " + rows[0] + " does not share its rows");
  }
  // As many partners as there are, not as much memory as for k.
  const auto top = run_command({"spearman", input, "--keep", "top-k", "-k", "1000000000000"});
  CHECK(top.exit_code == 0);
}

TEST_CASE("--devices is refused where it would change nothing", "[cli][usage]") {
  // Before the input is read, which is not there.
  const command_settings on_cpu{.environment = {{"GPU_SIMILARITY_BACKEND", "cpu"}}};
  job_is_refused({"spearman", "/nonexistent", "--devices", "0"}, exit_usage,
                 "--devices: got 1 with GPU_SIMILARITY_BACKEND=cpu, expected none", on_cpu);
  job_is_refused({"rank", "/nonexistent", "--devices", "0"}, exit_usage,
                 "--devices: got 1 with GPU_SIMILARITY_BACKEND=cpu, expected none", on_cpu);
  job_is_refused({"differential", "/nonexistent", "--groups", "a,a,b,b", "--devices", "0"},
                 exit_usage, "--devices: got 1 with GPU_SIMILARITY_BACKEND=cpu, expected none",
                 on_cpu);
  const gpu::backend_info cuda = gpu::available_backends()[1];
  if (cuda.usable) {
    note_skip(missing::absence, "--devices without CUDA: there is a device");
    return;
  }
  for (const std::string verb : {"spearman", "tanimoto", "rank", "soft-threshold"}) {
    job_is_refused({verb, "/nonexistent", "--devices", "0"}, exit_resources,
                   "--devices: got device 0, but " + cuda.reason);
  }
}

TEST_CASE("The environment is checked before the input is read", "[cli][usage]") {
  const command_settings bad_level{
      .environment = {{"GPU_SIMILARITY_CPU_LEVEL", "sse9"}, {"GPU_SIMILARITY_BACKEND", "cpu"}}};
  job_is_refused({"spearman", "/nonexistent"}, exit_usage, "GPU_SIMILARITY_CPU_LEVEL", bad_level);
  job_is_refused({"mean-filter", "/nonexistent", "-w", "3"}, exit_usage, "GPU_SIMILARITY_CPU_LEVEL",
                 bad_level);
  const command_settings bad_backend{.environment = {{"GPU_SIMILARITY_BACKEND", "abacus"}}};
  job_is_refused({"spearman", "/nonexistent"}, exit_usage, "abacus", bad_backend);
  for (const command_settings& settings : {bad_level, bad_backend}) {
    const auto info = run_command({"info"}, settings);
    CHECK(info.exit_code == 0);
    CHECK(info.out.find("expected") != std::string::npos);
  }
}

TEST_CASE("More threads than the machine can start are capped", "[cli][threads]") {
  const temporary_folder folder;
  const std::string input = folder.write("in.txt", moving_rows(300));
  const command_settings many{.environment = {{"OMP_NUM_THREADS", "100000"}}};
  for (const auto& arguments : {std::vector<std::string>{"spearman", input, "-o", "/dev/null"},
                                {"mean-filter", input, "-w", "3", "-o", "/dev/null"},
                                {"pearson", input, "--keep", "top-k", "-o", "/dev/null"}}) {
    const auto result = run_command(arguments, many);
    INFO(result.err);
    CHECK(result.exit_code == 0);
  }
  CHECK(run_command({"spearman", input, "--threads", "1000", "-o", "/dev/null"}).exit_code == 0);
}

TEST_CASE("Names in messages cannot move the cursor", "[cli][input]") {
  const auto result = run_command({"spearman", "a\x1b[2J\nb\rc"});
  CHECK(result.exit_code == exit_bad_input);
  CHECK(result.err.find_first_of("\x1b\r") == std::string::npos);
  CHECK(std::count(result.err.begin(), result.err.end(), '\n') == 1);
}

TEST_CASE("Bad input is refused with 3 and its place", "[cli][input]") {
  const temporary_folder folder;
  const auto refused = [&](const std::string& text, const std::string& part) {
    job_is_refused({"spearman", folder.write("in.txt", text)}, exit_bad_input, part);
  };
  refused("", "in.txt: the file is empty");
  refused("1 2 3\n4 5\n", "in.txt:2: got 2 numbers");
  refused("1 2 3\n4 five 6\n", "in.txt:2: column 2: got 'five'");
  refused("1 2 3\n4 NaN 6\n", "in.txt:2: column 2: got a missing value, expected a number (--nan");
  refused("1 2 3\n", "got 1 row of numbers");
  refused("1 2\n3 4\n", "got 2 columns of numbers");
  refused("1 2 3\n4 99999999999999999999 6\n", "2^53");
  job_is_refused({"spearman", folder.path("absent")}, exit_bad_input, "cannot be opened");
  job_is_refused({"spearman", folder.path("")}, exit_bad_input,
                 "is a directory without matrix.mtx");
  job_is_refused({"spearman", folder.write("cut.npy", "\x93NUMPY\x01")}, exit_bad_input,
                 "truncated");
  const std::string with_nan = folder.write("nan.txt", "1 2 3\n4 NaN 6\n3 2 2\n");
  CHECK(run_command({"spearman", with_nan, "--nan", "propagate"}).exit_code == 0);
}

TEST_CASE("CUDA that is not there is refused with 4, before the input is read", "[cli][backend]") {
  if (gpu::available_backends().back().usable) {
    note_skip(missing::absence, "CUDA that is not there: there is a device");
    return;
  }
  job_is_refused({"spearman", "/nonexistent", "--backend", "cuda"}, exit_resources, "cuda");
  job_is_refused({"spearman", "/nonexistent", "--backend", "cpu"}, exit_bad_input, "nonexistent");
}

TEST_CASE("A result larger than allowed is refused with its estimate", "[cli][output]") {
  const temporary_folder folder;
  const std::string input = folder.write("in.txt", moving_rows(200));
  const std::string output = folder.path("out.tsv");
  job_is_refused({"spearman", input, "-o", output, "--max-output", "1K"}, exit_resources,
                 "19900 pairs");
  CHECK_FALSE(std::filesystem::exists(output));
  CHECK(run_command({"spearman", input, "-o", output, "--max-output", "1K", "--force"}).exit_code ==
        0);
  CHECK(std::filesystem::exists(output));
  CHECK(run_command({"spearman", input, "--max-output", "1K", "--keep", "counts"}).exit_code == 0);
}

TEST_CASE("A full disk ends the run with 4", "[cli][output]") {
  const temporary_folder folder;
  const std::string input = folder.write("in.txt", moving_rows(400));
  const std::string output = folder.path("out.tsv");
  SECTION("A device without room") {
    job_is_refused({"spearman", input, "-o", "/dev/full"}, exit_resources, "/dev/full");
    job_is_refused({"spearman", input}, exit_resources, "standard output",
                   {.output_path = "/dev/full"});
  }
  SECTION("A file that cannot grow: nothing is left of it") {
    constexpr rlim_t limit = 10000;
    job_is_refused({"spearman", input, "-o", output}, exit_resources, "cannot be written",
                   {.largest_file = limit});
    CHECK(std::distance(std::filesystem::directory_iterator(folder.path("")),
                        std::filesystem::directory_iterator()) == 1);  // the input
  }
  SECTION("A small file system, where this process may mount one") {
    const std::string point = folder.path("small");
    std::filesystem::create_directory(point);
    if (::mount("tmpfs", point.c_str(), "tmpfs", 0, "size=64k") == 0) {
      job_is_refused({"spearman", input, "-o", point + "/out.tsv"}, exit_resources,
                     "No space left");
      CHECK(std::filesystem::is_empty(point));
      CHECK(::umount(point.c_str()) == 0);
    }
  }
  SECTION("A folder that is not there") {
    job_is_refused({"spearman", input, "-o", folder.path("no/out.tsv")}, exit_resources,
                   "cannot be created");
  }
}
