// Jobs in parts: every result joined to the bytes of a single run.
#include <filesystem>
#include <string>
#include <vector>

#include "cli/parts_jobs.hpp"
#include "cli/run_command.hpp"
#include "support/catch.hpp"

using namespace gpu_test;

namespace {

namespace fs = std::filesystem;

}  // namespace

TEST_CASE("A job of two tables is one of both", "[cli][parts]") {
  const temporary_folder folder;
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

TEST_CASE("q of partners needs the p of every part, as they were", "[cli][parts][adjusted]") {
  const temporary_folder folder;
  const std::string input = folder.write("in.tsv", correlated_table(150, 10));
  const words options{"--keep", "top-k", "-k", "2", "--max-p", "0.2", "--adjust", "bh"};
  const std::string expected = single_run(input, options, folder.path("single"));
  const std::string in = folder.path("parts");
  const auto merge = [&] { return run_command({"merge", in, "-o", folder.path("merged")}); };
  run_all(input, options, 3, in);
  const std::string p = in + "/part-2-of-3.p";
  REQUIRE(fs::file_size(p) > 80);
  REQUIRE(fs::file_size(p) % 8 == 0);
  const auto is_refused = [&](const std::string& why) {
    const command_result got = merge();
    INFO(got.err);
    CHECK(got.exit_code == exit_bad_input);
    CHECK(got.err.find("part-2-of-3.p") != std::string::npos);
    CHECK(got.err.find(why) != std::string::npos);
    CHECK(!fs::exists(folder.path("merged")));
    CHECK(run_command({"parts", in, "--format", "slurm"}).out == "2\n");
  };
  flip_a_byte(p);
  is_refused("was changed");
  fs::resize_file(p, fs::file_size(p) + 800);
  is_refused("bytes");
  fs::remove(p);
  is_refused("is not there");
  run_all(input, options, 3, in);
  CHECK(merge().exit_code == 0);
  CHECK(read_file(folder.path("merged")) == expected);
}

TEST_CASE("The report of merge is that of the whole job", "[cli][parts]") {
  const temporary_folder folder;
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
                          "edge_sum", "max_p_effective", "cut_at_least", "cut_at_most"}) {
    INFO(key);
    CHECK(report_value(merged, key) == report_value(single, key));
  }
  const auto names_in = [](const std::string& text) {
    const std::size_t at = text.find("\"names\": {");
    return text.substr(at, text.find('}', at) - at);
  };
  CHECK(names_in(merged) == names_in(single));
  CHECK(names_in(merged).find("\"of_rows\": 150") != std::string::npos);
  CHECK(report_value(merged, "y_constant_rows") == "1");
  CHECK(report_value(merged, "edge_sum") != "null");
  // Counts are of no edges: there is no sum of them.
  const std::string counts = folder.path("counts");
  run_all(x, {"--keep", "counts"}, 2, counts);
  REQUIRE(
      run_command({"merge", counts, "-o", folder.path("merged"), "--report", report}).exit_code ==
      0);
  CHECK(report_value(read_file(report), "edge_sum") == "null");
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
  const temporary_folder folder;
  const std::string input = folder.write("in.tsv", correlated_table(200, 10));
  const std::string in = folder.path("parts");
  const std::string expected = single_run(input, {"--max-p", "0.01"}, folder.path("single"));
  run_all(input, {"--max-p", "0.01"}, 3, in);
  std::string text = read_file(in + "/header.tsv");
  for (const char* part : {"1", "2", "3"}) text += read_file(in + "/part-" + part + "-of-3.tsv");
  CHECK(text == expected);
}

