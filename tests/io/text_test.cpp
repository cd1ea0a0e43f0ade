#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "io/read/read_table.hpp"
#include "io/read_text.hpp"
#include "support/catch.hpp"
#include "support/temporary_file.hpp"

namespace {

using gpu::io::choice;
using gpu_test::read_text;
using gpu_test::values_of;

}  // namespace

TEST_CASE("Spaces, tabs and commas separate", "[io][text]") {
  const std::vector<double> expected{1, 2, 3, 4, 5, 6};
  for (const std::string text :
       {"1 2 3\n4 5 6\n", "1\t2\t3\n4\t5\t6\n", "1,2,3\n4,5,6\n", "  1   2 3  \n4 5   6",
        "1, 2, 3\n4 ,5 ,6\n", "1 2 3\r\n4 5 6\r\n", "\n1 2 3\n\n\n4 5 6\n\n",
        "\xEF\xBB\xBF"
        "1 2 3\n4 5 6\n",
        "+1 -0 3\n4 5 6\n"}) {
    INFO(text);
    const auto table = read_text(text);
    CHECK(table.rows() == 2);
    CHECK(table.cols() == 3);
    CHECK_FALSE(table.names.given());
    auto wanted = expected;
    if (text.starts_with("+1 -0")) wanted[1] = 0;
    CHECK(values_of(table) == wanted);
  }
}

TEST_CASE("Integers get the narrowest type that holds them all", "[io][text]") {
  CHECK(read_text("0 127 -128\n").element_name() == "int8");
  CHECK(read_text("0 128 255\n").element_name() == "uint8");
  CHECK(read_text("-1 128 0\n").element_name() == "int16");
  CHECK(read_text("-32768 32767 0\n").element_name() == "int16");
  CHECK(read_text("0 65535 0\n").element_name() == "uint16");
  CHECK(read_text("0 65536 0\n").element_name() == "int32");
  CHECK(read_text("-2147483648 2147483647 0\n").element_name() == "int32");
  CHECK(read_text("0 2147483648 0\n").element_name() == "float64");
  CHECK(read_text("0 1.0 2\n").element_name() == "float64");
  CHECK(read_text("0 1e2 2\n").element_name() == "float64");
  CHECK(values_of(read_text("-9007199254740992 9007199254740992 -7\n")) ==
        std::vector<double>{-9007199254740992.0, 9007199254740992.0, -7});
  CHECK(values_of(read_text("1 2 3\n4 5.5 -1e-3\n")) ==
        std::vector<double>{1, 2, 3, 4, 5.5, -1e-3});
}

TEST_CASE("Missing and infinite values are read and located", "[io][text]") {
  const auto table = read_text("a 1 2 3\nb 4 NA inf\nc nan NaN -inf\n");
  CHECK(table.element_name() == "float64");
  const auto values = values_of(table);
  CHECK(std::isnan(values[4]));
  CHECK(values[5] == std::numeric_limits<double>::infinity());
  CHECK(std::isnan(values[6]));
  CHECK(std::isnan(values[7]));
  REQUIRE(table.first_nan.has_value());
  CHECK(table.first_nan->line == 2);
  CHECK(table.first_nan->column == 3);
}

