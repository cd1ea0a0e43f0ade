// Text as other programs write it: quotes, delimiters, decimal commas, missing values, chosen
// columns.
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "fuzz/blocks_of_lines.hpp"
#include "io/read/read_table.hpp"
#include "io/read/text_reader.hpp"
#include "io/read_text.hpp"
#include "io/text/text_fields.hpp"
#include "support/catch.hpp"
#include "support/temporary_file.hpp"

namespace {

using gpu::io::choice;
using gpu::io::delimiter;
using gpu::io::read_options;
using gpu::io::text_options;
using gpu_test::values_of;
using strings = std::vector<std::string>;

gpu::io::table read_as(const std::string& text, const text_options& options = {}) {
  return gpu_test::read_text(text, {.text = options, .threads = 2});
}

std::string refusal_at(const std::string& text, const text_options& options = {}) {
  const std::string message = gpu_test::refusal_of_text(text, {.text = options, .threads = 2});
  return message.empty() ? message : message.substr(message.find("in.txt") + 6);
}

strings names_of(const gpu::io::table& table) {
  strings out;
  for (gpu::index_t i = 0; table.names.given() && i < table.rows(); ++i) {
    out.push_back(table.names.name(i));
  }
  return out;
}

/// Enough rows behind the first ones for the ways that only long texts take.
std::string rows_behind(const std::string& row) {
  std::string out;
  for (int i = 0; i < 40; ++i) out += row;
  return out;
}

}  // namespace

TEST_CASE("A separator is found where it stands first", "[io][csv]") {
  // Bytes that differ from the separator by one bit, or by the borrow of a subtraction, included.
  const std::string letters("\0\x01,-+\xac\xff;0", 9);
  std::uint64_t state = 12345;
  for (int trial = 0; trial < 20000; ++trial) {
    std::string text(static_cast<std::size_t>(trial % 41), ' ');
    for (char& c : text) {
      state = state * 6364136223846793005U + 1442695040888963407U;
      c = letters[(state >> 33) % (trial % 3 == 0 ? 9 : 1 + (state >> 60)) % 9];
    }
    for (const char separator : {',', ';', '\t', '|', '\xff'}) {
      if (gpu::io::separator_in(text, separator) == text.find(separator)) continue;
      INFO("'" << separator << "' in a text of " << text.size());
      REQUIRE(gpu::io::separator_in(text, separator) == text.find(separator));
    }
  }
  CHECK(gpu::io::separator_in("1.5,2", ',') == 3);
}

TEST_CASE("Quoted fields hold separators, quotes and line breaks", "[io][csv]") {
  for (const std::string& tail : {std::string(), rows_behind("z,7,8,9\n")}) {
    const auto table = read_as(
        "\"id\",\"a,1\",\"b\"\"2\",\"c\n3\"\n\"x, y\",1,2,3\n\"say \"\"hi\"\"\",4,5,6\n"
        "\"two\nlines\",\"7\",\"8.5\",9\n\"half\r\nway\",1,2,3\r\n" +
        tail);
    CHECK(table.cols() == 3);
    CHECK(table.columns.names == strings{"a,1", "b\"2", "c 3"});
    const strings names = names_of(table);
    REQUIRE(names.size() >= 4);
    CHECK(strings(names.begin(), names.begin() + 4) ==
          strings{"x, y", "say \"hi\"", "two lines", "half way"});
    const auto values = values_of(table);
    CHECK(std::vector<double>(values.begin(), values.begin() + 12) ==
          std::vector<double>{1, 2, 3, 4, 5, 6, 7, 8.5, 9, 1, 2, 3});
  }
}

TEST_CASE("R's write.table and its blanks are read", "[io][csv]") {
  const auto table = read_as("\"a b\" \"c\"\n\"gene one\" 1 2\n\"gene two\" 3\t4\n");
  CHECK(names_of(table) == strings{"gene one", "gene two"});
  CHECK(table.columns.names == strings{"a b", "c"});
  CHECK(values_of(table) == std::vector<double>{1, 2, 3, 4});
}

TEST_CASE("A quote inside a field is a character", "[io][csv]") {
  const auto table =
      read_as("5\" pipe\t1\t2\nalpha \"b\" c\t3\t4\n" + rows_behind("6\" pipe\t5\t6\n"));
  CHECK(names_of(table)[0] == "5\" pipe");
  CHECK(names_of(table)[1] == "alpha \"b\" c");
  CHECK(names_of(table)[9] == "6\" pipe");
}

