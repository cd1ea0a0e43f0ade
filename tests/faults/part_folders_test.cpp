// Folders of parts that hold more than parts: users' files, links, files of others, forged and
// damaged manifests, inputs that are replaced while they are read. Nothing that the job has not
// written is lost, and no result is wrong.
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "cli/parts_jobs.hpp"
#include "cli/run_command.hpp"
#include "support/catch.hpp"
#include "support/skip.hpp"

using namespace gpu_test;

namespace {

namespace fs = std::filesystem;

const std::string precious = "a user's own words\n";

void put(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

void check_refused(const command_result& result, int code, const std::string& why) {
  INFO(result.err);
  CHECK(result.exit_code == code);
  CHECK(result.err.starts_with("gpu-similarity: "));
  CHECK(result.err.find(why) != std::string::npos);
}

/// A table, and a folder that parts of it go to.
class workplace {
 public:
  workplace() : input_(folder_.write("in.tsv", correlated_table(120, 10))) {}

  [[nodiscard]] const std::string& input() const { return input_; }
  [[nodiscard]] std::string path(const std::string& name) const { return folder_.path(name); }
  [[nodiscard]] std::string in(const std::string& name = "") const {
    return name.empty() ? folder_.path("parts") : folder_.path("parts/" + name);
  }
  void put_in(const std::string& name, const std::string& text) const {
    fs::create_directories(in());
    put(in(name), text);
  }
  [[nodiscard]] command_result part(int number, int of) const {
    return run_part(input_, options_, number, of, in());
  }
  [[nodiscard]] command_result resume(const std::string& output, const words& more = {}) const {
    return run_command(joined(
        joined({"spearman", input_, "--backend", "cpu", "--resume", "-o", output, "--parts", "3"},
               options_),
        more));
  }
  [[nodiscard]] command_result merge(const std::string& output) const {
    return run_command({"merge", in(), "-o", output});
  }
  [[nodiscard]] std::string expected() const {
    return single_run(input_, options_, folder_.path("single"));
  }

 private:
  temporary_folder folder_;
  std::string input_;
  words options_{"--max-p", "0.05"};
};

/// Calls `meddle` as soon as the command has begun on the input, and at every poll behind.
command_settings meddling(const std::function<void()>& meddle) {
  command_settings settings;
  settings.is_time_to_signal = [meddle] {
    meddle();
    return false;
  };
  return settings;
}

}  // namespace

TEST_CASE("A run with --resume removes nothing that is not its own", "[cli][parts]") {
  const workplace at;
  const std::vector<std::string> names{"count-table.tsv",  "part-a.tsv",
                                       "part-1-of-3.md",   "header.tsv.bak",
                                       "names.txt.orig",   "names.md",
                                       "part-9-of-3.json", "lock",
                                       "notes.partial",    "part-1-of-3.tsv.notes.partial"};
  for (const std::string& name : names) at.put_in(name, precious);
  const command_result result = at.resume(at.path("out"), {"--output-dir", at.in()});
  INFO(result.err);
  CHECK(result.exit_code == 0);
  CHECK(read_file(at.path("out")) == at.expected());
  for (const std::string& name : names) {
    INFO(name);
    CHECK(read_file(at.in(name)) == precious);
  }
  CHECK(files_in(at.in()) == names.size());

  // An input and a result of its own in the folder.
  fs::copy_file(at.input(), at.in("count-7.tsv"));
  const command_result within =
      run_command({"spearman", at.in("count-7.tsv"), "--max-p", "0.05", "--backend", "cpu", "-o",
                   at.in("part-x.tsv"), "--resume", "--output-dir", at.in()});
  INFO(within.err);
  CHECK(within.exit_code == 0);
  CHECK(read_file(at.in("count-7.tsv")) == read_file(at.input()));
  CHECK(read_file(at.in("part-x.tsv")) == at.expected());
}

TEST_CASE("Files of the user under the names of parts are not replaced", "[cli][parts]") {
  for (const char* name : {"part-1-of-3.tsv", "part-1-of-3.json", "header.tsv"}) {
    const workplace at;
    at.put_in(name, precious);
    INFO(name);
    check_refused(at.part(1, 3), exit_bad_input, "is not replaced");
    CHECK(read_file(at.in(name)) == precious);
    check_refused(at.resume(at.path("out"), {"--output-dir", at.in()}), exit_bad_input,
                  "is not replaced");
    CHECK(read_file(at.in(name)) == precious);
    CHECK(!fs::exists(at.path("out")));
  }
  // What a killed process left is known by its bytes.
  const workplace at;
  REQUIRE(at.part(2, 3).exit_code == 0);
  fs::remove(at.in("part-2-of-3.json"));
  CHECK(at.part(2, 3).exit_code == 0);
  fs::remove(at.in("part-2-of-3.json"));
  flip_a_byte(at.in("part-2-of-3.tsv"));
  check_refused(at.part(2, 3), exit_bad_input, "is not replaced");
}

TEST_CASE("Inputs and outputs under the names of parts are refused", "[cli][parts]") {
  const workplace at;
  for (const char* name : {"part-1-of-3.tsv", "part-2-of-3.json", "header.tsv", "names.txt",
                           "part-3-of-3.tsv.abcdef.partial", "count-1-part-1-of-3.bins"}) {
    const std::string inside = at.in(name);
    at.put_in(name, read_file(at.input()));
    const std::string link = at.path("link");
    fs::create_symlink(inside, link);
    for (const std::string& input : {inside, link}) {
      INFO(input);
      check_refused(run_part(input, {}, 1, 3, at.in()), exit_usage, "INPUT: ");
      check_refused(run_part(at.input(), {"--against", input}, 1, 3, at.in()), exit_usage,
                    "--against: ");
      check_refused(
          run_command({"spearman", at.input(), "--resume", "-o", input, "--output-dir", at.in()}),
          exit_usage, "--output: ");
      check_refused(run_command({"spearman", at.input(), "--resume", "-o", at.path("out"),
                                 "--report", input, "--output-dir", at.in()}),
                    exit_usage, "--report: ");
    }
    CHECK(read_file(inside) == read_file(at.input()));
    fs::remove(link);
    fs::remove(inside);
  }
  run_all(at.input(), {"--max-p", "0.05"}, 3, at.in());
  const std::string part = read_file(at.in("part-1-of-3.tsv"));
  check_refused(at.merge(at.in("part-1-of-3.tsv")), exit_usage, "--output: ");
  CHECK(read_file(at.in("part-1-of-3.tsv")) == part);
  const std::string table = read_file(at.input());
  check_refused(at.merge(at.input()), exit_usage, "has the bytes of the input");
  CHECK(read_file(at.input()) == table);
  CHECK(at.merge(at.in("merged.tsv")).exit_code == 0);
  CHECK(read_file(at.in("merged.tsv")) == at.expected());
}

TEST_CASE("Links in a folder of parts are not followed", "[cli][parts]") {
  for (const char* name : {"part-1-of-3.tsv", "part-1-of-3.json", "header.tsv"}) {
    const workplace at;
    fs::create_directories(at.in());
    put(at.path("victim"), precious);
    fs::create_symlink(at.path("victim"), at.in(name));
    INFO(name);
    check_refused(at.part(1, 3), exit_bad_input, "is a link");
    CHECK(read_file(at.path("victim")) == precious);
    // A link to a file that is not there would make one.
    fs::remove(at.path("victim"));
    check_refused(at.part(1, 3), exit_bad_input, "is a link");
    CHECK(!fs::exists(at.path("victim")));
  }
  // A whole part behind a link is none.
  const workplace at;
  run_all(at.input(), {"--max-p", "0.05"}, 3, at.in());
  fs::rename(at.in("part-2-of-3.tsv"), at.path("moved"));
  fs::create_symlink(at.path("moved"), at.in("part-2-of-3.tsv"));
  check_refused(at.merge(at.path("out")), exit_bad_input, "part 2 of 3 is damaged");
  CHECK(run_command({"parts", at.in()}).out.find("is a link") != std::string::npos);
}

TEST_CASE("A hidden folder is the user's own", "[cli][parts]") {
  const workplace at;
  const std::string hidden = at.path(".out.parts");
  fs::create_directories(at.path("elsewhere"));
  fs::create_symlink(at.path("elsewhere"), hidden);
  check_refused(at.resume(at.path("out")), exit_bad_input, hidden + ": is not a folder");
  CHECK(fs::is_empty(at.path("elsewhere")));
  fs::remove(hidden);

  // While it works, nobody else may look into it.
  fs::create_directory(hidden);
  REQUIRE(::chmod(hidden.c_str(), 0777) == 0);
  mode_t seen = 0;
  const auto look = [&] {
    struct stat status{};
    if (::stat(hidden.c_str(), &status) == 0 && fs::exists(hidden + "/.gpu-similarity-lock")) {
      seen = status.st_mode & 0777U;
    }
  };
  const command_result result =
      run_command({"spearman", at.input(), "--backend", "cpu", "--resume", "-o", at.path("out"),
                   "--parts", "40", "--max-p", "0.05"},
                  meddling(look));
  INFO(result.err);
  CHECK(result.exit_code == 0);
  CHECK(seen == 0700);
  CHECK(!fs::exists(hidden));

  if (::geteuid() != 0) {
    return note_skip(missing::privilege, "files cannot be given away");
  }
  constexpr uid_t somebody = 12345;
  fs::create_directory(hidden);
  REQUIRE(::chown(hidden.c_str(), somebody, somebody) == 0);
  check_refused(at.resume(at.path("out")), exit_bad_input, "belongs to user 12345");
  CHECK(fs::is_empty(hidden));
  // Files of others in a folder that the user names.
  run_all(at.input(), {"--max-p", "0.05"}, 3, at.in());
  for (const char* name : {"part-2-of-3.json", "part-2-of-3.tsv"}) {
    INFO(name);
    REQUIRE(::chown(at.in(name).c_str(), somebody, somebody) == 0);
    check_refused(at.merge(at.path("merged")), exit_bad_input, "belongs to user 12345");
    check_refused(at.part(2, 3), exit_bad_input, "belongs to user 12345");
    REQUIRE(::chown(at.in(name).c_str(), ::geteuid(), ::getegid()) == 0);
  }
  CHECK(at.merge(at.path("merged")).exit_code == 0);
}

TEST_CASE("A manifest that is no file, or of too many parts, holds nothing up", "[cli][parts]") {
  const workplace at;
  run_all(at.input(), {"--max-p", "0.05"}, 3, at.in());
  const std::string manifest = at.in("part-2-of-3.json");
  fs::rename(manifest, at.path("kept"));
  const auto refused = [&](const std::string& why) {
    INFO(why);
    check_refused(at.merge(at.path("out")), exit_bad_input, "part 2 of 3 is damaged");
    CHECK(run_command({"parts", at.in()}).out.find(why) != std::string::npos);
    check_refused(at.part(2, 3), exit_bad_input, "is not replaced");
    fs::remove(manifest);
  };
  REQUIRE(::mkfifo(manifest.c_str(), 0600) == 0);
  refused("is not a regular file");
  fs::create_symlink("/dev/zero", manifest);
  refused("is a link");
  fs::create_directory(manifest);
  refused("is not a regular file");
  put(manifest, "");
  fs::resize_file(manifest, std::uintmax_t{1} << 40);  // without blocks on the disk
  refused("too long for a manifest");
  fs::rename(at.path("kept"), manifest);
  CHECK(at.merge(at.path("out")).exit_code == 0);

  const workplace empty;
  empty.put_in("part-1-of-99999999999.json", "");
  check_refused(run_command({"parts", empty.in()}), exit_bad_input, "holds no part");
  // As many as a job may have.
  empty.put_in("part-00000001-of-10000000.json", "");
  const command_result most = run_command({"parts", empty.in(), "--format", "slurm"});
  CHECK(most.out == "1-10000000\n");
  constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20;
  CHECK(most.peak_bytes < 200 * mebibyte);
  CHECK(run_command({"parts", empty.in()}).peak_bytes < 200 * mebibyte);
}

TEST_CASE("What a manifest says is held against its rows", "[cli][parts]") {
  const workplace at;
  run_all(at.input(), {"--max-p", "0.05"}, 3, at.in());
  const auto refused = [&](const char* member, const char* value, int parts) {
    INFO(member << ' ' << value);
    for (int number = 1; number <= parts; ++number) {
      const std::string name = "part-" + std::to_string(number) + "-of-3.json";
      fs::copy_file(at.in(name), at.path(name), fs::copy_options::overwrite_existing);
      forge(at.in(name), member, value);
    }
    const command_result result = at.merge(at.path("out"));
    check_refused(result, exit_bad_input, "part 1 of 3");
    CHECK(!fs::exists(at.path("out")));
    CHECK(run_command({"parts", at.in()}).exit_code == 0);
    for (int number = 1; number <= parts; ++number) {
      const std::string name = "part-" + std::to_string(number) + "-of-3.json";
      fs::rename(at.path(name), at.in(name));
    }
  };
  for (const int parts : {1, 3}) {
    refused("constant_rows", "0", parts);
    refused("constant_rows", "4611686018427387904", parts);
    refused("nan_rows", "5", parts);
    refused("nan_rows", "18446744073709551615", parts);
    refused("infinite_rows", "5", parts);
    refused("infinite_rows", "18446744073709551615", parts);
    refused("y_rows", "7", parts);
    refused("y_constant_rows", "1", parts);
    refused("rows", "4611686018427387904", parts);
    refused("rows", "-1", parts);
    refused("end_row", "4611686018427387904", parts);
    refused("first_row", "-5", parts);
    refused("family", "1", parts);
    refused("pairs_tested", "18446744073709551615", parts);
    refused("name", "\"in.tsv\"", parts);
    refused("name", "\"part-2-of-3.json\"", parts);
  }
  CHECK(at.merge(at.path("out")).exit_code == 0);
}

TEST_CASE("A forged count for Benjamini and Hochberg is refused by name", "[cli][parts]") {
  const workplace at;
  const words options{"--max-p", "0.05", "--adjust", "bh"};
  for (int number = 1; number <= 3; ++number) {
    REQUIRE(run_part(at.input(), options, number, 3, at.in()).exit_code == 0);
  }
  for (const auto& entry : fs::directory_iterator(at.in())) {
    if (entry.path().filename().string().ends_with("-sum.json")) fs::remove(entry.path());
  }
  const std::string manifest = at.in("count-1-part-2-of-3.json");
  const std::string whole = read_file(manifest);
  for (const auto& [member, value] :
       std::vector<std::pair<std::string, std::string>>{{"least", "9"},
                                                        {"most", "1"},
                                                        {"most", "18446744073709551615"},
                                                        {"cols", "11"},
                                                        {"cols", "2"},
                                                        {"cols", "-3"}}) {
    put(manifest, whole);
    forge(manifest, member, value);
    INFO(member << ' ' << value);
    const command_result listed = run_command({"parts", at.in(), "--format", "slurm"});
    const command_result merged = at.merge(at.path("out"));
    INFO(listed.err << merged.err);
    // Damaged, and so to be counted again; or it does not go with the others.
    CHECK((listed.exit_code == 0 || listed.exit_code == exit_bad_input));
    CHECK(merged.exit_code == exit_bad_input);
    CHECK(merged.err.find(at.in()) != std::string::npos);
  }
}

TEST_CASE("Runs with --resume and parts keep out of each other's way", "[cli][parts]") {
  const workplace at;
  fs::create_directories(at.in());
  const int folder = ::open(at.in().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  REQUIRE(folder >= 0);
  // As a running part does.
  REQUIRE(::flock(folder, LOCK_SH | LOCK_NB) == 0);
  at.put_in("part-1-of-3.tsv.abcdef.partial", "being written");
  check_refused(at.resume(at.path("out"), {"--output-dir", at.in()}), exit_bad_input,
                "another process works on this job");
  CHECK(read_file(at.in("part-1-of-3.tsv.abcdef.partial")) == "being written");
  CHECK(at.part(2, 3).exit_code == 0);
  // As a run with --resume does.
  REQUIRE(::flock(folder, LOCK_EX | LOCK_NB) == 0);
  check_refused(at.part(3, 3), exit_bad_input, "--resume works on this job");
  ::close(folder);
  CHECK(at.resume(at.path("out"), {"--output-dir", at.in()}).exit_code == 0);
  CHECK(read_file(at.path("out")) == at.expected());
  CHECK(!fs::exists(at.in()));
}