TEST_CASE("What is no table is refused with its place", "[io][text]") {
  struct refusal {
    std::string text;
    gpu::index_t line;
    gpu::index_t column;
    std::string part;
  };
  const std::vector<refusal> cases{{"", 0, 0, "empty"},
                                   {"\n\n", 0, 0, "empty"},
                                   {"a b c\n", 1, 0, "no row of numbers"},
                                   {"1 2 3\n4 5\n", 2, 0, "got 2 numbers, expected 3"},
                                   {"1 2 3\n\n4 5 6 7\n", 3, 0, "got 4 numbers, expected 3"},
                                   {"1 2 3\n4 x5 6\n", 2, 2, "'x5'"},
                                   {"g 1 2 3\nh 4 5 6z\n", 2, 4, "'6z'"},
                                   {"1 2 x\n4 5 6\n", 1, 3, "'x'"},
                                   {"1 2 3\n4 9007199254740993 6\n", 2, 2, "2^53"},
                                   {"1 2 3\n4 123456789012345678901234567890 6\n", 2, 2, "2^53"},
                                   {"1 2 3\n4 1e999 6\n", 2, 2, "range"},
                                   {"1 2 3\n4 0x10 6\n", 2, 2, "'0x10'"},
                                   {"1 2 3\n4 +-5 6\n", 2, 2, "'+-5'"},
                                   {"1 2 3\n4 1,5 6\n", 2, 2, "--decimal ,"},
                                   {"1 2 3\n4 - 6\n", 2, 2, "'-'"},
                                   {"a b\n1 2 3 4\n", 1, 0, "header of 2 fields"},
                                   {std::string("1 2 3\n4 \0\x01 6\n", 12), 2, 2,
                                    "'?"
                                    "?'"}};
  for (const refusal& expected : cases) {
    INFO(expected.text);
    bool is_refused = false;
    try {
      (void)read_text(expected.text);
    } catch (const gpu::io::input_error& error) {
      is_refused = true;
      const std::string message = error.what();
      INFO(message);
      CHECK(error.where().line == expected.line);
      CHECK(error.where().column == expected.column);
      CHECK(message.find(expected.part) != std::string::npos);
      CHECK(message.find("in.txt") != std::string::npos);
    }
    CHECK(is_refused);
  }
}

TEST_CASE("Large tables of every kind of line are read alike by any number of threads",
          "[io][text]") {
  // Several segments of 256 KiB; lines that the fast path takes and lines that it leaves.
  const gpu::index_t rows = 30000;
  const gpu::index_t cols = 13;
  std::mt19937 engine(7);
  for (const bool has_names : {false, true}) {
    for (const char separator : {' ', '\t', ','}) {
      std::string text;
      std::vector<double> expected;
      for (gpu::index_t i = 0; i < rows; ++i) {
        if (has_names) text += "row" + std::to_string(i) + separator;
        const int kind = static_cast<int>(engine() % 40);
        const int largest = kind == 0 ? 2000000000 : kind < 5 ? 30000000 : kind < 20 ? 20000 : 12;
        for (gpu::index_t j = 0; j < cols; ++j) {
          int value = static_cast<int>(engine() % static_cast<unsigned>(largest));
          if (kind % 3 == 0 && engine() % 2 == 0) value = -value;
          expected.push_back(value);
          text += std::to_string(value);
          if (separator == ' ' && kind == 7) text += "  ";
          if (j + 1 < cols) text += separator;
        }
        text += kind == 8 ? "\r\n" : kind == 9 ? "\n\n" : "\n";
      }
      for (const int threads : {1, 3}) {
        const auto table = read_text(text, {.threads = threads});
        REQUIRE(table.rows() == rows);
        CHECK(table.element_name() == "int32");
        CHECK(values_of(table) == expected);
        if (has_names) CHECK(table.names.name(rows - 1) == "row29999");
      }
      // An error far behind is found, in its line.
      const std::string wrong = text + "1" + separator + "2\n";
      CHECK_THROWS_AS(read_text(wrong), gpu::io::input_error);
    }
  }
}

TEST_CASE("The line of an error is counted over segments", "[io][text]") {
  std::string text;
  const int lines = 100000;
  for (int i = 0; i < lines; ++i) text += "1 2 3 4\n";
  const std::string good_lines = text;
  text += "1 2 q 4\n";
  text += good_lines;
  text += "1 2\n";
  try {
    (void)read_text(text);
    FAIL("not refused");
  } catch (const gpu::io::input_error& error) {
    CHECK(error.where().line == lines + 1);
    CHECK(error.where().column == 3);
  }
}

TEST_CASE("Blank lines count as lines in every segment", "[io][text]") {
  // Several segments and blocks, with many more lines than rows.
  std::string text;
  int lines = 0;
  for (; lines < 3'000'000; lines += 3) text += lines % 2 == 0 ? "1 2 3 4\n\n\n" : "\n5 6 7 8\n \n";
  const auto line_of = [&](const std::string& last) {
    try {
      (void)read_text(text + last);
    } catch (const gpu::io::input_error& error) {
      return error.where().line;
    }
    return gpu::index_t{0};
  };
  CHECK(line_of("1 2 q 4\n") == lines + 1);
  CHECK(line_of("\n\n1 2\n") == lines + 3);
  const auto table = read_text(text + "\n1 2 NA 4\n");
  REQUIRE(table.first_nan.has_value());
  CHECK(table.first_nan->line == lines + 2);
}