TEST_CASE("Wrong quotes are refused with their place", "[io][csv]") {
  CHECK(refusal_at("a,1,2\n\"b,3,4\n").starts_with(":2: column 1: got a quote that opens"));
  CHECK(refusal_at("a,1,2\nb,\"3,4\nc,5,6\n").starts_with(":2: column 2: got a quote that opens"));
  CHECK(refusal_at("a,1,2\n\"b\"x,3,4\n").starts_with(":2: column 1: got text after the quote"));
  // Far behind, in front of more than a quote may hold.
  std::string text;
  for (int i = 0; i < 100000; ++i) text += "gene,1,2,3\n";
  const std::string many = text;
  text += "\"open,1,2,3\n";
  for (int i = 0; i < 3; ++i) text += many;
  CHECK(refusal_at(text).starts_with(":100001: column 1: got a quote that opens"));
}

TEST_CASE("Line breaks in quotes do not disturb blocks, segments and line numbers", "[io][csv]") {
  std::string text = "id,a,b\n";
  strings names;
  std::vector<double> values;
  for (int i = 0; i < 900000; ++i) {
    const bool has_break = i % 1000 == 700;
    names.push_back((has_break ? "g, " : "g") + std::to_string(i));
    text += has_break ? "\"g,\n" + std::to_string(i) + "\"" : names.back();
    text += "," + std::to_string(i % 100) + "," + std::to_string(i % 7) + "\n";
    values.push_back(i % 100);
    values.push_back(i % 7);
  }
  for (const int threads : {1, 2}) {
    const gpu_test::temporary_folder folder;
    const auto table = gpu::io::read_table(folder.write("in.csv", text), {.threads = threads});
    CHECK(values_of(table) == values);
    CHECK(names_of(table) == names);
  }
  CHECK(refusal_at(text + "x,1\n").starts_with(":900902: got 1 number,"));
}

TEST_CASE("The delimiter is found, or said", "[io][csv]") {
  const std::vector<double> values{1, 2, 3, 4, 5, 6};
  CHECK(values_of(read_as("a;1;2;3\nb;4;5;6\n")) == values);
  CHECK(values_of(read_as("a|1|2|3\nb|4|5|6\n")) == values);
  CHECK(values_of(read_as("a|x 1 2 3\nb|y 4 5 6\n")) == values);
  CHECK(names_of(read_as("p;q,1,2,3\nr;s,4,5,6\n")) == strings{"p;q", "r;s"});
  CHECK(names_of(read_as("a b\t1\t2\t3\nc,d\t4\t5\t6\n")) == strings{"a b", "c,d"});
  CHECK(values_of(read_as("1;2;3\n4;5;6\n", {.separator = delimiter::semicolon})) == values);
  CHECK(values_of(read_as("1 \t 2 3\n4\t5 6\n", {.separator = delimiter::blanks})) == values);
  CHECK(values_of(read_as("1|2|3\n4|5|6\n", {.separator = delimiter::bar})) == values);
  CHECK_FALSE(refusal_at("1,2,3\n4,5,6\n", {.separator = delimiter::tab}).empty());
}

TEST_CASE("The decimal comma", "[io][csv]") {
  const text_options comma{.decimal = ','};
  const std::vector<double> values{1.5, 2, -0.25, 4000};
  CHECK(values_of(read_as("a;1,5;2\nb;-0,25;4e3\n", comma)) == values);
  CHECK(values_of(read_as("1,5 2\n-0,25 4e3\n", comma)) == values);
  CHECK(values_of(read_as("1,5\t2\n-0,25\t4e3\n", comma)) == values);
  CHECK(refusal_at("a;1,5;2\nb;3;1.000,5\n", comma).starts_with(":2: column 3: got '1.000,5'"));
  // A file of another country is not read as something else.
  for (const std::string text : {"a;1,5;2,5;3,5\nb;1,0;2,0;3,0\n", "a\t1,5\t2,5\nb\t1,0\t2,0\n"}) {
    CHECK(refusal_at(text).find("--decimal ,") != std::string::npos);
  }
}

TEST_CASE("Comments are left out", "[io][csv]") {
  const text_options hash{.comment = "#"};
  const std::string text = "# made by \"x\n#\nid,a,b\n# more, of it\ng1,1,2\n  # blanks\ng2,3,4\n" +
                           rows_behind("g3,5,6\n#,7\n");
  const auto table = read_as(text, hash);
  CHECK(table.rows() == 42);
  CHECK(table.columns.names == strings{"a", "b"});
  CHECK(names_of(table)[1] == "g2");
  CHECK(refusal_at(text + "g,1\n", hash).starts_with(":88: "));
  CHECK(refusal_at("# made by x\nid,a,b\ng1,1,2\n").find("--comment '#'") != std::string::npos);
}

