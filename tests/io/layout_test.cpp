// What of a text table is taken for names: by its looks, and by what the user says.
#include <algorithm>
#include <string>
#include <vector>

#include "io/read/read_table.hpp"
#include "io/read_text.hpp"
#include "support/catch.hpp"
#include "support/temporary_file.hpp"

namespace {

using gpu::io::choice;
using gpu_test::read_text;
using gpu_test::refusal_of_text;

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
  std::string header = "line 1";
};

void check(const std::string& text, const expected_shape& expected,
           const gpu::io::read_options& options = {}) {
  INFO(text);
  const auto table = read_text(text, options);
  CHECK(table.rows() == expected.rows);
  CHECK(table.cols() == expected.cols);
  REQUIRE(table.names.given() == !expected.first_name.empty());
  if (table.names.given()) CHECK(table.names.name(0) == expected.first_name);
  CHECK(table.reading.rows_named_by == (table.names.given() ? "column 1" : ""));
  REQUIRE(table.columns.given() == !expected.first_column.empty());
  if (table.columns.given()) CHECK(table.columns.names.front() == expected.first_column);
  CHECK(table.reading.columns_named_by == (table.columns.given() ? expected.header : ""));
  REQUIRE(table.reading.notes.size() == (expected.note.empty() ? 0 : 1));
  if (!expected.note.empty()) {
    CAPTURE(table.reading.notes.front());
    CHECK(table.reading.notes.front().find(expected.note) != std::string::npos);
  }
}

/// Refused because of line or column 1, with both readings and the two options that settle it.
void check_doubt(const std::string& text, const std::string& option) {
  const std::string message = refusal_of_text(text);
  CHECK(has(message, "can be read in two ways"));
  CHECK(has(message, ": " + option + " yes takes it for the names of the"));
  CHECK(has(message, option + " no takes it for"));
  for (const choice said : {choice::yes, choice::no}) {
    gpu::io::text_options options;
    (option == "--header" ? options.header : options.row_names) = said;
    CHECK_FALSE(has(refusal_of_text(text, {.text = options}), option + " yes"));
  }
}

const std::string to_columns = "--header no takes it for a row of values";
const std::string to_rows = "--row-names no takes it for values";
const std::string may_be_header = "--header yes takes it for the names of the columns";
const std::string may_be_names = "--row-names yes takes it for the names of the rows";

}  // namespace

TEST_CASE("A first line with text and no number behind its first field is a header",
          "[io][layout]") {
  check("id,NA,s2\ng1,1,2\ng2,3,1\n", {2, 2, "g1", "NA", ""});
  check("x;s1;;s2\ng1;1;2;3\n", {1, 3, "g1", "s1", ""});
  check("a\n1\n2\n", {2, 1, "", "a", ""});
  // Missing values alone are values.
  check("g1,NA,NA\ng2,1,2\n", {2, 2, "g1", "", ""});
  check("g1,,\ng2,1,2\n", {2, 2, "g1", "", ""});
  check("NA,NA\n1,2\n", {2, 2, "", "", ""});
}

