// What the command makes of names: columns of two tables that are the same observations, rows that
// share a name or are named by dates, and the small files that name columns and rows.
#include <algorithm>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "cli/run_command.hpp"
#include "support/catch.hpp"

using namespace gpu_test;

namespace {

/// Small integers with a name for each row and column, as text.
struct named_table {
  std::vector<std::string> rows;
  std::vector<std::string> cols;
  std::vector<std::vector<int>> values;

  named_table(std::string letter, int count, int width, int largest, unsigned seed) {
    std::mt19937 random(seed);
    std::uniform_int_distribution<int> value(0, largest);
    for (int j = 0; j < width; ++j) cols.push_back("s" + std::to_string(j));
    for (int i = 0; i < count; ++i) {
      rows.push_back(letter + std::to_string(i));
      values.emplace_back();
      for (int j = 0; j < width; ++j) values.back().push_back(value(random));
    }
  }

  /// The same with the columns shuffled.
  [[nodiscard]] named_table shuffled(unsigned seed) const {
    named_table out = *this;
    std::vector<std::size_t> order(cols.size());
    for (std::size_t j = 0; j < order.size(); ++j) order[j] = j;
    std::shuffle(order.begin(), order.end(), std::mt19937(seed));
    for (std::size_t j = 0; j < order.size(); ++j) {
      out.cols[j] = cols[order[j]];
      for (std::size_t i = 0; i < values.size(); ++i) out.values[i][j] = values[i][order[j]];
    }
    return out;
  }

  [[nodiscard]] std::string text(bool names_columns = true) const {
    std::string out;
    if (names_columns) {
      out = "id";
      for (const std::string& name : cols) out += "\t" + name;
      out += "\n";
    }
    for (std::size_t i = 0; i < rows.size(); ++i) {
      out += rows[i];
      for (const int value : values[i]) out += "\t" + std::to_string(value);
      out += "\n";
    }
    return out;
  }

  [[nodiscard]] std::string transposed() const {
    std::string out = "id";
    for (const std::string& name : rows) out += "\t" + name;
    for (std::size_t j = 0; j < cols.size(); ++j) {
      out += "\n" + cols[j];
      for (const auto& row : values) out += "\t" + std::to_string(row[j]);
    }
    return out + "\n";
  }

  /// As 10x Genomics writes it: PREFIXmatrix.mtx with features and barcodes.
  void write_sparse(const temporary_folder& folder, const std::string& prefix) const {
    std::string entries;
    int count = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      for (std::size_t j = 0; j < cols.size(); ++j) {
        if (values[i][j] == 0) continue;
        ++count;
        entries += std::to_string(i + 1) + " " + std::to_string(j + 1) + " " +
                   std::to_string(values[i][j]) + "\n";
      }
    }
    static_cast<void>(folder.write(
        prefix + "matrix.mtx", "%%MatrixMarket matrix coordinate integer general\n" +
                                   std::to_string(rows.size()) + " " + std::to_string(cols.size()) +
                                   " " + std::to_string(count) + "\n" + entries));
    const auto lines = [](const std::vector<std::string>& names) {
      std::string out;
      for (const std::string& name : names) out += name + "\n";
      return out;
    };
    static_cast<void>(folder.write(prefix + "features.tsv", lines(rows)));
    static_cast<void>(folder.write(prefix + "barcodes.tsv", lines(cols)));
  }
};

struct cohort {
  named_table x{"g", 9, 40, 9, 1};
  named_table y{"h", 6, 40, 9, 2};
  named_table y_shuffled = y.shuffled(3);
  temporary_folder folder;

  [[nodiscard]] std::string write(const std::string& name, const std::string& text) const {
    return folder.write(name, text);
  }
  /// Standard output of a run that ends well.
  [[nodiscard]] static std::string out(std::vector<std::string> words) {
    words.insert(words.end(), {"--backend", "cpu"});
    const command_result result = run_command(words);
    INFO(result.err);
    CHECK(result.exit_code == 0);
    CHECK(!result.out.empty());
    return result.out;
  }
  /// Standard error of a run that is refused.
  [[nodiscard]] static std::string refused(std::vector<std::string> words, int code) {
    const command_result result = run_command(words);
    INFO(result.err);
    CHECK(result.exit_code == code);
    CHECK(result.out.empty());
    return result.err;
  }
};

}  // namespace

