// The text reader beside the plain reader of the fuzzers, on random tables of every kind.
#include <cmath>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "fuzz/reference_text.hpp"
#include "io/io_error.hpp"
#include "io/read/read_table.hpp"
#include "support/catch.hpp"
#include "support/temporary_file.hpp"

namespace {

using gpu::io::choice;
using gpu::io::delimiter;
using gpu::io::text_options;

/// Draws tables that are mostly well formed, with what files have: quotes, breaks, holes, names of
/// numbers, comments, blank lines, and now and then something wrong.
class drawn_text {
 public:
  explicit drawn_text(unsigned seed) : engine_(seed) {
    separator_ = pick(std::string(",\t;| "));
    has_decimals_ = draw(2) == 0;
    comma_ = separator_ != ',' && has_decimals_ && draw(4) == 0;
    ends_with_return_ = draw(6) == 0;
  }

  text_options options() {
    text_options out;
    if (draw(3) == 0) out.header = draw(2) == 0 ? choice::yes : choice::no;
    if (draw(3) == 0) out.row_names = draw(2) == 0 ? choice::yes : choice::no;
    if (draw(3) == 0) out.separator = said();
    if (comma_) out.decimal = ',';
    if (draw(4) == 0) out.comment = "#";
    if (draw(4) == 0) out.missing = {"-9", "none"};
    return out;
  }

  std::string text() {
    const int rows = draw(8) == 0 ? 300 + draw(2000) : 1 + draw(12);
    const int cols = draw(10) == 0 ? 40 : 1 + draw(7);
    const bool has_header = draw(2) == 0;
    const int names = draw(4);
    const bool ends_with_separator = separator_ != ' ' && draw(12) == 0;
    std::string out = draw(10) == 0 ? "\xEF\xBB\xBF" : "";
    if (has_header) {
      if (names != 0 && draw(3) != 0) out += corner() + separator_;
      const int kind = draw(3);
      for (int c = 0; c < cols; ++c) {
        out += kind == 0 ? std::to_string(1990 + c) : kind == 1 ? std::to_string(c) : label();
        if (c + 1 < cols) out += separator_;
      }
      end_line(out);
    }
    for (int r = 0; r < rows; ++r) {
      if (draw(30) == 0) out += draw(2) == 0 ? "\n" : "# \"left out\n";
      if (names == 1) out += name() + separator_;
      if (names == 2) out += std::to_string(r) + separator_;
      if (names == 3) out += std::to_string(r * 7919 % 100003) + separator_;
      for (int c = 0; c < cols; ++c) {
        out += value();
        if (c + 1 < cols) out += separator_;
      }
      if (ends_with_separator || draw(400) == 0) out += separator_;
      end_line(out);
    }
    return out;
  }

 private:
  int draw(int below) { return std::uniform_int_distribution<int>(0, below - 1)(engine_); }
  char pick(const std::string& from) {
    return from[static_cast<std::size_t>(draw(static_cast<int>(from.size())))];
  }
  void end_line(std::string& out) { out += ends_with_return_ ? "\r\n" : "\n"; }

  delimiter said() const {
    switch (separator_) {
      case ',':
        return delimiter::comma;
      case '\t':
        return delimiter::tab;
      case ';':
        return delimiter::semicolon;
      case '|':
        return delimiter::bar;
      default:
        return delimiter::blanks;
    }
  }

  std::string name() {
    std::string text = "g" + std::to_string(draw(1000));
    switch (draw(8)) {
      case 0:
        return "\"" + text + separator_ + "x\"";
      case 1:
        return "\"" + text + "\"\"q\"\"\"";
      case 2:
        return draw(5) == 0 ? "\"" + text + "\ntwo\"" : "\"" + text + "\"";
      case 3:
        return text + "\"s";
      default:
        return text;
    }
  }

  std::string corner() {
    switch (draw(4)) {
      case 0:
        return "";
      case 1:
        return name();
      default:
        return draw(2) == 0 ? "gene_id" : "Name";
    }
  }

  std::string label() { return draw(60) == 0 ? "Entrez_Gene_Id" : name(); }

  std::string value() {
    switch (draw(60)) {
      case 0:
        return separator_ == ' ' ? "NA" : "";
      case 1:
        return "NaN";
      case 2:
        return ".";
      case 3:
        return "-9";
      case 4:
        return "\"" + std::to_string(draw(100)) + "\"";
      default:
        break;
    }
    if (draw(3000) == 0) return "x5";
    if (draw(3000) == 0) return "18014398509481986";  // 2^54 + 2: no double
    if (draw(1000) == 0) return "-18014398509481988";
    if (draw(3000) == 0) return "\"open";
    std::string number = std::to_string(draw(2000) - 1000);
    if (has_decimals_ && draw(3) != 0) number += (comma_ ? "," : ".") + std::to_string(draw(100));
    return number;
  }

  std::mt19937 engine_;
  char separator_ = ',';
  bool has_decimals_ = false;
  bool comma_ = false;
  bool ends_with_return_ = false;
};

void compare(const gpu::io::table& got, const gpu_test::reference_table& expected) {
  REQUIRE(got.rows() == static_cast<gpu::index_t>(expected.rows));
  REQUIRE(got.cols() == static_cast<gpu::index_t>(expected.cols));
  REQUIRE(got.missing == static_cast<gpu::index_t>(expected.missing));
  bool are_equal = true;
  std::visit(
      [&](const auto& m) {
        for (std::size_t k = 0; k < expected.values.size(); ++k) {
          const auto value = static_cast<double>(m.data()[k]);
          const double wanted = expected.values[k];
          are_equal = are_equal && (value == wanted || (std::isnan(value) && std::isnan(wanted)));
        }
      },
      got.values);
  CHECK(are_equal);
  REQUIRE(got.names.given() == expected.has_names);
  bool are_named = true;
  for (std::size_t k = 0; k < expected.names.size(); ++k) {
    are_named = are_named && got.names[static_cast<gpu::index_t>(k)] == expected.names[k];
  }
  CHECK(are_named);
}

}  // namespace

TEST_CASE("Random tables are read as a plain reader reads them", "[io][text]") {
  const gpu_test::temporary_folder folder;
  int taken = 0;
  for (unsigned seed = 0; seed < 1500; ++seed) {
    drawn_text drawn(seed);
    const text_options options = drawn.options();
    const std::string text = drawn.text();
    INFO("seed " << seed << "\n" << text.substr(0, 400));
    const gpu_test::reference_table expected = gpu_test::read_reference_text(text, options);
    std::optional<gpu::io::input_position> refused;
    std::string message;
    try {
      const auto got =
          gpu::io::read_table(folder.write("in.txt", text),
                              {.text = options, .threads = 1 + static_cast<int>(seed % 3)});
      REQUIRE_FALSE(expected.refused.has_value());
      compare(got, expected);
      ++taken;
    } catch (const gpu::io::input_error& error) {
      refused = error.where();
      message = error.what();
    }
    INFO(message);
    REQUIRE(refused.has_value() == expected.refused.has_value());
    // A wrong quote in the lines that tell what is a name leaves open which of them is refused.
    if (!refused || expected.has_fault_in_head) continue;
    CHECK(static_cast<std::size_t>(refused->line) == expected.refused->line);
    CHECK(static_cast<std::size_t>(refused->column) == expected.refused->column);
  }
  // Most of them are tables.
  CHECK(taken > 700);
}
