// Jobs in parts, and what goes wrong on the way: parts that are missing, damaged, forged or
// computed twice, full disks, runs that are killed.
#include <filesystem>
#include <fstream>
#include <future>
#include <string>
#include <vector>

#include "cli/parts_jobs.hpp"
#include "cli/run_command.hpp"
#include "support/catch.hpp"

using namespace gpu_test;

namespace {

namespace fs = std::filesystem;

}  // namespace

TEST_CASE("Parts of another job are refused", "[cli][parts]") {
  const temporary_folder folder;
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
  const temporary_folder folder;
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
  const temporary_folder folder;
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
  // Messages count rows from 1, the manifest from 0.
  const std::string places = "expected it to begin with " + std::to_string(first + 1);
  refused("first_row", std::to_string(first + 1), places);  // a row is missing
  refused("first_row", std::to_string(first - 1), places);  // a row is there twice
  const std::string cut =
      "part 2 of 3 was computed of other rows, or decided by another cut, than ";
  refused("max_p_effective", "0.04", cut + "part 1 of 3");
  refused("cut_at_least", "0.5", cut);
  refused("cut_at_most", "-0.5", cut);
  // What a manifest says of its own rows has to fit together: such a part is to be run again.
  const auto damaged = [&](const std::string& member, const std::string& value) {
    std::ofstream(manifest) << whole;
    forge(manifest, member, value);
    CHECK(run_command({"parts", in, "--format", "slurm"}).out == "2\n");
    const command_result result = run_command({"merge", in, "-o", merged});
    INFO(member << ' ' << value << ": " << result.err);
    CHECK(result.exit_code == exit_bad_input);
    CHECK(result.err.find("part 2 of 3 is damaged") != std::string::npos);
    CHECK(!fs::exists(merged));
  };
  damaged("rows", "101");
  damaged("family", "4000");
  refused("pairs_tested", std::to_string(number("pairs_tested") - 1), "of the whole job");
  refused("pairs_kept", std::to_string(number("pairs_kept") + 1), "the checksum is of");
  std::ofstream(manifest) << whole;
  CHECK(run_command({"merge", in, "-o", merged}).exit_code == 0);
}

TEST_CASE("Degrees are joined with a name for each row", "[cli][parts]") {
  const temporary_folder folder;
  const std::string input = folder.write("in.tsv", correlated_table(50, 10));
  const std::string in = folder.path("parts");
  run_all(input, {"--keep", "counts"}, 2, in);
  const std::string manifest = in + "/part-1-of-2.json";
  const std::string whole = read_file(manifest);
  const std::string names = read_file(in + "/names.txt");
  const std::string degrees = whole.substr(whole.find("{\"role\": \"degrees\""));
  const auto merge = [&](const std::string& text) {
    std::ofstream(in + "/names.txt") << text;
    std::ofstream(manifest) << whole;
    forge(manifest, "files",
          "[{\"role\": \"names\", \"name\": \"names.txt\", \"bytes\": " +
              std::to_string(text.size()) + ", \"crc32\": \"" + crc32_of(text) + "\"}, " +
              degrees.substr(0, degrees.find('}') + 1) + "]");
    CHECK(run_command({"parts", in, "--format", "slurm"}).out.empty());
    return run_command({"merge", in, "-o", folder.path("merged")});
  };
  CHECK(merge(names).exit_code == 0);
  fs::remove(folder.path("merged"));
  const auto refused = [&](const std::string& text, const std::string& why) {
    const command_result result = merge(text);
    INFO(result.err);
    CHECK(result.exit_code == exit_bad_input);
    CHECK(result.err.find("names.txt " + why) != std::string::npos);
    CHECK(!fs::exists(folder.path("merged")));
  };
  refused(names + "more\n", "names more rows than there are");
  refused(names + "\n", "names more rows than there are");
  refused(names.substr(0, names.rfind('\n', names.size() - 2) + 1), "does not name every row");
}

TEST_CASE("Two processes compute one part at the same time", "[cli][parts]") {
  const temporary_folder folder;
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
  const temporary_folder folder;
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
  const temporary_folder folder;
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
  const temporary_folder folder;
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

TEST_CASE("A resumed run that is interrupted keeps its parts", "[cli][parts]") {
  const temporary_folder folder;
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
