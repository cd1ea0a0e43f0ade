// What the command says of how it read a table.
#include <string>

#include "cli/run_command.hpp"
#include "support/catch.hpp"
#include "support/temporary_file.hpp"

using namespace gpu_test;

TEST_CASE("A header of years is no variable", "[cli][reading]") {
  const temporary_folder folder;
  const std::string in = folder.write(
      "in.csv", "country,1990,1991,1992,1993\nSweden,5,3,8,1\nNorway,4,2,9,7\nChad,5,1,2,2\n");
  const auto taken = run_command({"spearman", in, "--report", folder.path("r.json")});
  INFO(taken.err);
  CHECK(taken.exit_code == 0);
  CHECK_FALSE(has(taken.out, "country"));
  CHECK(has(taken.err, "note: " + in +
                           ": line 1 ('country', '1990', '1991', ...) was taken for the "
                           "names of the columns: --header no takes"));
  CHECK(has(taken.err, "3 names of rows from column 1, 4 names of columns from line 1"));
  const std::string report = read_file(folder.path("r.json"));
  CHECK(has(report,
            "\"names\": {\"of_rows\": 3, \"of_rows_from\": \"column 1\", \"of_columns\": 4, "
            "\"of_columns_from\": \"line 1\"}"));
  CHECK(has(report, "\"notes\": [\"line 1 ("));

  const auto forced = run_command({"spearman", in, "--header", "no"});
  CHECK(has(forced.out, "country\tSweden"));
  CHECK_FALSE(has(forced.err, "note:"));
  CHECK(has(forced.err, "4 names of rows from column 1, no names of columns"));
  CHECK(run_command({"spearman", in, "--quiet"}).err.empty());
}

TEST_CASE("Identifiers in front of rows are names or values, as the user says", "[cli][reading]") {
  const temporary_folder folder;
  const std::string in = folder.write(
      "in.tsv", "7157\t0.5\t1.5\t2.5\t2.0\n672\t0.25\t1\t3.5\t7\n675\t1.5\t2.5\t0\t1\n");
  for (const char* const verb : {"spearman", "rank"}) {
    const auto refused = run_command({verb, in});
    CHECK(refused.exit_code == 3);
    CHECK(refused.out.empty());
    CHECK(has(refused.err,
              "in.tsv:1: column 1 ('7157', '672', '675') can be read in two ways: --row-names yes "
              "takes it for the names of the rows, --row-names no takes it for values"));
  }
  const auto edges = run_command({"spearman", in, "--row-names", "yes"});
  CHECK(has(edges.out, "7157\t672\t"));
  const auto ranks = run_command({"rank", in, "--row-names", "yes"});
  CHECK(has(ranks.out, "7157\t1\t2\t4\t3\n"));
  CHECK_FALSE(has(ranks.err, "note:"));
  CHECK(has(ranks.err, "3 names of rows from column 1, no names of columns"));
  CHECK(has(run_command({"rank", in, "--row-names", "no"}).out, "5\t1\t2\t4\t3\n"));
}

TEST_CASE("Tables as spreadsheets and R write them", "[cli][reading]") {
  const temporary_folder folder;
  const std::string plain = folder.write(
      "plain.tsv", "\ta\tb\tc\td\nx, y\t1.5\t2\t3\t4\nz\t4\t3\t2.5\t1\nw\t1\t3\t2\t4\n");
  const std::string wanted = run_command({"spearman", plain, "-q"}).out;
  REQUIRE(has(wanted, "x, y\tz\t-1\t"));
  const auto read = [&](const std::string& text, std::vector<std::string> options = {}) {
    const std::string in = folder.write("in", text);
    std::vector<std::string> line{"spearman", in, "-q"};
    line.insert(line.end(), options.begin(), options.end());
    const auto result = run_command(line);
    INFO(text << result.err);
    CHECK(result.exit_code == 0);
    return result.out;
  };
  CHECK(
      read("\"\",\"a\",\"b\",\"c\",\"d\"\r\n\"x, y\",1.5,2,3,4\r\nz,4,3,2.5,1\r\nw,1,3,2,4\r\n") ==
      wanted);
  CHECK(read(";a;b;c;d\n\"x, y\";1,5;2;3;4\nz;4;3;2,5;1\nw;1;3;2;4\n", {"--decimal", ","}) ==
        wanted);
  CHECK(read("|a|b|c|d\nx, y|1.5|2|3|4\nz|4|3|2.5|1\nw|1|3|2|4\n", {"--delimiter", "bar"}) ==
        wanted);
  CHECK(read("% made by hand\n,a,b,c,d\n\"x, y\",1.5,2,3,4\n% z is next\nz,4,3,2.5,1\nw,1,3,2,4\n",
             {"--comment", "%"}) == wanted);
  CHECK(read("kind,name,a,skip,b,c,d\nq,\"x, y\",1.5,9,2,3,4\nq,z,4,9,3,2.5,1\nq,w,1,9,3,2,4\n",
             {"--names-column", "name", "--skip-columns", "kind,skip"}) == wanted);
  CHECK(read("name,a,skip,b,c,d\n\"x, y\",1.5,9,2,3,4\nz,4,9,3,2.5,1\nw,1,9,3,2,4\n",
             {"--columns", "a,b-d"}) == wanted);
  CHECK(read("#1.2\n3\t4\nName\tDescription\ta\tb\tc\td\nx, y\tone\t1.5\t2\t3\t4\n"
             "z\ttwo\t4\t3\t2.5\t1\nw\t\t1\t3\t2\t4\n") == wanted);
  CHECK(read("\tx, y\tz\tw\na\t1.5\t4\t1\nb\t2\t3\t3\nc\t3\t2.5\t2\nk\t4\t1\t4\n",
             {"--transpose"}) == wanted);
}

