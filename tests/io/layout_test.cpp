// What of a text table is taken for names: by its looks, and by what the user says.
#include <algorithm>
#include <string>
#include <vector>

#include "io/read/read_table.hpp"
#include "support/catch.hpp"
#include "support/temporary_file.hpp"

namespace {

using gpu::io::choice;

gpu::io::table read(const std::string& text, const gpu::io::read_options& options = {}) {
  const gpu_test::temporary_folder folder;
  return gpu::io::read_table(folder.write("in.txt", text), options);
}

/// The message of what is refused; "" where it is read.
std::string refusal_of(const std::string& text, const gpu::io::read_options& options = {}) {
  try {
    (void)read(text, options);
  } catch (const gpu::io::input_error& error) {
    return error.what();
  }
  return "";
}

bool has(const std::string& text, const std::string& part) {
  INFO(text);
  return text.find(part) != std::string::npos;
}

struct expected_shape {
  gpu::index_t rows;
  gpu::index_t cols;
  std::string first_name;    // of a row; "" where rows have none
  std::string first_column;  // "" where columns have none
  std::string note;          // part of the only note; "" where there is none
};

void check(const std::string& text, const expected_shape& expected,
           const gpu::io::read_options& options = {}) {
  INFO(text);
  const auto table = read(text, options);
  CHECK(table.rows() == expected.rows);
  CHECK(table.cols() == expected.cols);
  REQUIRE(table.names.given() == !expected.first_name.empty());
  if (table.names.given()) CHECK(table.names.name(0) == expected.first_name);
  CHECK(table.reading.rows_named_by == (table.names.given() ? "column 1" : ""));
  REQUIRE(table.columns.given() == !expected.first_column.empty());
  if (table.columns.given()) CHECK(table.columns.names.front() == expected.first_column);
  CHECK(table.reading.columns_named_by == (table.columns.given() ? "line 1" : ""));
  REQUIRE(table.reading.notes.size() == (expected.note.empty() ? 0 : 1));
  if (!expected.note.empty()) {
    CAPTURE(table.reading.notes.front());
    CHECK(table.reading.notes.front().find(expected.note) != std::string::npos);
  }
}

}  // namespace

TEST_CASE("A first line of numbers that look like names is a header", "[io][layout]") {
  SECTION("Years") {
    check(
        "country,1990,1991,1992,1993\nSweden,8.5,8.6,8.7,8.6\nNorway,4.2,4.3,4.1,4.3\n"
        "Chad,5,6,5,7\n",
        {3, 4, "Sweden", "1990", "--header no"});
    // Three of them, over integers of their size.
    check("country,1990,1991,1992\nSweden,2100,1800,1900\nNorway,1500,1992,1700\n",
          {2, 3, "Sweden", "1990", "--header no"});
    check("year 1990 1995 2000 2005\na 3 5 2 2\nb 1 7 9 1\n", {2, 4, "a", "1990", "--header no"});
    // Beyond all values, of which some are a series too.
    check("country,1990,1991,1992\nSweden,1,2,3\nNorway,3,1,2\n",
          {2, 3, "Sweden", "1990", "--header no"});
    check("country,1990,1991,1992\nSweden,10,20,30\nNorway,3,1,2\nChad,3,2,1\n",
          {3, 3, "Sweden", "1990", "--header no"});
  }
  SECTION("A label that says so, which no row has") {
    for (const std::string label : {"gene_id", "EntrezID", "id", "Gene", "probe.name"}) {
      check(label + ",1,5,9,12\nTP53,5,3,9,1\nMYC,4,4,1,2\n", {2, 4, "TP53", "1", "--header no"});
      check(label + ",12,7,3.5\nTP53,5,3,9\n", {1, 3, "TP53", "12", "--header no"});
    }
  }
  SECTION("pandas, to_csv(index=False) of a frame without names of columns") {
    check("0,1,2,3\n0.5,0.25,1.5,2.0\n1.5,0.125,3.5,1.0\n", {2, 4, "", "0", "--header no"});
    check("0,1,2\n7,3,9\n4,8,1\n", {2, 3, "", "0", "--header no"});
  }
  SECTION("pandas, to_csv()") {
    check(",0,1,2\n0,7,3,9\n1,4,8,1\n", {2, 3, "0", "0", ""});
    check(",a,b,c\n0,0.5,0.25,1.5\n1,1.5,0.125,3.5\n", {2, 3, "0", "a", ""});
  }
  SECTION("An empty first field, whatever follows and whatever separates") {
    check(",1990,1991,1996\nSweden,1,2,3\nNorway,2,5,7\n", {2, 3, "Sweden", "1990", ""});
    check("\t7\t3\t5\na\t1\t2\t3\n", {1, 3, "a", "7", ""});
    check("\"\",\"7\",\"3\",\"5\"\na,1,2,3\n", {1, 3, "a", "7", ""});
  }
  SECTION("Quoted numbers over others") {
    check("\"id\",\"7\",\"3\",\"5\"\n\"a\",1,2,3\n", {1, 3, "a", "7", ""});
    check("\"7\",\"3\",\"5\"\n1,2,3\n", {1, 3, "", "7", ""});
  }
  SECTION("One field less than the row below, which begins with a name") {
    check("1990 1995 1999\nSweden 1 2 3\nNorway 4 5 1\n", {2, 3, "Sweden", "1990", "--header no"});
  }
  SECTION("Row numbers of eight columns and more") {
    check("1 2 3 4 5 6 7 8\n2 1 4 3 6 5 8 7\n8 8 1 1 2 5 3 2\n", {2, 8, "", "1", "--header no"});
  }
}