TEST_CASE("Missing values are NaN, counted and placed", "[io][csv]") {
  for (const std::string word :
       {"", "NA", "NaN", "nan", "na", "null", ".", "N/A", "\"\"", "\"NA\""}) {
    INFO(word);
    const auto table = read_as("a,1,2,3\nb,4," + word + ",6\nc,,8," + word + "\n");
    const auto values = values_of(table);
    CHECK(std::isnan(values[4]));
    CHECK(std::isnan(values[6]));
    CHECK(std::isnan(values[8]));
    CHECK(table.missing == 3);
    REQUIRE(table.first_nan);
    CHECK(table.first_nan->line == 2);
    CHECK(table.first_nan->column == 3);
  }
  // Nothing but missing values: each takes one character.
  std::string holes = "id,a,b,c,d,e,f\n";
  for (int i = 0; i < 100000; ++i) holes += "g,,,,,,\n";
  CHECK(read_as(holes).missing == 600000);
}

TEST_CASE("The user's words for a missing value", "[io][csv]") {
  const std::string text = "a,1,2,-999\nb,4,-,6\nc,7,-999.0,NA\n" + rows_behind("d,-999,1,2\n");
  CHECK(read_as(text, {.missing = {"-999", "-"}}).missing == 44);
  CHECK(refusal_at(text, {.missing = {"-999"}}).starts_with(":2: column 3: got '-'"));
}

TEST_CASE("Blanks within the quotes of a number mean nothing", "[io][csv]") {
  const auto table = read_as("a,b,c\n\" 5 \",1,2.5\n3,\"4 \",\" NA\"\n");
  const std::vector<double> values = values_of(table);
  REQUIRE(values.size() == 6);
  CHECK(values[0] == 5);
  CHECK(values[4] == 4);
  CHECK(table.missing == 1);
}

TEST_CASE("Columns are chosen by number, range or name", "[io][csv]") {
  const std::string text = "id,note,s1,s2,s-3,1990\ng1,first one,1,2,3,4\ng2,second,5,6,7,8\n" +
                           rows_behind("g3,x,9,10,11,12\n");
  const auto check = [&](const text_options& options, const strings& columns,
                         const std::vector<double>& first, const std::string& name) {
    const auto table = read_as(text, options);
    CHECK(table.columns.names == columns);
    auto values = values_of(table);
    values.resize(first.size());
    CHECK(values == first);
    CHECK(table.names.given() == !name.empty());
    if (!name.empty()) CHECK(table.names.name(0) == name);
  };
  check({.skip_columns = {"note"}}, {"s1", "s2", "s-3", "1990"}, {1, 2, 3, 4, 5}, "g1");
  check({.header = choice::yes, .skip_columns = {"2"}}, {"s1", "s2", "s-3", "1990"},
        {1, 2, 3, 4, 5}, "g1");
  check({.columns = {"3-4", "1990"}}, {"s1", "s2", "1990"}, {1, 2, 4, 5}, "g1");
  check({.columns = {"s2-1990"}}, {"s2", "s-3", "1990"}, {2, 3, 4, 6}, "g1");
  check({.columns = {"s-3", "s1"}}, {"s1", "s-3"}, {1, 3, 5}, "g1");
  check({.columns = {"4-"}}, {"s2", "s-3", "1990"}, {2, 3, 4, 6}, "g1");
  check({.columns = {"s-3-"}}, {"s-3", "1990"}, {3, 4, 7}, "g1");
  check({.columns = {"6-"}}, {"1990"}, {4, 8}, "g1");
  check({.columns = {"3-3", "s2-s2"}}, {"s1", "s2"}, {1, 2, 5}, "g1");
  check({.skip_columns = {"id"}, .names_column = "note"}, {"s1", "s2", "s-3", "1990"}, {1, 2},
        "first one");
  check({.row_names = choice::no, .columns = {"s1", "s2"}}, {"s1", "s2"}, {1, 2, 5, 6}, "");
  CHECK(refusal_at(text, {.columns = {"s9"}})
            .find("--columns: got 's9', expected the number of a "
                  "column from 1 to 6") != std::string::npos);
  CHECK(refusal_at(text, {.columns = {"7"}}).find("got '7'") != std::string::npos);
  CHECK(refusal_at(text, {.columns = {"7-"}}).find("got '7-'") != std::string::npos);
  CHECK(refusal_at(text, {.skip_columns = {"2-6"}}).find("no column of values") !=
        std::string::npos);
  CHECK(refusal_at(text, {}).find("expected a number (--skip-columns note leaves the column out") !=
        std::string::npos);
  // Without a header.
  CHECK(values_of(read_as("1 x 3\n4 y 6\n", {.columns = {"1", "3"}})) ==
        std::vector<double>{1, 3, 4, 6});
  // A header without a field above the names.
  const auto of_r = read_as("a b c\ng1 1 2 3\ng2 4 5 6\n", {.columns = {"a", "c"}});
  CHECK(of_r.columns.names == strings{"a", "c"});
  CHECK(values_of(of_r) == std::vector<double>{1, 3, 4, 6});
}