TEST_CASE("Missing values are counted, and left out where that is asked", "[cli][reading]") {
  const temporary_folder folder;
  const std::string in =
      folder.write("in.csv", "name,a,b,c,d\nx,1,2,3,4\ny,4,,2,1\nz,1,-999,2,n/a\nw,1,3,2,4\n");
  const auto refused = run_command({"spearman", in, "-q"});
  CHECK(refused.exit_code == 3);
  CHECK(has(
      refused.err,
      "in.csv:3: column 3: got a missing value in row 'y', column 'b', the first of 2, "
      "expected a number (--nan pairwise leaves them out pair by pair, --nan propagate such rows, "
      "--skip-columns columns)"));
  const auto more = run_command({"spearman", in, "-q", "--na-values", "-999.0"});
  CHECK(has(more.err, "the first of 3"));
  const auto left = run_command({"spearman", in, "--nan", "propagate", "-q"});
  CHECK(left.exit_code == 0);
  CHECK(has(left.out, "x\tw\t"));
  CHECK_FALSE(has(left.out, "y"));
}

TEST_CASE("Options on reading that contradict each other or the file", "[cli][reading]") {
  const temporary_folder folder;
  const std::string in = folder.write("in.csv", "name,a,b\nx,1,2\ny,4,3\n");
  const auto said = [&](std::vector<std::string> options, int code) {
    options.insert(options.begin(), {"rank", in});
    const auto result = run_command(options);
    CHECK(result.exit_code == code);
    return result.err;
  };
  CHECK(has(said({"--decimal", ",", "--delimiter", "comma"}, 2), "--delimiter comma"));
  CHECK(has(said({"--comment", " "}, 2), "--comment: got \" \""));
  CHECK(has(said({"--names-column", "name", "--row-names", "no"}, 2), "--row-names no"));
  CHECK(has(said({"--columns", "a,e"}, 3),
            "--columns: got 'e', expected the number of a column "
            "from 1 to 3, a name in the header"));
  CHECK(has(said({"--delimiter", "colon"}, 2), "got colon, expected auto, comma, tab"));
}

TEST_CASE("Parts of a job are read in one way", "[cli][reading][parts]") {
  const temporary_folder folder;
  std::string text = "name;a;b;c;d;e\n";
  for (int i = 0; i < 12; ++i) {
    text += "r" + std::to_string(i);
    for (int j = 0; j < 5; ++j) text += ";" + std::to_string(i * j % 7) + "," + std::to_string(j);
    text += "\n";
  }
  const std::string in = folder.write("in.csv", text);
  const auto whole = run_command({"spearman", in, "--decimal", ",", "--skip-columns", "c", "-q"});
  REQUIRE(whole.exit_code == 0);
  const auto part = [&](const char* number, std::vector<std::string> options) {
    options.insert(options.begin(), {"spearman", in, "--decimal", ",", "-q", "--part", number,
                                     "--output-dir", folder.path("parts")});
    return run_command(options);
  };
  CHECK(part("1/2", {"--skip-columns", "c"}).exit_code == 0);
  const auto other = part("2/2", {"--skip-columns", "d"});
  CHECK(other.exit_code != 0);
  CHECK(has(other.err, "--skip-columns is \"c\""));
  CHECK(part("2/2", {"--skip-columns", "c"}).exit_code == 0);
  const std::string keeps = folder.write("parts/mine.txt", "not of the job\n");
  CHECK(
      run_command({"merge", folder.path("parts"), "-o", folder.path("all.tsv"), "-q"}).exit_code ==
      0);
  CHECK(read_file(folder.path("all.tsv")) == whole.out);

  const auto cleaned = run_command({"parts", folder.path("parts"), "--clean"});
  CHECK(cleaned.exit_code == 0);
  CHECK(cleaned.out == "removed 2 of 2 parts\n");
  CHECK(read_file(keeps) == "not of the job\n");
  const auto gone = run_command({"parts", folder.path("parts"), "--clean"});
  CHECK(gone.exit_code != 0);
  CHECK(has(gone.err, "no part of a job is there"));
}