TEST_CASE("A first line that may be a row of values stays one", "[io][layout]") {
  SECTION("Silently, where other rows are like it") {
    check("a 1 2 3\nb 4 5 6\nc 7 8 9\n", {3, 3, "a", "", ""});
    check("a 10 20 30 40\nb 4 5 6 7\nc 9 1 1 5\n", {3, 4, "a", "", ""});
    check("a 5 2 9\nb 4 5 1\nc 7 8 2\n", {3, 3, "a", "", ""});
    check("0.5 0.25 7\n4 5 1\n7 8.5 2\n", {3, 3, "", "", ""});
    check("a 1990 1995 2003\nb 1980 1982 1999\nc 2001 1990 2002\n", {3, 3, "a", "", ""});
    check("user_id,1,5,8\nsession_id,5,3,9\nitem_id,4,4,1\n", {3, 3, "user_id", "", ""});
    check("gene,1,5,5\nexon,5,3,9\nintron,4,4,1\n", {3, 3, "gene", "", ""});
  }
  SECTION("With a note, where it alone is a series") {
    check("a 1 2 3\nb 4 9 6\nc 7 8 1\n", {3, 3, "a", "", "--header yes"});
    check("1 2 3 4\n2 1 4 3\n3 3 1 2\n", {3, 4, "", "", "--header yes"});
    // One column less than tells a series from chance.
    check("2 3 4 5 6 7 8\n2 1 4 3 6 5 8\n8 8 1 1 2 5 3\n", {3, 7, "", "", "--header yes"});
  }
  SECTION("With a note, where different integers stand over decimals") {
    check("a 12 7 31\nb 0.5 9.5 6.5\nc 7.5 8.5 1\n", {3, 3, "a", "", "--header yes"});
  }
  SECTION("With a note, where a named first row is beyond all others") {
    check("country,1990,1995,2003\nSweden,10,20,15\nNorway,9,7,3\n",
          {3, 3, "country", "", "--header yes"});
  }
  SECTION("With a note, where it alone has years") {
    check("country,1990,2000,2010,2015\nSweden,1000,2500,3005,4000\nNorway,3222,1444,1333,2222\n",
          {3, 4, "country", "", "--header yes"});
    check("1990 1995 2003\n5 17 2010\n1995 1990 9\n", {3, 3, "", "", "--header yes"});
  }
  SECTION("With a note, where it alone ascends") {
    check("dose,0.5,1,5,20\nA,3,1,9,2\nB,4,4,1,2\n", {3, 4, "dose", "", "--header yes"});
  }
  SECTION("With a note, where it alone counts from 0") {
    check("0 1 2\n1 2 3\n3 5 7\n", {3, 3, "", "", "--header yes"});
  }
}