TEST_CASE("Columns of a second table are found by their names", "[cli][names]") {
  const cohort in;
  const std::string x = in.write("x.tsv", in.x.text());
  const std::string y = in.write("y.tsv", in.y.text());
  const std::string other = in.write("other.tsv", in.y_shuffled.text());
  for (const std::string measure : {"spearman", "pearson", "cosine", "kendall"}) {
    for (const std::string keep : {"edges", "dense", "top-k", "counts"}) {
      INFO(measure << ' ' << keep);
      const auto run = [&](const std::string& against) {
        return cohort::out({measure, x, "--against", against, "--keep", keep, "-q"});
      };
      CHECK(run(other) == run(y));
    }
  }
  // Whatever the file is, on either side.
  REQUIRE(std::system(("gzip -k " + other).c_str()) == 0);
  in.x.write_sparse(in.folder, "x_");
  in.y_shuffled.write_sparse(in.folder, "other_");
  const std::string wanted = cohort::out({"pearson", x, "--against", y, "-q"});
  for (const std::string& left : {x, in.folder.path("x_matrix.mtx")}) {
    for (const std::string& right : {other + ".gz", in.folder.path("other_matrix.mtx")}) {
      INFO(left << ' ' << right);
      CHECK(cohort::out({"pearson", left, "--against", right, "-q"}) == wanted);
    }
  }
  const std::string turned_x = in.write("x_turned.tsv", in.x.transposed());
  const std::string turned = in.write("turned.tsv", in.y_shuffled.transposed());
  CHECK(cohort::out({"pearson", turned_x, "--transpose", "--against", turned, "-q"}) == wanted);
  // It is said, and can be asked for otherwise.
  const auto said = run_command({"pearson", x, "--against", other});
  CHECK(has(said.err, "note: " + other + ": columns are matched with those of INPUT by name"));
  CHECK(!has(run_command({"pearson", x, "--against", y}).err, "note:"));
  named_table by_position = in.y_shuffled;
  by_position.cols = in.x.cols;
  const std::string renamed = in.write("renamed.tsv", by_position.text());
  const std::string paired = cohort::out({"pearson", x, "--against", renamed, "-q"});
  CHECK(paired != wanted);
  CHECK(cohort::out({"pearson", x, "--against", other, "--match", "position", "-q"}) == paired);
  // Without names on a side columns are paired in order, as ever.
  const std::string unnamed = in.write("unnamed.tsv", in.y_shuffled.text(false));
  CHECK(cohort::out({"pearson", x, "--against", unnamed, "-q"}) == paired);
}

TEST_CASE("Columns of covariates and weights are found by their names", "[cli][names]") {
  const cohort in;
  const std::string x = in.write("x.tsv", in.x.text());
  const named_table z("z", 2, 40, 30, 5);
  const std::string ordered = in.write("z.tsv", z.text());
  const std::string shuffled = in.write("zs.tsv", z.shuffled(6).text());
  for (const std::string measure : {"spearman", "pearson"}) {
    CHECK(cohort::out({measure, x, "--covariates", shuffled, "-q"}) ==
          cohort::out({measure, x, "--covariates", ordered, "-q"}));
  }
  const named_table w("w", 1, 40, 30, 7);
  const auto weighted = [&](const std::string& name, const std::string& text) {
    return cohort::out({"cosine", x, "--weights", in.write(name, text), "-q"});
  };
  const std::string wanted = weighted("w.tsv", w.text());
  CHECK(weighted("ws.tsv", w.shuffled(8).text()) == wanted);        // one row
  CHECK(weighted("wt.tsv", w.shuffled(9).transposed()) == wanted);  // one column
  CHECK(weighted("wn.tsv", w.text(false)) == wanted);               // without names of columns
  CHECK(weighted("wo.tsv", w.shuffled(8).text(false)) != wanted);
}

TEST_CASE("Bits of fingerprints are found by their names", "[cli][names]") {
  const named_table x("g", 7, 70, 1, 1);
  const named_table y("h", 5, 70, 1, 2);
  const temporary_folder folder;
  const std::string input = folder.write("x.tsv", x.text());
  const auto run = [&](const std::string& name, const std::string& text) {
    return cohort::out({"tanimoto", input, "--against", folder.write(name, text), "-q"});
  };
  CHECK(run("s.tsv", y.shuffled(4).text()) == run("y.tsv", y.text()));
}