TEST_CASE("Numbers in the first line that name the columns", "[io][layout]") {
  SECTION("Years over names") {
    check("country,1990,1991,1992,1993\nSweden,8.5,8.6,8.7,8.6\nNorway,4.2,4.3,4.1,4.3\n",
          {2, 4, "Sweden", "1990", to_columns});
    // In any steps, over numbers of any size.
    check("country,1990,1991,1992\nSweden,2100,1800,1900\nNorway,1500,1992,1700\n",
          {2, 3, "Sweden", "1990", to_columns});
    check("year 1990 1995 2003\na 3 5 2\nb 1 7 9\n", {2, 3, "a", "1990", to_columns});
    check("country,1990,2000,2010,2015\nSweden,1000,2500,3005,4000\nNorway,3222,1444,1333,2222\n",
          {2, 4, "Sweden", "1990", to_columns});
  }
  SECTION("0, 1, 2, ... over names") {
    check("sample,0,1,2\na,5,3,9\nb,2,2,1\n", {2, 3, "a", "0", to_columns});
  }
  SECTION("A label that says so, which no row has") {
    for (const std::string label : {"gene_id", "EntrezID", "id", "Gene", "probe.name"}) {
      check(label + ",1,5,9,12\nTP53,5,3,9,1\nMYC,4,4,1,2\n", {2, 4, "TP53", "1", to_columns});
      check(label + ",12,7,3.5\nTP53,5,3,9\n", {1, 3, "TP53", "12", to_columns});
      check(label + ",NA,NA,7\nTP53,5,3,9\n", {1, 3, "TP53", "NA", to_columns});
      check(label + ",s1,7,s3\nTP53,5,3,9\n", {1, 3, "TP53", "s1", to_columns});
    }
  }
  SECTION("pandas, to_csv()") {
    check(",0,1,2\n0,7,3,9\n1,4,8,1\n", {2, 3, "0", "0", ""});
    check(",0,1,2\n0,7,3,9\n", {1, 3, "0", "0", ""});
    check(",a,b,c\n0,0.5,0.25,1.5\n1,1.5,0.125,3.5\n", {2, 3, "0", "a", ""});
    check(",0,1\na,7,3\nb,4,8\n", {2, 2, "a", "0", ""});
    check(",7,3,5\n0,7,3,9\n1,4,8,1\n2,2,2,2\n", {3, 3, "0", "7", ""});
    check(",0,1,2\n7157,7,3,9\n672,4,8,1\n", {2, 3, "7157", "0", to_columns});
    check(",1990,1995\nSweden,7,3\nNorway,4,8\n", {2, 2, "Sweden", "1990", ""});
    check(",1990,1995,1997\n17,7,3,1\n12,4,8,1\n", {2, 3, "17", "1990", to_columns});
    check(",a,5\n17,7,3\n12,4,8\n", {2, 2, "17", "a", to_columns});
  }
  SECTION("An empty first field over names, whatever follows and whatever separates") {
    check(",1990,1991,1996\nSweden,1,2,3\nNorway,2,5,7\n", {2, 3, "Sweden", "1990", ""});
    check("\t7\t3\t5\na\t1\t2\t3\n", {1, 3, "a", "7", ""});
    check("\"\",\"7\",\"3\",\"5\"\na,1,2,3\n", {1, 3, "a", "7", ""});
  }
  SECTION("Quoted numbers over others") {
    check("\"id\",\"7\",\"3\",\"5\"\n\"a\",1,2,3\n", {1, 3, "a", "7", ""});
    check("\"7\",\"3\",\"5\"\n1,2,3\n", {1, 3, "", "7", ""});
    check("\"\" \"7\" \"3\"\n\"1\" 5 9\n\"2\" 8 8\n", {2, 2, "1", "7", ""});
    check("\"7\" \"3\"\n\"1\" 5 9\n\"2\" 8 8\n", {2, 2, "1", "7", ""});
  }
  SECTION("One field less than the row below, which begins with a name") {
    check("1990 1995 1999\nSweden 1 2 3\nNorway 4 5 1\n", {2, 3, "Sweden", "1990", to_columns});
  }
}