TEST_CASE("A first column of numbers that look like names is one of names", "[io][layout]") {
  SECTION("Different integers beside decimals") {
    check("7157 0.5 1.5 2.5\n672 0.25 1 3.5\n675 1.5 2.5 0\n",
          {3, 3, "7157", "", "--row-names no"});
    check("entrez,s1,s2,s3\n7157,0.5,1.5,2.5\n672,0.25,1,3.5\n675,1.5,2.5,0\n",
          {3, 3, "7157", "s1", "--row-names no"});
  }
  SECTION("Row numbers") {
    check("0 5 9 2\n1 3 3 1\n2 8 1 7\n", {3, 3, "0", "", "--row-names no"});
    std::string text;
    for (int row = 1; row <= 9; ++row) {
      text += std::to_string(row) + "," + std::to_string(row * row % 7) + ",3," +
              std::to_string(row * 5 % 4) + "\n";
    }
    check(text, {9, 3, "1", "", "--row-names no"});
  }
  SECTION("A label that says so") {
    for (const std::string label : {"gene_id", "EntrezID", "id", "Gene", "probe.name"}) {
      check(label + ",a,b,c\n7157,5,3,8\n672,2,2,9\n", {2, 3, "7157", "a", "--row-names no"});
    }
  }
  SECTION("Quoted, beside numbers that are not") {
    check("\"17\",1,2,3\n\"12\",4,5,6\n", {2, 3, "17", "", ""});
  }
  SECTION("The only column without equal values in many rows") {
    std::string text;
    for (int row = 0; row < 40; ++row) {
      text += std::to_string(row * 37 % 101 + 2);
      for (int column = 0; column < 6; ++column) text += " " + std::to_string(row * column % 9);
      text += "\n";
    }
    check(text, {40, 6, "2", "", "--row-names no"});
  }
  SECTION("Under a header with an empty first field") {
    check(",a,b,c\n5,1,2,3\n5,4,5,6\n", {2, 3, "5", "a", ""});
  }
}

TEST_CASE("A first column that may be values stays one", "[io][layout]") {
  SECTION("Silently, where other columns are like it") {
    check("1 2 3\n4 5 6\n7 8 9\n", {3, 3, "", "", ""});
    check("5 2 3\n5 5 6\n7 8 9\n", {3, 3, "", "", ""});
    check("1 2.5 3\n4 5.5 6\n7 8.5 9\n", {3, 3, "", "", ""});
    check("a,b,c\n5,2.5,3\n5,5,6\n7,8,9\n", {3, 3, "", "a", ""});
  }
  SECTION("With a note") {
    check("1 5 8\n2 3 3\n3 8 1\n", {3, 3, "", "", "--row-names yes"});
    check("7157 5 9\n672 3 3\n675 8 1\n", {3, 3, "", "", "--row-names yes"});
    check("dose,b,c\n5,2,3\n4,5,6\n7,8,9\n", {3, 3, "", "dose", "--row-names yes"});
  }
}

TEST_CASE("What the user says needs no note", "[io][layout]") {
  const std::string years = "country,1990,1991,1992\nSweden,1,2,1\nNorway,5,9,7\n";
  check(years, {2, 3, "Sweden", "1990", ""}, {.text = {.header = choice::yes}});
  check(years, {3, 3, "country", "", ""}, {.text = {.header = choice::no}});
  const std::string ids = "7157 5 9 1\n672 3 3 3\n675 8 1 2\n";
  check(ids, {3, 3, "7157", "", ""}, {.text = {.row_names = choice::yes}});
  check(ids, {3, 4, "", "", ""}, {.text = {.row_names = choice::no}});
}

TEST_CASE("Separators at the ends of a line have fields beside them", "[io][layout]") {
  for (const char separator : {',', '\t'}) {
    const auto line = [&](std::string text) {
      std::replace(text.begin(), text.end(), ',', separator);
      return text;
    };
    INFO("separator " << static_cast<int>(separator));
    CHECK(refusal_of(line("1,2,3\n,4,5,6\n")).find(":2: ") != std::string::npos);
    CHECK(refusal_of(line("1,2,3\n4,5,6,\n")).find(":2: ") != std::string::npos);
    CHECK(refusal_of(line("a,1,2,3\n,4,5,6\n")).find(":2: column 1: got an empty field") !=
          std::string::npos);
    CHECK(read(line("1,2,3,\n4,5,6,\n")).missing == 2);
    // Far in front of the end, where lines of integers are read fast.
    std::string many;
    for (int row = 0; row < 40; ++row) many += line("1,2,3\n");
    CHECK(refusal_of(many + line(",1,2,3\n") + many).find(":41: ") != std::string::npos);
    CHECK(refusal_of(many + line("1,2,3,\n") + many).find(":41: ") != std::string::npos);
    const auto with_hole = read(many + line(",2,3\n") + many);
    CHECK(with_hole.missing == 1);
    CHECK(with_hole.first_nan->line == 41);
    CHECK(with_hole.first_nan->column == 1);
  }
}

