// The text reader beside a plain reference reader. The first byte chooses the layout that is asked
// for and what is said of the values, the second how the text is cut into blocks; the rest is the
// text.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "fuzz/blocks_of_lines.hpp"
#include "fuzz/expect.hpp"
#include "fuzz/reference_text.hpp"
#include "io/read/read_table.hpp"
#include "io/read/text_reader.hpp"
#include "io/text/text_options.hpp"

namespace {

using gpu_test::blocks_of_lines;
using gpu_test::expect;
constexpr auto npos = std::string_view::npos;

bool is_in(double value, double low, double high) {
  return value >= low && value <= high;
}

/// The narrowest type that holds every value.
std::string_view narrowest_type(const gpu_test::reference_table& table) {
  if (!table.all_int32) return "float64";
  const auto fit = [&](double low, double high) {
    return std::all_of(table.values.begin(), table.values.end(),
                       [&](double v) { return is_in(v, low, high); });
  };
  return fit(-128, 127)       ? "int8"
         : fit(0, 255)        ? "uint8"
         : fit(-32768, 32767) ? "int16"
         : fit(0, 65535)      ? "uint16"
                              : "int32";
}

void compare(const gpu::io::table& got, const gpu_test::reference_table& expected) {
  expect(got.rows() == static_cast<gpu::index_t>(expected.rows), "rows");
  expect(got.cols() == static_cast<gpu::index_t>(expected.cols), "columns");
  expect(got.element_name() == narrowest_type(expected), "type");
  const bool is_real = got.element_name() == "float64";
  std::visit(
      [&](const auto& values) {
        for (std::size_t k = 0; k < expected.values.size(); ++k) {
          const auto value = static_cast<double>(values.data()[k]);
          const double wanted = expected.values[k];
          if (wanted != wanted) {
            expect(value != value, "a NaN");
          } else {
            // Of integers -0 is 0.
            expect(value == wanted, "a value");
            if (is_real && wanted != 0) {
              expect(std::bit_cast<std::uint64_t>(value) == std::bit_cast<std::uint64_t>(wanted),
                     "the bits of a value");
            }
          }
        }
      },
      got.values);
  expect(static_cast<std::size_t>(got.missing) == expected.missing, "how many are missing");
  expect(got.names.given() == expected.has_names, "whether rows are named");
  for (std::size_t k = 0; k < expected.names.size(); ++k) {
    expect(got.names[static_cast<gpu::index_t>(k)] == expected.names[k], "a name");
  }
  expect(got.first_nan.has_value() == expected.first_nan.has_value(), "whether there is a NaN");
  if (got.first_nan) {
    expect(static_cast<std::size_t>(got.first_nan->line) == expected.first_nan->line &&
               static_cast<std::size_t>(got.first_nan->column) == expected.first_nan->column,
           "where the first NaN stands");
  }
}

/// What else is said of the text.
gpu::io::text_options options_of(unsigned which) {
  using gpu::io::delimiter;
  switch (which) {
    case 1:
      return {.separator = delimiter::semicolon, .decimal = ','};
    case 2:
      return {.comment = "#"};
    case 3:
      return {.missing = {"-9", "x", "q"}};
    case 4:
      return {.separator = delimiter::blanks, .comment = "%", .skip_columns = {"2"}};
    case 5:
      return {.separator = delimiter::comma, .skip_columns = {"1"}};
    case 6:
      return {.decimal = ','};
    case 7:
      return {.separator = delimiter::bar};
    default:
      return {};
  }
}

/// Takes the line `sep=;` from the head of a text and says it in the options: how many lines. Only
/// a byte order mark in front of that line is one: the mark that stays keeps the reference from
/// skipping another.
std::size_t take_separator_line(std::string& text, gpu::io::text_options& options) {
  using gpu::io::delimiter;
  const std::size_t at = text.rfind("\xEF\xBB\xBF", 0) == 0 ? 3 : 0;
  const std::string key = text.substr(at, 4);
  if ((key != "sep=" && key != "SEP=") || text.size() < at + 5) return 0;
  std::size_t end = at + 5;
  if (end < text.size() && text[end] == '\r') ++end;
  if (end < text.size() && text[end] != '\n') return 0;
  const std::string separators = "\t,;| ";
  constexpr delimiter names[] = {delimiter::tab, delimiter::comma, delimiter::semicolon,
                                 delimiter::bar, delimiter::blanks};
  const std::size_t which = separators.find(text[at + 4]);
  if (which == std::string::npos) return 0;
  if (options.separator == delimiter::automatic) options.separator = names[which];
  text.replace(0, end + 1, "\xEF\xBB\xBF");
  return 1;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  constexpr gpu::io::choice choices[] = {gpu::io::choice::automatic, gpu::io::choice::yes,
                                         gpu::io::choice::no, gpu::io::choice::automatic};
  gpu::io::text_options options = options_of(data[0] >> 5);
  options.header = choices[data[0] & 3U];
  options.row_names = choices[(data[0] >> 2) & 3U];
  if (options.header == gpu::io::choice::automatic ||
      options.row_names == gpu::io::choice::automatic) {
    options.skip_columns.clear();
  }
  std::string text(reinterpret_cast<const char*>(data + 2), size - 2);
  // These have lines of their own in front, which the reference does not know.
  if (text.find("#1.2") != std::string::npos || text.find("#1.3") != std::string::npos) return 0;
  // The fast path needs text behind a line, and blank lines mean nothing.
  constexpr std::size_t room_of_fast_path = 80;
  if ((data[0] & 0x10U) != 0) text += '\n' + std::string(room_of_fast_path, '\n');
  gpu::io::text_options told = options;
  std::string table = text;
  const std::size_t before = take_separator_line(table, told);
  // The sample that names are told from counts that line.
  if (before > 0 && std::count(table.begin(), table.end(), '\n') > 95) return 0;
  gpu_test::reference_table expected = gpu_test::read_reference_text(table, told);
  for (auto* place : {&expected.refused, &expected.first_nan}) {
    if (*place && (*place)->line > 0) (*place)->line += before;
  }
  try {
    compare(gpu::io::open_text(std::make_unique<blocks_of_lines>(text, 4U * data[1]),
                               {.text = options, .threads = 1}, "text")
                ->rest(),
            expected);
    expect(!expected.refused, "the reader takes what the reference refuses");
  } catch (const gpu::io::input_error& error) {
    expect(expected.refused.has_value(), error.what());
    // A header or names that are refused may stand over another fault: which is named first is
    // open.
    const std::string_view said = error.what();
    const bool is_of_names = said.find("in two ways") != npos || said.find("got a header") != npos;
    expect(expected.has_fault_in_head || is_of_names ||
               (static_cast<std::size_t>(error.where().line) == expected.refused->line &&
                static_cast<std::size_t>(error.where().column) == expected.refused->column),
           error.what());
    for (const char* c = error.what(); *c != '\0'; ++c) {
      expect(static_cast<unsigned char>(*c) >= 0x20 && *c != 0x7F,
             "a control character is printed");
    }
  }
  return 0;
}
