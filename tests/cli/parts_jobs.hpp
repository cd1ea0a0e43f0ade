#pragma once
// Jobs in parts as the command runs them, and tables for them.

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "cli/run_command.hpp"
#include "support/catch.hpp"

namespace gpu_test {

/// A table of correlated rows with ties, a constant row, and names.
inline std::string correlated_table(int rows, int cols) {
  std::mt19937 random(20251122);  // NOLINT: the same rows on every run
  const auto value = [&] { return static_cast<int>(random() % 100); };
  std::vector<int> factor(static_cast<std::size_t>(cols));
  std::string text;
  for (int i = 0; i < rows; ++i) {
    if (i % 40 == 0) std::generate(factor.begin(), factor.end(), value);
    text.append("gene").append(std::to_string(i));
    for (const int f : factor) {
      const int x = i == 17 ? 5 : f + value() % (1 + i % 40 * 4);
      text.append("\t").append(std::to_string(x / 3));
    }
    text += "\n";
  }
  return text;
}

/// Rows of few values: many have the ranks of another one, and one is constant.
inline std::string repeated_table(int rows, int cols) {
  std::mt19937 random(5);  // NOLINT: the same rows on every run
  std::string text;
  for (int i = 0; i < rows; ++i) {
    text.append("gene").append(std::to_string(i));
    for (int j = 0; j < cols; ++j) {
      text.append("\t").append(std::to_string(i == 9 ? 1 : random() % 3));
    }
    text += "\n";
  }
  return text;
}

/// Rows that have no statistic.
inline std::string constant_rows(int rows, int cols) {
  std::string text;
  for (int i = 0; i < rows; ++i) {
    text.append("constant").append(std::to_string(i));
    for (int j = 0; j < cols; ++j) text += "\t1";
    text += "\n";
  }
  return text;
}

inline words joined(words first, const words& more) {
  first.insert(first.end(), more.begin(), more.end());
  return first;
}

inline command_result run_part(const std::string& input, const words& options, int number, int of,
                               const std::string& folder) {
  return run_command(joined(
      joined({"spearman", input, "--backend", "cpu"}, options),
      {"--part", std::to_string(number) + "/" + std::to_string(of), "--output-dir", folder}));
}

/// Runs what `parts --format slurm` says until nothing is left; how many rounds it took.
inline int run_all(const std::string& input, const words& options, int of,
                   const std::string& folder) {
  for (int round = 1;; ++round) {
    REQUIRE(round < 6);
    for (int number = of; number >= 1; --number) {
      const command_result result = run_part(input, options, number, of, folder);
      INFO(result.err);
      REQUIRE(result.exit_code == 0);
    }
    if (run_command({"parts", folder, "--format", "slurm"}).out.empty()) return round;
  }
}

inline std::string single_run(const std::string& input, const words& options,
                              const std::string& output) {
  const command_result result = run_command(
      joined(joined({"spearman", input, "--backend", "cpu", "-o", output}, options), {}));
  INFO(result.err);
  REQUIRE(result.exit_code == 0);
  return read_file(output);
}

inline std::size_t files_in(const std::string& folder) {
  return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder),
                                                std::filesystem::directory_iterator()));
}

inline void flip_a_byte(const std::string& path) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  const auto middle = static_cast<std::streamoff>(std::filesystem::file_size(path) / 2);
  file.seekg(middle);
  const char byte = static_cast<char>(file.get() ^ 1);
  file.seekp(middle);
  file.put(byte);
}

/// CRC-32 by its definition, bit by bit.
inline std::string crc32_of(const std::string& text) {
  std::uint32_t crc = ~0U;
  for (const char c : text) {
    crc ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ ((crc & 1U) != 0 ? 0xEDB88320U : 0U);
  }
  std::ostringstream out;
  out << std::hex << std::setw(8) << std::setfill('0') << ~crc;
  return out.str();
}

/// Gives `member` of a manifest, a number, a text or a list, another value, and the manifest the
/// checksum that goes with it.
inline void forge(const std::string& path, const std::string& member, const std::string& value) {
  std::string text = read_file(path);
  const std::size_t at = text.find("\"" + member + "\": ");
  REQUIRE(at != std::string::npos);
  const std::size_t begin = at + member.size() + 4;
  const bool is_list = text[begin] == '[';
  const std::size_t end = is_list ? text.find(']', begin) + 1 : text.find_first_of(",}\n", begin);
  text.replace(begin, end - begin, value);
  text.resize(text.find(",\n  \"manifest_crc32\""));
  std::ofstream(path, std::ios::binary)
      << text << ",\n  \"manifest_crc32\": \"" << crc32_of(text) << "\"\n}\n";
}

}  // namespace gpu_test