TEST_CASE("Names of columns that do not fit are refused", "[cli][names]") {
  const cohort in;
  const std::string x = in.write("x.tsv", in.x.text());
  const auto refused = [&](named_table table, const std::vector<std::string>& words) {
    const std::string file = in.write("y.tsv", table.text());
    for (const std::string option : {"--against", "--covariates"}) {
      const std::string said = cohort::refused({"pearson", x, option, file}, exit_bad_input);
      CHECK(has(said, file));
      for (const std::string& word : words) CHECK(has(said, word));
    }
  };
  named_table other = in.y_shuffled;
  std::replace(other.cols.begin(), other.cols.end(), std::string("s3"), std::string("t3"));
  refused(other, {"column 's3' of " + x + " is missing", "got column 't3'", "--match position"});
  named_table twice = in.y_shuffled;
  std::replace(twice.cols.begin(), twice.cols.end(), std::string("s3"), std::string("s4"));
  refused(twice, {"column 's3' of " + x + " is missing", "--match position"});
  named_table fewer("h", 6, 38, 9, 2);
  refused(fewer, {"got 38 columns of numbers, expected 40", "column 's38' and 1 other"});
  // Both have the same name twice: in the same order they go together, in another they do not.
  const named_table same = twice.shuffled(11);
  const std::string left = in.write("left.tsv", twice.text());
  CHECK(run_command({"pearson", left, "--against", in.write("r.tsv", twice.text())}).exit_code ==
        0);
  const std::string said = cohort::refused(
      {"pearson", left, "--against", in.write("same.tsv", same.text())}, exit_bad_input);
  CHECK(has(said, "column 's4' repeats"));
  CHECK(has(cohort::refused({"pearson", x, "--match", "name"}, exit_usage),
            "--match needs --against, --covariates or --weights"));
}

TEST_CASE("Parts of a job match columns as the whole does", "[cli][names][parts]") {
  const cohort in;
  const std::string x = in.write("x.tsv", in.x.text());
  const std::string other = in.write("other.tsv", in.y_shuffled.text());
  const std::string whole = cohort::out({"spearman", x, "--against", other, "-q"});
  const std::string folder = in.folder.path("parts");
  const auto part = [&](const std::string& which, std::vector<std::string> more) {
    std::vector<std::string> words{"spearman", x,           "--against", other,
                                   "--part",   which,       "-q",        "--output-dir",
                                   folder,     "--backend", "cpu"};
    words.insert(words.end(), more.begin(), more.end());
    return run_command(words);
  };
  CHECK(part("1/2", {}).exit_code == 0);
  const auto wrong = part("2/2", {"--match", "position"});
  CHECK(wrong.exit_code != 0);
  CHECK(has(wrong.err, "--match is"));
  CHECK(part("2/2", {}).exit_code == 0);
  CHECK(run_command({"merge", folder, "-q", "-o", "-"}).out == whole);
  const std::string resumed = in.folder.path("resumed.tsv");
  CHECK(
      run_command({"spearman", x, "--against", other, "--resume", "-o", resumed, "-q"}).exit_code ==
      0);
  CHECK(read_file(resumed) == whole);
}