TEST_CASE("Chosen rows are those of the whole table, however the text comes", "[io][csv]") {
  const std::string text =
      "id,a,b\n# first\ng1,1,2\n\n\"g\n2\",3,4.5\ng3,5,\n# between\n\ng4,7,8\ng5,9,10\ng6,11,12\n";
  const auto read_rows = [&](gpu::io::row_range rows, std::size_t block) {
    return gpu::io::open_text(std::make_unique<gpu_test::blocks_of_lines>(text, block),
                              {.text = {.comment = "#", .rows = rows}, .threads = 2}, "text")
        ->rest();
  };
  const auto all = read_rows({}, text.size());
  REQUIRE(all.rows() == 6);
  const auto text_of = [](const gpu::io::table& table, gpu::index_t i) {
    const auto values = values_of(table);
    const auto at = 2 * static_cast<std::size_t>(i);
    return table.names.name(i) + " " + std::to_string(values[at]) + " " +
           std::to_string(values[at + 1]);
  };
  for (const std::size_t block : std::vector<std::size_t>{0, 9, 20, 1000}) {
    for (gpu::index_t begin = 0; begin < 6; ++begin) {
      for (gpu::index_t end = begin + 1; end <= 6; ++end) {
        const auto some = read_rows({begin, end}, block);
        INFO(block << ": " << begin << " to " << end);
        REQUIRE(some.rows() == end - begin);
        for (gpu::index_t i = 0; i < some.rows(); ++i) {
          CHECK(text_of(some, i) == text_of(all, begin + i));
        }
        const bool has_nan = begin <= 2 && end > 2;
        CHECK(some.missing == (has_nan ? 1 : 0));
        REQUIRE(some.first_nan.has_value() == has_nan);
        if (has_nan) CHECK(some.first_nan->line == 7);
      }
      CHECK(read_rows({.begin = begin}, block).rows() == 6 - begin);
    }
    CHECK_THROWS_AS(read_rows({.begin = 6}, block), gpu::io::input_error);
    CHECK_THROWS_AS(read_rows({.end = 7}, block), gpu::io::input_error);
  }
}

TEST_CASE("GCT files", "[io][csv]") {
  const std::string head = "#1.2\n2\t3\nName\tDescription\ts1\ts2\ts3\n";
  const auto table = read_as(head + "g1\tone gene\t1\t2\t3\ng2\tna\t4\t\t6\n");
  CHECK(names_of(table) == strings{"g1", "g2"});
  CHECK(table.columns.names == strings{"s1", "s2", "s3"});
  CHECK(table.cols() == 3);
  CHECK(table.missing == 1);
  CHECK(table.first_nan->line == 5);
  CHECK(refusal_at(head + "g1\tx\t1\t2\t3\n").starts_with(":2: got 1 row, expected the 2"));
  CHECK(refusal_at("#1.2\n2\nName\tDescription\ts1\n").starts_with(":2: "));

  const auto newer = read_as(
      "#1.3\n2\t2\t1\t2\nid\tsymbol\ts1\ts2\ndose\tna\t5\t7\ntissue\tna\tliver\tskin\n"
      "g1\tTP53\t1\t2\ng2\tMYC\t3\t4\n");
  CHECK(names_of(newer) == strings{"g1", "g2"});
  CHECK(newer.columns.names == strings{"s1", "s2"});
  CHECK(values_of(newer) == std::vector<double>{1, 2, 3, 4});
}

TEST_CASE("The columns of a file as rows", "[io][csv]") {
  const gpu_test::temporary_folder folder;
  const std::string path = folder.write("in.csv", "sample,g1,g2\na,1,2\nb,3,4\nc,5,6.5\n");
  const auto table = gpu::io::read_table(path, {.transposes = true});
  CHECK(names_of(table) == strings{"g1", "g2"});
  CHECK(table.columns.names == strings{"a", "b", "c"});
  CHECK(values_of(table) == std::vector<double>{1, 3, 5, 2, 4, 6.5});
  CHECK(table.reading.rows_named_by == "line 1");
  CHECK(table.reading.columns_named_by == "column 1");
  // Of more than one square, in every type.
  std::string text;
  for (int i = 0; i < 70; ++i) {
    for (int j = 0; j < 45; ++j) text += std::to_string((i * 45 + j) % 120) + " ";
    text += "\n";
  }
  const auto small = gpu::io::read_table(folder.write("in.txt", text), {.transposes = true});
  const auto values = values_of(small);
  bool are_equal = small.rows() == 45 && small.cols() == 70;
  for (std::size_t i = 0; are_equal && i < 70; ++i) {
    for (std::size_t j = 0; j < 45; ++j) {
      are_equal = are_equal && values[j * 70 + i] == static_cast<double>((i * 45 + j) % 120);
    }
  }
  CHECK(are_equal);
}