TEST_CASE("A first line that may be a row of values stays one", "[io][layout]") {
  SECTION("Silently, where other rows are like it") {
    check("a 1 2 3\nb 4 5 6\nc 7 8 9\n", {3, 3, "a", "", ""});
    check("a 10 20 30 4\nb 4 5 6 7\nc 9 1 1 5\n", {3, 4, "a", "", ""});
    check("a 5 2 9\nb 4 5 1\nc 7 8 2\n", {3, 3, "a", "", ""});
    check("0.5 0.25 7\n4 5 1\n7 8.5 2\n", {3, 3, "", "", ""});
    check("0 1 2\n3 4 5\n6 7 8\n", {3, 3, "", "", ""});
    check("a 1990 1995 2003\nb 1980 1982 1999\nc 2001 1990 2002\n", {3, 3, "a", "", ""});
    check("user_id,1,8,5\nsession_id,5,3,9\nitem_id,4,4,1\n", {3, 3, "user_id", "", ""});
    check("gene,1,5,5\nexon,5,3,9\nintron,4,4,1\n", {3, 3, "gene", "", ""});
    // In quotes as those below are.
    check("\"7\",\"3\"\n,\"2\"\n\"5\",\"8\"\n", {3, 2, "", "", ""});
    check("\"7\",\"3\"\n\"5\",\n", {2, 2, "", "", ""});
    check("5,\"3\"\n2,4\n1,8\n", {3, 2, "", "", ""});
  }
  SECTION("With a note, where it alone ascends") {
    check("a 1 2 3\nb 4 9 6\nc 7 8 1\n", {3, 3, "a", "", may_be_header});
    check("1 2 3 4\n2 1 4 3\n2 3 1 2\n", {3, 4, "", "", may_be_header});
    check("1 2 3 4 5 6 7 8\n2 1 4 3 6 5 8 7\n8 8 1 1 2 5 3 2\n", {3, 8, "", "", may_be_header});
    check("dose,0.5,1,5,20\nA,3,1,9,2\nB,4,4,1,2\n", {3, 4, "dose", "", may_be_header});
  }
  SECTION("With a note, where different integers are over decimals") {
    check("a 12 7 31\nb 0.5 9.5 6.5\nc 7.5 8.5 1\n", {3, 3, "a", "", may_be_header});
  }
  SECTION("With a note, where its first value is missing") {
    check(",2,3,1,5\n4,5,6,2,1\n7,8,1,9,3\n1,4,2,8,6\n", {4, 5, "", "", may_be_header});
    check("\t2.5\t3\n4\t5\t6\n7\t8\t9\n", {3, 3, "", "", may_be_header});
    check(",2,3\n4.5,5,6\n7,8,9\n", {3, 3, "", "", may_be_header});
    check(",2,3\n4,5,6\n4,8,9\n", {3, 3, "", "", may_be_header});
    check(",,3\n4,5,6\n5,8,9\n", {3, 3, "", "", may_be_header});
    check(",2,3\n,5,6\n7,8,9\n", {3, 3, "", "", may_be_header});
    check(",,\n1,2,3\n", {2, 3, "", "", may_be_header});
  }
}

TEST_CASE("A first line that can be read in two ways is refused", "[io][layout]") {
  // pandas, to_csv(index=False) of a frame without names of columns, or values.
  check_doubt("0,1,2,3\n0.5,0.25,1.5,2.0\n1.5,0.125,3.5,1.0\n", "--header");
  check_doubt("0;1;2\n7;3;9\n4;8;1\n", "--header");
  check_doubt("1990 1995 2003\n5 17 2010\n1995 1990 9\n", "--header");
  check_doubt("1990,1991,1992\n5,17,20\n", "--header");
  check_doubt("country,1990,1991,1992\nSweden,5,17,20\n", "--header");
  // An empty first field in front of labels, over a column of labels; or a missing value.
  check_doubt(",2,3,4\n5,6,7,8\n9,1,2,3\n", "--header");
  check_doubt("\t1\t2\t3\n4\t5\t6\t7\n8\t9\t1\t2\n", "--header");
  check_doubt(",10,20\r\n5,1,2\r\n3,4,5\r\n", "--header");
}

TEST_CASE("A first column of text names the rows", "[io][layout]") {
  check("a,5\nNA,3\n", {2, 1, "a", "", ""});
  check("NA,5\nb,3\n", {2, 1, "NA", "", ""});
  check("x,s1,s2\nnull,5,2\nb,3,1\n", {2, 2, "null", "s1", ""});
}

