// The reader of FPS, compared with a plain one. The first byte has the number of bits that is asked
// for, the second how the text is cut into blocks; the rest is the text.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fuzz/blocks_of_lines.hpp"
#include "fuzz/expect.hpp"
#include "io/io_error.hpp"
#include "io/read/fingerprints/fps_reader.hpp"

namespace {

using gpu_test::blocks_of_lines;
using gpu_test::expect;

struct reference_fps {
  std::vector<std::vector<bool>> rows;
  std::vector<std::string> names;
  std::optional<gpu::index_t> refused;  ///< The line; 0: the file.
};

/// A number of decimal digits from 1 to the most bits; else 0.
std::uint64_t number_of(const std::string& text) {
  constexpr std::uint64_t most = 2147483647;
  std::uint64_t value = 0;
  for (const char c : text) {  // zeros in front are any number
    if (c < '0' || c > '9' || value > most) return 0;
    value = 10 * value + static_cast<std::uint64_t>(c - '0');
  }
  return value <= most ? value : 0;
}

/// The bits of a row; nothing where the text is none.
std::optional<std::vector<bool>> bits_of(const std::string& digits, std::uint64_t cols) {
  static const std::string known = "0123456789abcdef";
  std::vector<bool> bits;
  for (std::size_t k = 0; k < digits.size(); k += 2) {
    for (const std::size_t at : {k + 1, k}) {
      const char c = digits[at];
      const char small = c >= 'A' && c <= 'F' ? static_cast<char>(c + 32) : c;
      const std::size_t value = known.find(small);
      if (value == std::string::npos) return {};
      for (unsigned bit = 0; bit < 4; ++bit) bits.push_back((value >> bit & 1) != 0);
    }
  }
  for (std::size_t k = cols; k < bits.size(); ++k) {
    if (bits[k]) return {};
  }
  bits.resize(cols);
  return bits;
}

reference_fps read_reference(std::string text, std::uint64_t cols) {
  reference_fps out;
  if (text.starts_with("\xEF\xBB\xBF")) text.erase(0, 3);
  gpu::index_t number = 0;
  const auto refuse = [&](gpu::index_t line) {
    out.refused = line;
    return out;
  };
  while (!text.empty()) {
    ++number;
    const std::size_t end = text.find('\n');
    std::string line = text.substr(0, end);
    text.erase(0, end == std::string::npos ? end : end + 1);
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (line.empty()) continue;
    if (line[0] == '#') {
      if (!out.rows.empty()) return refuse(number);
      if (!line.starts_with("#num_bits=")) continue;
      const std::uint64_t said = number_of(line.substr(10));
      if (said == 0 || (cols != 0 && said != cols)) return refuse(number);
      cols = said;
      continue;
    }
    const std::size_t tab = line.find('\t');
    if (tab == std::string::npos) return refuse(number);
    if (cols == 0) cols = 4 * tab;
    if (tab == 0 || tab % 2 != 0 || tab != 2 * ((cols + 7) / 8)) return refuse(number);
    const auto bits = bits_of(line.substr(0, tab), cols);
    if (!bits) return refuse(number);
    out.rows.push_back(*bits);
    const std::string rest = line.substr(tab + 1);
    out.names.push_back(rest.substr(0, rest.find('\t')));
  }
  return out.rows.empty() ? refuse(0) : out;
}

bool is_plain(const std::string& name) {
  return std::all_of(name.begin(), name.end(), [](char c) { return c >= ' ' && c < 127; });
}

void check_fps(const std::string& text, std::size_t block, gpu::index_t bits) {
  const reference_fps expected = read_reference(text, static_cast<std::uint64_t>(bits));
  try {
    const gpu::io::table got =
        gpu::io::read_fps(std::make_unique<blocks_of_lines>(text, block), "text", bits);
    expect(!expected.refused, "the reader takes what the reference refuses");
    expect(got.bits->rows() == std::ssize(expected.rows), "rows");
    for (std::size_t i = 0; i < expected.rows.size(); ++i) {
      const auto row = static_cast<gpu::index_t>(i);
      expect(got.bits->cols() == std::ssize(expected.rows[i]), "bits");
      for (std::size_t j = 0; j < expected.rows[i].size(); ++j) {
        expect((*got.bits)(row, static_cast<gpu::index_t>(j)) == expected.rows[i][j], "a bit");
      }
      if (is_plain(expected.names[i])) expect(got.names[row] == expected.names[i], "a name");
    }
  } catch (const gpu::io::input_error& error) {
    expect(expected.refused.has_value(), error.what());
    expect(error.where().line == *expected.refused, "the line that is refused");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::string text(reinterpret_cast<const char*>(data + 2), size - 2);
  (void)gpu::io::digits_in(text);
  check_fps(text, 4U * data[1], data[0] >> 2);
  return 0;
}