TEST_CASE("A stop request ends the reading", "[io][text]") {
  CHECK_THROWS_AS(read_text("1 2 3\n", {.stop = [] { return true; }}), gpu::io::interrupted);
}

TEST_CASE("A row's name never reaches beyond its line", "[io][text]") {
  // Long enough for the fast path of integers, which looks for the separator behind the name.
  for (const char separator : {',', '\t', ' '}) {
    const auto table_with = [&](const std::string& eleventh) {
      std::string text;
      for (int row = 0; row < 30; ++row) {
        if (row == 10) text += eleventh;
        text += 'g';
        text += std::to_string(row);
        for (int column = 0; column < 8; ++column) {
          text += separator + std::to_string(10 * row + column);
        }
        text += '\n';
      }
      return text;
    };
    INFO("separator " << static_cast<int>(separator));
    for (const std::string blank : {"\n", "\r\n", "  \n", "\n\n\n"}) {
      const auto table = read_text(table_with(blank));
      CHECK(values_of(table) == values_of(read_text(table_with(""))));
      REQUIRE(table.names.given());
      CHECK(table.names[10] == "g10");
      CHECK(table.names[29] == "g29");
    }
    try {
      (void)read_text(table_with("truncated\n"));
      FAIL("a line of one field was taken");
    } catch (const gpu::io::input_error& error) {
      CHECK(std::string(error.what()).find(":11:") != std::string::npos);
    }
  }
}

TEST_CASE("Blanks in front of a tab are no name, wherever the line stands", "[io][text]") {
  // The last lines of a text are read with care, the others by the fast path.
  for (const int rows_behind : {0, 30}) {
    std::string text = "a\t1\t2\nb\t3\t4\n   \t5\t6\n";
    for (int row = 0; row < rows_behind; ++row) text += "c\t7\t8\n";
    INFO(rows_behind << " rows behind");
    try {
      (void)read_text(text);
      FAIL("a line without a name was taken");
    } catch (const gpu::io::input_error& error) {
      CHECK(std::string(error.what()).find(":3: column 1: got an empty field") !=
            std::string::npos);
    }
  }
}

TEST_CASE("What is too small for double is zero", "[io][text]") {
  const auto table = read_text("1 2 3\n4 1e-400 -1e-400\n");
  CHECK(table.element_name() == "float64");
  CHECK(values_of(table) == std::vector<double>{1, 2, 3, 4, 0, 0});
  CHECK(std::signbit(values_of(table)[5]));
}

TEST_CASE("Control characters never get into names", "[io][text]") {
  const std::string bell = "be\x07ll";
  // On the fast path of long lines of integers, and on the careful one.
  for (const char* numbers : {",1,2,3\n", ",1.5,2,3\n"}) {
    std::string text;
    for (const std::string& name :
         {bell, std::string("\x1b[31mred"), std::string("nul\0x", 5), std::string("a\tb"),
          std::string("csi\xC2\x9B"), std::string("caf\xC3\xA9 \xC2\xB5"), std::string("\x7F")}) {
      text += name;
      text += numbers;
    }
    for (int i = 0; i < 40; ++i) text += "plain,4,5,6\n";
    const auto table = read_text(text);
    CHECK(table.names[0] == "be?ll");
    CHECK(table.names[1] == "?[31mred");
    CHECK(table.names[2] == "nul?x");
    CHECK(table.names[3] == "a b");
    CHECK(table.names[4] == "csi?");
    CHECK(table.names[5] == "caf\xC3\xA9 \xC2\xB5");
    CHECK(table.names[6] == "?");
  }
}

TEST_CASE("Control characters never get into messages", "[io][text]") {
  const gpu_test::temporary_folder folder;
  try {
    (void)gpu::io::read_table(folder.write("red\x1b[31m.txt", "1 2 3\n4 \x1b[0m\xC2\x9B 6\n"));
    FAIL("not refused");
  } catch (const gpu::io::input_error& error) {
    const std::string message = error.what();
    INFO(message);
    CHECK(message.find("red?[31m.txt:2: column 2: got '?[0m?'") != std::string::npos);
  }
}