TEST_CASE("Numbers in the first column that name the rows", "[io][layout]") {
  SECTION("Under a label that says so, whatever they are") {
    for (const std::string label : {"gene_id", "EntrezID", "id", "index", "Gene", "probe.name"}) {
      check(label + ",a,b,c\n7157,5,3,8\n672,2,2,9\n", {2, 3, "7157", "a", to_rows});
      check(label + ",a,b,c\n7157,5,3,8\n", {1, 3, "7157", "a", to_rows});
      check(label + ",a,b,c\n7,5,3,8\n7,2,2,9\n", {2, 3, "7", "a", to_rows});
      check(label + ",a,b,c\n7.0,5,3,8\n8.0,2,2,9\n", {2, 3, "7.0", "a", to_rows});
      check(label + ",a,b,c\nNA,5,3,8\n8.1,2,2,9\n", {2, 3, "NA", "a", to_rows});
      check(label + ",a,b,c\n7,5,3,8\nTP53,2,2,9\n", {2, 3, "7", "a", ""});
    }
  }
  SECTION("Quoted, next to numbers that are not") {
    check("\"17\",1,2,3\n\"12\",4,5,6\n", {2, 3, "17", "", ""});
    check("\"17\",1,2,3\n\"b\",4,5,6\n", {2, 3, "17", "", ""});
  }
  SECTION("Under a header with an empty first field, or one field short") {
    check(",a,b,c\n5,1,2,3\n5,4,5,6\n", {2, 3, "5", "a", ""});
    check("a b c\n5.5 1 2 3\nNA 4 5 6\n", {2, 3, "5.5", "a", ""});
  }
  SECTION("In a GCT, whatever they are") {
    for (const std::string second : {"1", "2", "1E5", "NA", "x"}) {
      check("#1.2\n2\t2\nName\tDescription\ta\tb\n1\tx\t1\t2\n" + second + "\tx\t3\t1\n",
            {2, 2, "1", "a", "", "line 3"});
    }
  }
}

TEST_CASE("A first column that may be values stays one", "[io][layout]") {
  SECTION("Silently, where other columns are like it") {
    check("1 2 3\n4 5 6\n7 8 9\n", {3, 3, "", "", ""});
    check("5 2 3\n5 5 6\n7 8 9\n", {3, 3, "", "", ""});
    check("1 2.5 3\n4 5.5 6\n7 8.5 9\n", {3, 3, "", "", ""});
    check("0 3 6\n1 4 7\n2 5 8\n", {3, 3, "", "", ""});
    check("a,b,c\n5,2.5,3\n5,5,6\n7,8,9\n", {3, 3, "", "a", ""});
    check("\"17\",\"1\",2\n\"12\",4,\n\"3\",1,2\n", {3, 3, "", "", ""});
  }
  SECTION("With a note, under a header") {
    check("dose,b,c\n5,2,3\n4,5,6\n7,8,9\n", {3, 3, "", "dose", may_be_names});
  }
}