TEST_CASE("A column q that is not there is explained", "[cli][adjusted]") {
  const temporary_folder folder;
  const std::string in = folder.write("in.csv", "1,2,3,5\n2,1,4,3\n4,3,2,1\n");
  const auto beside = [&](std::vector<std::string> options) {
    options.insert(options.begin(), {"pearson", in, "--max-p", "0.9"});
    return has(run_command(options).err, "there is no column q with --min-abs");
  };
  CHECK(beside({"--adjust", "bh", "--min-abs", "0.1"}));
  CHECK_FALSE(beside({"--adjust", "bh"}));
  CHECK_FALSE(beside({"--adjust", "bonferroni", "--min-abs", "0.1"}));
  CHECK_FALSE(beside({"--min-abs", "0.1"}));
  CHECK_FALSE(beside({"--adjust", "bh", "--min-abs", "0.1", "--quiet"}));
  CHECK_FALSE(beside({"--adjust", "bh", "--min-abs", "0.1", "--keep", "counts"}));
}

TEST_CASE("With missing values p of Kendall is of the ties that a pair shares", "[cli][reading]") {
  const temporary_folder folder;
  // x and y share six columns without ties: 3 of 15 pairs of columns are discordant, p = 98/720. x
  // and z share seven, two of each row tied: S = 15, variance 133/3 - 2 + 1/21.
  const std::string in = folder.write("in.csv",
                                      "name,a,b,c,d,e,f,g,h\nx,1,1,2,3,3,4,5,6\ny,1,,5,2,,7,3,9\n"
                                      "z,1,,2,3,5,4,4,6\n");
  for (const std::vector<std::string>& keep :
       std::vector<std::vector<std::string>>{{"--keep", "edges"}, {"--keep", "top-k", "-k", "2"}}) {
    std::vector<std::string> words{"kendall", in, "--nan", "pairwise", "-q"};
    words.insert(words.end(), keep.begin(), keep.end());
    const auto run = run_command(words);
    INFO(run.err << run.out);
    CHECK(run.exit_code == 0);
    CHECK(has(run.out, "\ty\t0.6\t0.136111\n"));
    CHECK(has(run.out, "\tz\t0.75\t0.0212157\n"));
  }
}

TEST_CASE("An array has no columns to choose and no words for a missing value", "[cli][reading]") {
  const temporary_folder folder;
  const std::string text = folder.write("in.csv", "1,2,3,5\n4,3,9,1\n2,2,8,7\n");
  const std::string array = folder.path("in.npy");
  REQUIRE(run_command({"rank", text, "-q", "-o", array}).exit_code == 0);
  const std::vector<std::vector<std::string>> options{
      {"--columns", "1-3"}, {"--skip-columns", "4"}, {"--na-values", "-999"}};
  for (const auto& option : options) {
    std::vector<std::string> words{"spearman", array, "-q"};
    words.insert(words.end(), option.begin(), option.end());
    const auto refused = run_command(words);
    CHECK(refused.exit_code == 3);
    CHECK(has(refused.err, "in.npy: is an array, and " + option[0] + " is only for text"));
  }
  const std::string two = folder.write("two.csv", "name,a,b,a,c\nx,1,2,3,4\ny,4,3,5,9\n");
  for (const char* const option : {"--columns", "--skip-columns"}) {
    const auto refused = run_command({"rank", two, "-q", option, "a"});
    CHECK(refused.exit_code == 3);
    CHECK(has(refused.err, std::string(option) + ": got 'a', which more than one column has"));
  }
}