TEST_CASE("Files of groups and of a module are read as tables are", "[cli][names]") {
  const temporary_folder folder;
  const named_table table("g", 9, 12, 50, 1);
  const std::string input = folder.write("x.tsv", table.text());
  std::string groups;
  for (int j = 0; j < 12; ++j) {
    groups += "s" + std::to_string(11 - j) + "\t" + (j % 2 == 0 ? "a" : "b") + "\n";
  }
  static_cast<void>(folder.write("groups", groups));
  REQUIRE(std::system(("gzip -k " + folder.path("groups")).c_str()) == 0);
  const auto differential = [&](const std::string& given) {
    return run_command({"differential", input, "--groups", given, "-q", "--backend", "cpu"});
  };
  CHECK(differential(folder.path("groups")).exit_code == 0);
  CHECK(differential(folder.path("groups.gz")).out == differential(folder.path("groups")).out);

  const auto check_refused = [](const command_result& result, int code, const std::string& why) {
    INFO(result.err);
    CHECK(result.exit_code == code);
    CHECK(result.out.empty());
    CHECK(has(result.err, why));
  };
  for (const std::string& missing :
       {folder.path("no_such.tsv"), std::string("no_such.tsv"), std::string("no_such")}) {
    check_refused(differential(missing), exit_bad_input, missing + ": there is no such file");
  }
  check_refused(differential(folder.path("")), exit_bad_input, "is a directory");
  check_refused(differential("a,b"), exit_usage, "there is no file of this name either");
  check_refused(differential("-"), exit_usage, "--groups -");

  // What is far too long is refused while it is read.
  std::string many;
  for (int k = 0; k < 5'000'000; ++k) many += "a\n";
  const std::string lines = folder.write("many", many);
  const std::string blank = folder.write("blank", std::string(20'000'000, '\n'));
  const std::string line = folder.write("line", std::string(20'000'000, 'a'));
  check_refused(differential(lines), exit_bad_input, "lines, expected at most one for each of the");
  check_refused(differential(line), exit_bad_input, "line 1 has more than 1000000 bytes");
  check_refused(differential(blank), exit_bad_input, "got 0 labels");
  constexpr std::uint64_t most = 64 << 20;
  for (const std::string& file : {lines, line, blank}) CHECK(differential(file).peak_bytes < most);
}

TEST_CASE("Rows that share a name are said", "[cli][names]") {
  const cohort in;
  named_table table = in.x;
  table.rows[7] = table.rows[2];
  table.rows[5] = table.rows[4];
  const std::string twice = in.write("twice.tsv", table.text());
  const std::string once = in.write("once.tsv", in.y.text());
  const std::string said = "note: " + twice +
                           ": 9 rows have 7 different names: rows 5 and 6 are "
                           "both 'g4'";
  CHECK(has(run_command({"pearson", twice}).err, said));
  CHECK(has(run_command({"pearson", once, "--against", twice}).err, said));
  CHECK(has(run_command({"differential", twice, "--groups",
                         in.write("g", std::string(in.x.text().size(), ' '))})
                .err,
            "got 0 labels"));
  CHECK(has(run_command({"soft-threshold", twice, "--powers", "2", "--keep", "connectivity"}).err,
            said));
  CHECK(!has(run_command({"pearson", once}).err, "note:"));
  CHECK(run_command({"pearson", twice, "-q"}).err.empty());
  // Among many rows the first that repeats is found too.
  std::string many;
  constexpr int rows = 70'000;
  for (int i = 0; i < rows; ++i) {
    const int name = i == 69'000 ? 123 : i == 68'000 ? 456 : i;
    many += "row" + std::to_string(name) + "\t1\t2\t" + std::to_string(i) + "\n";
  }
  CHECK(has(run_command({"cosine", in.write("many.tsv", many), "--keep", "counts", "--min-abs", "1",
                         "--plan"})
                .err,
            "70000 rows have 69998 different names: rows 457 and 68001 are both 'row456'"));
}