TEST_CASE("A first column that can be read in two ways is refused", "[io][layout]") {
  SECTION("Different integers next to decimals") {
    check_doubt("7157 0.5 1.5 2.5\n672 0.25 1 3.5\n675 1.5 2.5 0\n", "--row-names");
    check_doubt("age,s1,s2\n71,0.5,1.5\n67,0.25,1\n65,1.5,2.5\n", "--row-names");
  }
  SECTION("Different integers beyond all others") {
    check_doubt("7157 5 9\n672 3 3\n675 8 1\n", "--row-names");
  }
  SECTION("Row numbers") {
    check_doubt("0 5 9 2\n1 3 3 1\n2 8 1 7\n", "--row-names");
    check_doubt("1 5 8\n2 3 3\n3 8 1\n", "--row-names");
    check_doubt("n;a;b\n1;5;8\n2;3;3\n3;8;1\n", "--row-names");
  }
  SECTION("The only column without equal values in many rows") {
    std::string text;
    for (int row = 0; row < 40; ++row) {
      text += std::to_string(row * 37 % 101 + 2);
      for (int column = 0; column < 3; ++column) text += " " + std::to_string(row * column % 200);
      text += " " + std::to_string(row % 9) + "\n";
    }
    CHECK(read_text(text).cols() == 5);  // one of the others has none either
    std::string alone;
    for (int row = 0; row < 40; ++row) {
      alone += std::to_string(row * 37 % 101 + 2) + " " + std::to_string(row % 9 * 20) + "\n";
    }
    check_doubt(alone, "--row-names");
  }
  SECTION("Text among numbers") {
    for (const std::string word : {"-", "<0.01",
                                   "\xE2\x88\x92"
                                   "1",
                                   "$1",
                                   "\xC2\xA0"
                                   "1",
                                   "x"}) {
      for (const std::string head : {"", "a,b,c,d\n"}) {
        const std::string rows = ",2,3,1\n4,5,6,2\n7,8,1,9\n";
        const std::string message = refusal_of_text(head + word + rows);
        CHECK(has(message, head.empty() ? ":1: column 1: got" : ":2: column 1: got"));
        CHECK(has(message, ", expected a number ("));
        CHECK(has(message, "; --row-names yes takes column 1 for the names of the rows"));
        CHECK(has(message, "--header yes takes line 1") == head.empty());
        CHECK(read_text(head + word + rows, {.text = {.row_names = choice::yes}}).cols() == 3);
      }
      CHECK(has(refusal_of_text("4,5,6\n" + word + ",2,3\n"), "; --row-names yes takes column 1"));
    }
    CHECK(
        has(refusal_of_text("1,s2,3\n4,5,6\n"),
            "got 's2', expected a number (--skip-columns leaves the column out, --na-values takes "
            "the word for a missing value); --header yes takes line 1 for the names"));
    CHECK_FALSE(has(refusal_of_text("1,2\n4,x\n"), "--header"));
    CHECK_FALSE(has(
        refusal_of_text("x,2\n4,1\n", {.text = {.header = choice::no, .row_names = choice::no}}),
        "yes"));
  }
}

TEST_CASE("A further column of identifiers is refused", "[io][layout]") {
  const std::string head = "Hugo_Symbol\tEntrez_Gene_Id\tS1\tS2\n";
  for (const std::string second : {"672", "7157", "672.0", "NA", ""}) {
    const std::string text = head + "TP53\t7157\t5.1\t3\nBRCA1\t" + second + "\t1\t8\n";
    CHECK(has(refusal_of_text(text),
              ":1: column 2 ('Entrez_Gene_Id': '7157', '" + second +
                  "') can be read in two ways, by its label as identifiers, by its numbers as "
                  "values: --skip-columns Entrez_Gene_Id leaves it out, --columns 2-4 reads it"));
    check(text, {2, 2, "TP53", "S1", ""}, {.text = {.skip_columns = {"Entrez_Gene_Id"}}});
    check(text, {2, 3, "TP53", "Entrez_Gene_Id", ""}, {.text = {.columns = {"2-4"}}});
  }
  // Several, one without a label of its own; without names of rows; one field short.
  CHECK(has(refusal_of_text("n,a,probeID,the id,b\nx,1,4,3,1\ny,2,2,3,1\n"),
            "--skip-columns probeID,4 leaves it out, --columns 2-5"));
  CHECK(has(refusal_of_text("a,id,b\n1,2,3\n3,1,2\n"),
            "--skip-columns id leaves it out, --columns 1-3"));
  CHECK(has(refusal_of_text("a id b\nx 1 2 3\ny 3 1 2\n"), "column 3 ('id': '2', '1')"));
  // Another column of names, or one that is left out, says nothing of it.
  CHECK(has(refusal_of_text("Entrez_Gene_Id,Hugo,a\n7157,TP53,1\n672,MYC,3\n",
                            {.text = {.names_column = "Hugo"}}),
            "--skip-columns Entrez_Gene_Id leaves it out, --columns 1-3 reads it"));
  CHECK(has(refusal_of_text("n,about,id,a\nx,one,7,3\ny,two,9,4\n",
                            {.text = {.skip_columns = {"about"}}}),
            "--skip-columns id leaves it out, --columns 2-4 reads it"));
  // Not numbers of identifiers, or no such label.
  check("n,a,gene_id\nx,1,2.5\ny,2,2\n", {2, 2, "x", "a", ""});
  check("n,a,zip_code,price_index\nx,1,2,1\ny,2,2,7\n", {2, 3, "x", "a", ""});
  check("n,acid,lipid\nx,1,2\ny,2,2\n", {2, 2, "x", "acid", ""});
}