TEST_CASE("A part that is there is not computed again", "[cli][parts]") {
  const temporary_folder folder;
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

TEST_CASE("Benjamini and Hochberg's cut is found by all parts", "[cli][parts]") {
  const temporary_folder folder;
  const std::string input = folder.write("in.tsv", correlated_table(300, 10));
  const std::string in = folder.path("parts");
  const words options{"--max-p", "0.05", "--adjust", "bh"};
  CHECK(run_part(input, options, 1, 2, in)
            .err.find("counting round 1 is done for this part. When all parts have it, run the "
                      "same commands "
                      "again") != std::string::npos);
  const auto check = [&] { return run_command({"parts", in, "--check"}).exit_code; };
  CHECK(check() == 1);
  const command_result waits = run_part(input, options, 1, 2, in);
  CHECK(waits.exit_code == 0);
  CHECK(waits.err.find("nothing to do") != std::string::npos);
  CHECK(run_command({"parts", in, "--format", "slurm"}).out == "2\n");
  const command_result early = run_command({"merge", in, "-o", folder.path("merged")});
  CHECK(early.exit_code == exit_bad_input);
  CHECK(early.err.find("the cut of --adjust bh is not fixed yet") != std::string::npos);
  // A pass that was damaged is counted again.
  CHECK(run_part(input, options, 2, 2, in).err.find("Run the same commands again") !=
        std::string::npos);
  CHECK(check() == 1);  // all are counted, none has its result
  fs::remove(in + "/count-1-sum.json");
  flip_a_byte(in + "/count-1-part-2-of-2.bins");
  CHECK(run_command({"parts", in, "--format", "slurm"}).out == "2\n");
  run_all(input, options, 2, in);
  CHECK(check() == 0);
  CHECK(run_command({"parts", in}).exit_code == 0);
  CHECK(run_command({"merge", in, "-o", folder.path("merged")}).exit_code == 0);
  CHECK(read_file(folder.path("merged")) == single_run(input, options, folder.path("single")));
  flip_a_byte(in + "/part-2-of-2.tsv");
  CHECK(check() == 1);
  CHECK(run_command({"parts", in}).exit_code == 0);
}

TEST_CASE("A sum of counts is of one pair of tables", "[cli][parts]") {
  const temporary_folder folder;
  const std::string x = folder.write("x.tsv", correlated_table(90, 10));
  // As many rows of each, so that only their bytes tell the jobs apart.
  const std::string text = correlated_table(200, 10);
  const auto line = [&](int row) {
    std::size_t at = 0;
    for (int i = 0; i < row; ++i) at = text.find('\n', at) + 1;
    return at;
  };
  const std::string one = folder.write("one.tsv", text.substr(0, line(60)));
  const std::string other = folder.write("other.tsv", text.substr(line(90), line(150) - line(90)));
  const std::string in = folder.path("parts");
  const auto options = [](const std::string& y) {
    return words{"--against", y, "--max-p", "0.05", "--adjust", "bh"};
  };
  run_all(x, options(one), 2, in);
  REQUIRE(fs::exists(in + "/count-1-sum.json"));
  for (const auto& entry : fs::directory_iterator(in)) {
    if (entry.path().filename().string().find("-sum.json") == std::string::npos) {
      fs::remove(entry.path());
    }
  }
  run_all(x, options(other), 2, in);
  REQUIRE(run_command({"merge", in, "-o", folder.path("merged")}).exit_code == 0);
  CHECK(read_file(folder.path("merged")) == single_run(x, options(other), folder.path("single")));
}

TEST_CASE("Parts that are there count for --max-output", "[cli][parts]") {
  const temporary_folder folder;
  const std::string input = folder.write("in.tsv", repeated_table(200, 5));
  const std::string in = folder.path("parts");
  // The estimate of degrees is loose: what is written is counted.
  const words options{"--keep", "counts", "--max-p", "0.3"};
  REQUIRE(run_part(input, options, 1, 4, in).exit_code == 0);
  REQUIRE(run_part(input, options, 2, 4, in).exit_code == 0);
  std::uintmax_t bytes = 0;
  for (const char* name : {"/names.txt", "/part-1-of-4.degrees.npy", "/part-2-of-4.degrees.npy"}) {
    bytes += fs::file_size(in + name);
  }
  const command_result result = run_command(
      joined({"spearman", input, "--backend", "cpu", "-o", folder.path("out"), "--resume",
              "--output-dir", in, "--max-output", std::to_string(bytes + 1)},
             options));
  INFO(result.err);
  CHECK(result.exit_code == exit_resources);
  CHECK(result.err.find("--max-output") != std::string::npos);
  CHECK(fs::exists(in + "/part-2-of-4.degrees.npy"));
  CHECK(!fs::exists(in + "/part-3-of-4.degrees.npy"));
}

TEST_CASE("Options of parts that do not go together are refused", "[cli][parts]") {
  const temporary_folder folder;
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
      {"--part", "1/3", "--output-dir", in, "--plan"}};
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
  const temporary_folder folder;
  const std::string input = folder.write("in.tsv", correlated_table(400, 10));
  const std::string plan = run_command({"spearman", input, "--plan", "--parts", "7"}).out;
  CHECK(plan.find("parts\t7, of about ") != std::string::npos);
  CHECK(plan.find("parts, advised\t1\n") != std::string::npos);
  // Without parts it says how long the whole job takes.
  const std::string whole = run_command({"spearman", input, "--plan"}).out;
  CHECK(whole.find("time, estimated\t") != std::string::npos);
  CHECK(whole.find(" s of reading\n") != std::string::npos);
  CHECK(whole.find("parts\t") == std::string::npos);
}