TEST_CASE("Rows that look like observations are said", "[cli][names]") {
  const temporary_folder folder;
  const auto said = [&](const std::string& text, std::vector<std::string> more = {}) {
    std::vector<std::string> words{"pearson", folder.write("t.csv", text), "--keep", "counts"};
    words.insert(words.end(), more.begin(), more.end());
    const command_result result = run_command(words);
    INFO(result.err);
    CHECK(result.exit_code == 0);
    return result.err;
  };
  const auto rows = [](int count, const auto& name, const std::string& header = "") {
    std::mt19937 random(1);
    std::string out = header;
    for (int i = 0; i < count; ++i) {
      out += name(i);
      for (int j = 0; j < 4; ++j) out += (j > 0 ? "," : "") + std::to_string(random() % 1000);
      out += "\n";
    }
    return out;
  };
  const auto two = [](int i) { return (i < 9 ? "0" : "") + std::to_string(i + 1); };
  const std::string why = "--transpose takes the columns as variables";
  for (const std::string& date :
       {std::string("2024-03-DD,"), std::string("DD.03.2024,"), std::string("202403DD,x,"),
        std::string("2024-03-DD 10:30:00,"), std::string("2024-03-DDT10:30:00Z,"),
        std::string("03/DD/2024,"), std::string("10:DD,"), std::string("DD-Mar-2024,")}) {
    INFO(date);
    const auto name = [&](int i) {
      std::string out = date;
      out.replace(out.find("DD"), 2, two(i));
      // Digits alone are a name where the file says so.
      return out.substr(0, out.find(',') + 1);
    };
    CHECK(has(said(rows(12, name), {"--row-names", "yes"}), "rows are named by dates or times"));
    CHECK(has(said(rows(12, name), {"--row-names", "yes"}), why));
    // A few rows are no series.
    CHECK(!has(said(rows(9, name), {"--row-names", "yes"}), "note:"));
  }
  const auto plain = [&](int i) { return "t" + two(i) + ","; };
  CHECK(has(said(rows(12, plain, "Date,a,b,c,d\n")), "rows are named by the column 'Date'"));
  CHECK(!has(said(rows(12, plain, "id,a,b,c,d\n")), "note:"));
  for (const std::string& id : {std::string("2024-13-DD,"), std::string("99.99.DD99,"),
                                std::string("1234-56-DD,"), std::string("ENSG000001DD,")}) {
    const auto name = [&](int i) { return std::string(id).replace(id.find("DD"), 2, two(i)); };
    INFO(id);
    CHECK(!has(said(rows(12, name)), "note:"));
  }
  // Numbers alone, with many more rows than columns.
  const auto nothing = [](int) { return std::string(); };
  CHECK(has(said(rows(1000, nothing)),
            "1000 rows without names x 4 columns: each row is a "
            "variable. --transpose takes the columns as variables"));
  CHECK(!has(said(rows(999, nothing)), "note:"));
  CHECK(!has(said(rows(1000, nothing), {"--transpose"}), "note:"));
  CHECK(!has(said(rows(1000, [](int i) { return "g" + std::to_string(i) + ","; })), "note:"));
}

TEST_CASE("Rows with an infinite value are not called constant", "[cli][names]") {
  const temporary_folder folder;
  const std::string x = folder.write(
      "x.csv", "a,inf,1,2,3\nb,1,2,3,5\nc,4,4,4,4\nd,5,-inf,1,0\ne,2,2,1,9\nf,inf,inf,inf,inf\n");
  const std::string report = folder.path("report");
  for (const std::string measure : {"pearson", "cosine", "bicor"}) {
    INFO(measure);
    const auto result = run_command({measure, x, "--backend", "cpu", "--report", report});
    CHECK(result.exit_code == 0);
    CHECK(has(result.err, "3 rows with an infinite value have no correlation"));
    const std::string text = read_file(report);
    CHECK(report_value(text, "infinite_rows") == "3");
    const bool is_cosine = measure == "cosine";
    CHECK(report_value(text, "constant_rows") == (is_cosine ? "0" : "1"));
    CHECK(report_value(text, "y_infinite_rows") == "null");
    CHECK(has(result.err, "1 constant row has") == !is_cosine);
  }
  const auto ranks = run_command({"spearman", x, "--backend", "cpu", "--report", report});
  CHECK(!has(ranks.err, "infinite"));
  CHECK(report_value(read_file(report), "constant_rows") == "2");
  const std::string y = folder.write("y.csv", "a,inf,1,2,3\nb,1,2,3,5\n");
  const auto both =
      run_command({"pearson", x, "--against", y, "--backend", "cpu", "--report", report});
  CHECK(has(both.err, "4 rows with an infinite value"));
  CHECK(report_value(read_file(report), "y_infinite_rows") == "1");
  const std::string wide = folder.write(
      "w.csv", "a,inf,1,2,3,4,5,6,7\nb,1,2,3,5,8,6,7,1\nc,4,4,4,4,1,2,3,9\nd,5,6,1,0,4,4,2,7\n");
  const auto groups = run_command({"differential", wide, "--groups", "a,a,a,a,b,b,b,b"});
  CHECK(has(groups.err, "2 rows have no correlation in a group, 1 of them because of an infinite"));
  const auto network =
      run_command({"soft-threshold", wide, "--powers", "2", "--keep", "connectivity"});
  CHECK(has(network.err, "1 row has no statistic, 1 of them because of an infinite value"));
}