TEST_CASE("A separator that ends each row and not the header is left out", "[io][layout]") {
  const std::string told = "the last field was left out, --columns 2-";
  for (const char separator : {',', ';', '\t', '|'}) {
    const auto line = [&](std::string text) {
      std::replace(text.begin(), text.end(), ',', separator);
      return text;
    };
    INFO("separator " << static_cast<int>(separator));
    check(line("a,b,c,d\n1,2,3,9,\n1,5,6,2,\n7,8,1,5,\n"), {3, 4, "", "a", told + "5"});
    check(line("a,b,c,d\r\n1,2,3,9,\r\n1,5,6,2, \r\n7,8,1,5,"), {3, 4, "", "a", told + "5"});
    check(line("id,b,c\nx,1,2,\ny,5,6,\n"), {2, 2, "x", "b", told + "4"});
    check(line(",b,c,\nx,1,2,\ny,5,6,\n"), {2, 2, "x", "b", told + "4"});
    check(line("b,c\n1,3,\n1,,\n"), {2, 2, "", "b", told + "3"});
    // R's header, which is one field short.
    check(line("a,b,c\nx,1,2,\ny,5,6,7\n"), {2, 3, "x", "a", ""});
    check(line("a,b,c\nx,1,2,\ny,5,6,\n"), {2, 3, "x", "a", ""}, {.text = {.columns = {"2-4"}}});
    // A column that has a name stays, whatever it holds.
    CHECK(read_text(line("a,b,c\n1,2,\n2,2,\n")).missing == 2);
    // Behind the sample, and where lines of integers are read fast.
    std::string many = line("a,b,c\n");
    for (int row = 0; row < 300; ++row) many += line("1,2,3,\n");
    CHECK(read_text(many).cols() == 3);
    CHECK(has(refusal_of_text(many + line("1,2,3,4\n")),
              ":302: column 4: got '4', expected an empty field as after the rows above "
              "(--columns 2-4 reads it)"));
    CHECK(has(refusal_of_text(many + line("1,2,3\n")), ":302: got 3 fields, expected 4"));
  }
  CHECK(has(refusal_of_text("a,b\n1,2,,\n3,4,,\n"),
            "got a header of 2 fields, but the first row has 4"));
  CHECK(has(refusal_of_text("#1.2\n1\t2\nName\tDescription\ta\n1\tx\t1\t2\n"),
            "got a header of 3 fields, but the first row has 4"));
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
    CHECK(refusal_of_text(line("1,2,3\n,4,5,6\n")).find(":2: ") != std::string::npos);
    CHECK(refusal_of_text(line("1,2,3\n4,5,6,\n")).find(":2: ") != std::string::npos);
    CHECK(refusal_of_text(line("a,1,2,3\n,4,5,6\n")).find(":2: column 1: got an empty field") !=
          std::string::npos);
    CHECK(read_text(line("1,2,3,\n4,5,6,\n")).missing == 2);
    // Far in front of the end, where lines of integers are read fast.
    std::string many;
    for (int row = 0; row < 40; ++row) many += line("1,2,3\n");
    CHECK(refusal_of_text(many + line(",1,2,3\n") + many).find(":41: ") != std::string::npos);
    CHECK(refusal_of_text(many + line("1,2,3,\n") + many).find(":41: ") != std::string::npos);
    const auto with_hole = read_text(many + line(",2,3\n") + many);
    CHECK(with_hole.missing == 1);
    CHECK(with_hole.first_nan->line == 41);
    CHECK(with_hole.first_nan->column == 1);
  }
}