TEST_CASE("The line that tells Excel what separates fields tells it here too", "[io][layout]") {
  for (const std::string line : {"sep=;\n", "sep=;\r\n", "SEP=;\n", "\xEF\xBB\xBFsep=;\n"}) {
    INFO(line);
    // By the counts of numbers, commas would separate.
    const auto table = read(line + "n;a;b\nx;1,5;2,5\ny;3,5;1\n", {.text = {.decimal = ','}});
    CHECK(table.rows() == 2);
    CHECK(table.cols() == 2);
    CHECK(table.names.name(1) == "y");
    CHECK(table.reading.columns_named_by == "line 2");
    CHECK(table.columns.names == std::vector<std::string>{"a", "b"});
  }
  CHECK(read("sep=,\n1,2,3\n4,5,6\n").rows() == 2);
  CHECK(read("sep=\t\n1\t2\n3\t4\n").cols() == 2);
  CHECK(read("sep=|\n1|2\n3|4").cols() == 2);
  // Lines are counted from the head of the file.
  CHECK(has(refusal_of("sep=;\n1;2\n3;4\n5;t\n"), ":4: column 2: got 't'"));
  // What the caller says holds; the line is none of the table all the same.
  CHECK(read("sep=;\n1,2\n3,4\n", {.text = {.separator = gpu::io::delimiter::comma}}).cols() == 2);
  CHECK(has(refusal_of("sep=;\n"), "the file is empty"));
  CHECK(has(refusal_of("sep=;"), "the file is empty"));
  // A header that begins so is a header.
  CHECK(read("sep=;x\n1;2\n").columns.names == std::vector<std::string>{"sep=", "x"});
}

TEST_CASE("A message says what can be done about a field", "[io][layout]") {
  const auto hint = [](const std::string& field, char decimal = '.') {
    return refusal_of("name;a;b\nx;1;2\ny;2;" + field + "\n", {.text = {.decimal = decimal}});
  };
  CHECK(has(hint("high"),
            ":3: column 3: got 'high' in column 'b', expected a number (--skip-columns leaves"));
  CHECK(has(hint("0,5"), "(--decimal , where the comma is the decimal mark)"));
  CHECK(has(hint("1.234,5"), "(write the table without marks between thousands; --decimal ,)"));
  CHECK(has(hint("1.234,5", ','), "(write the table without marks between thousands)"));
  CHECK(has(hint("1,234.5"), "(write the table without marks between thousands)"));
  CHECK(has(hint("1 234"), "(write the table without marks between thousands)"));
  CHECK(has(hint("12%"), "(write the table without percent signs)"));
  CHECK(has(hint("\xE2\x88\x92"
                 "1"),
            "(a minus sign is a hyphen, -)"));
  CHECK(has(hint("1.5", ','), "(--decimal . where the point is the decimal mark)"));
  // The names of columns that are read, of all fields.
  CHECK(has(refusal_of("n,a,b,c\nx,1,2,3\ny,1,2,t\n", {.text = {.skip_columns = {"a"}}}),
            ":3: column 4: got 't' in column 'c', expected"));
  CHECK(has(refusal_of("x,1,2\ny,1,t\n"), ":2: column 3: got 't', expected"));

  CHECK(has(refusal_of("n,a,b\nx,1,2\ny,2,1\n,,\n"), ":4: column 1: got no field with text"));
  CHECK(
      has(refusal_of("n,a,b\rx,1,2\ry,2,1\r"), "got lines that end with a carriage return alone"));
  CHECK(read("1,2,3\r").cols() == 3);
  CHECK(has(refusal_of("sep=^\nn;a;b;c\nx;1;2;3\n"), "(--comment 'sep=' leaves lines out"));
  CHECK(has(refusal_of("#made today\nn;a;b\nx;1;2\n"), "(--comment '#' leaves lines out"));
  CHECK(has(refusal_of("a,1,2\nb,2,1\n", {.text = {.separator = gpu::io::delimiter::tab}}),
            "expected numbers (--delimiter says what separates them)"));
  CHECK(has(refusal_of("n,a,b\nx,1,2\n", {.text = {.names_column = "4"}}),
            "got '4', expected the number of a column from 1 to 3 or a name in the header"));
}