TEST_CASE("The line that tells Excel what separates fields tells it here too", "[io][layout]") {
  for (const std::string line : {"sep=;\n", "sep=;\r\n", "SEP=;\n", "\xEF\xBB\xBFsep=;\n"}) {
    INFO(line);
    // By the counts of numbers, commas would separate.
    const auto table = read_text(line + "n;a;b\nx;1,5;2,5\ny;3,5;1\n", {.text = {.decimal = ','}});
    CHECK(table.rows() == 2);
    CHECK(table.cols() == 2);
    CHECK(table.names.name(1) == "y");
    CHECK(table.reading.columns_named_by == "line 2");
    CHECK(table.columns.names == std::vector<std::string>{"a", "b"});
  }
  CHECK(read_text("sep=,\n1,2,3\n4,5,6\n").rows() == 2);
  CHECK(read_text("sep=\t\n1\t2\n3\t4\n").cols() == 2);
  CHECK(read_text("sep=|\n1|2\n3|4").cols() == 2);
  // Lines are counted from the head of the file.
  CHECK(has(refusal_of_text("sep=;\n1;2\n3;4\n5;t\n"), ":4: column 2: got 't'"));
  // What the caller says holds; the line is none of the table all the same.
  CHECK(read_text("sep=;\n1,2\n3,4\n", {.text = {.separator = gpu::io::delimiter::comma}}).cols() ==
        2);
  CHECK(has(refusal_of_text("sep=;\n"), "the file is empty"));
  CHECK(has(refusal_of_text("sep=;"), "the file is empty"));
  // A header that begins so is a header.
  CHECK(read_text("sep=;x\n1;2\n").columns.names == std::vector<std::string>{"sep=", "x"});
}

TEST_CASE("A message says what can be done about a field", "[io][layout]") {
  const auto hint = [](const std::string& field, char decimal = '.') {
    return refusal_of_text("name;a;b\nx;1;2\ny;2;" + field + "\n", {.text = {.decimal = decimal}});
  };
  CHECK(has(hint("high"),
            ":3: column 3: got 'high' in column 'b', expected a number (--skip-columns leaves"));
  CHECK(has(hint("0,5"), "(--decimal , if the comma is the decimal mark)"));
  CHECK(has(hint("1.234,5"), "(write the table without marks between thousands; --decimal ,)"));
  CHECK(has(hint("1.234,5", ','), "(write the table without marks between thousands)"));
  CHECK(has(hint("1,234.5"), "(write the table without marks between thousands)"));
  CHECK(has(hint("1 234"), "(write the table without marks between thousands)"));
  CHECK(has(hint("12%"), "(write the table without percent signs)"));
  CHECK(has(hint("\xE2\x88\x92"
                 "1"),
            "(a minus sign is a hyphen, -)"));
  CHECK(has(hint("1.5", ','), "(--decimal . if the point is the decimal mark)"));
  // The names of columns that are read, of all fields.
  CHECK(has(refusal_of_text("n,a,b,c\nx,1,2,3\ny,1,2,t\n", {.text = {.skip_columns = {"a"}}}),
            ":3: column 4: got 't' in column 'c', expected"));
  CHECK(has(refusal_of_text("x,1,2\ny,1,t\n"), ":2: column 3: got 't', expected"));

  CHECK(has(refusal_of_text("n,a,b\nx,1,2\ny,2,1\n,,\n"), ":4: column 1: got no field with text"));
  CHECK(has(refusal_of_text("n,a,b\rx,1,2\ry,2,1\r"),
            "got lines that end with only a carriage return"));
  CHECK(read_text("1,2,3\r").cols() == 3);
  CHECK(has(refusal_of_text("sep=^\nn;a;b;c\nx;1;2;3\n"), "(--comment 'sep=' leaves lines out"));
  CHECK(has(refusal_of_text("#made today\nn;a;b\nx;1;2\n"), "(--comment '#' leaves lines out"));
  CHECK(has(refusal_of_text("a,1,2\nb,2,1\n", {.text = {.separator = gpu::io::delimiter::tab}}),
            "expected numbers (--delimiter says what separates them)"));
  CHECK(has(refusal_of_text("n,a,b\nx,1,2\n", {.text = {.names_column = "4"}}),
            "got '4', expected the number of a column from 1 to 3 or a name in the header"));
}
