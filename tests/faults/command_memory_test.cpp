// The memory of the command: with --memory-limit every verb takes the table, its result and the
// limit, and some buffers whose size no table changes.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "cli/run_command.hpp"
#include "support/catch.hpp"
#include "support/gzip_files.hpp"
#include "support/npy_bytes.hpp"

namespace {

using gpu_test::command_result;
using gpu_test::command_settings;
using gpu_test::run_command;
using words = std::vector<std::string>;

constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20;

/// A shape whose values as doubles, and whose pairs of rows, take much more than its bytes.
constexpr int rows = 1500;
constexpr int cols = 300;

/// Bytes from 0 to `most`.
std::string bytes_of(int count, int length, unsigned most) {
  std::mt19937 random(7);  // NOLINT: the same table on every run
  std::string out;
  for (int i = 0; i < count * length; ++i) out += static_cast<char>(random() % (most + 1));
  return out;
}

struct job {
  std::string name;
  words line;                ///< "@name" is a file of the folder.
  std::uint64_t result = 0;  ///< Bytes of the result that stand in memory as a whole.
  std::uint64_t limit = 4'000'000;
};

class bench {
 public:
  bench() {
    write("x", rows, cols);
    write("small", 12, cols);
    static_cast<void>(folder_.write("groups.txt", groups()));
    static_cast<void>(folder_.write("z.tsv", line_of(7)));
    static_cast<void>(folder_.write("w.tsv", line_of(5)));
  }

  [[nodiscard]] std::string path(const std::string& name) const { return folder_.path(name); }

  /// The peak of the command on a table ("x" or "small").
  [[nodiscard]] std::uint64_t peak(const job& of, const std::string& table) const {
    words line;
    for (const std::string& word : of.line) {
      const bool is_file = word.starts_with('@');
      const bool is_table = is_file && word.starts_with("@x");
      line.push_back(is_table  ? path(table + word.substr(2))
                     : is_file ? path(word.substr(1))
                               : word);
    }
    for (const char* word : {"-q", "--threads", "2", "--force", "-o"}) line.emplace_back(word);
    line.push_back(path("out"));
    line.insert(line.end(), {"--memory-limit", std::to_string(of.limit), "--backend", "cpu"});
    command_settings settings;
    settings.environment = {{"OPENBLAS_NUM_THREADS", "1"}};
    const command_result result = run_command(line, settings);
    INFO(of.name << ", " << table << ": " << result.err);
    CHECK(result.exit_code == 0);
    return result.peak_bytes;
  }

 private:
  void write(const std::string& name, int count, int length) const {
    const std::string values = bytes_of(count, length, 99);
    static_cast<void>(
        folder_.write(name + ".npy", gpu_test::npy_header("|i1", count, length) + values));
    static_cast<void>(folder_.write(name + ".bits.npy", gpu_test::npy_header("|u1", count, length) +
                                                            bytes_of(count, length, 1)));
    std::string entries;
    for (int i = 0; i < count; ++i) {
      for (int k = 1; k <= 40; ++k) {
        entries += std::to_string(i + 1) + " " + std::to_string((i * 7 + k * 29) % length + 1) +
                   " " + std::to_string(k % 9 + 1) + "\n";
      }
    }
    static_cast<void>(
        folder_.write(name + ".mtx", "%%MatrixMarket matrix coordinate integer general\n" +
                                         std::to_string(count) + " " + std::to_string(length) +
                                         " " + std::to_string(40 * count) + "\n" + entries));
  }
  static std::string groups() {
    std::string out;
    for (int k = 0; k < cols; ++k) out += k % 2 == 0 ? "a\n" : "b\n";
    return out;
  }
  static std::string line_of(int modulus) {
    std::string out;
    for (int k = 0; k < cols; ++k) {
      out += (k == 0 ? "" : "\t") + std::to_string(1 + (k * k + 3 * k) % modulus);
    }
    return out + "\n";
  }

  gpu_test::temporary_folder folder_;
};

std::vector<job> all_jobs() {
  constexpr std::uint64_t dense = std::uint64_t{8} * rows * rows;
  std::vector<job> out;
  for (const char* measure : {"spearman", "pearson", "cosine", "bicor", "kendall"}) {
    const std::string of = measure;
    // Kendall's rows are long: a bit a pair of columns.
    const std::uint64_t limit = of == "kendall" ? 12'000'000 : 4'000'000;
    out.push_back({of + " edges", {measure, "@x.npy", "--min-abs", "0.2"}, 0, limit});
    out.push_back(
        {of + " counts", {measure, "@x.npy", "--min-abs", "0.2", "--keep", "counts"}, 0, limit});
    out.push_back({of + " top-k", {measure, "@x.npy", "--keep", "top-k", "-k", "3"}, 0, limit});
  }
  const words differential{"differential", "@x.npy", "--groups", "@groups.txt"};
  const auto differences = [&](const std::string& name, const words& more) {
    words line = differential;
    line.insert(line.end(), more.begin(), more.end());
    out.push_back({"differential " + name, line});
  };
  differences("edges", {"--max-p", "1e-6"});
  differences("of ranks", {"--max-p", "1e-6", "--measure", "spearman"});
  differences("BH", {"--max-p", "1e-3", "--adjust", "bh"});
  differences("bonferroni", {"--max-p", "0.1", "--adjust", "bonferroni"});
  differences("counts", {"--max-p", "1e-3", "--keep", "counts"});
  differences("top-k", {"--keep", "top-k", "-k", "3"});
  differences("top-k with q", {"--keep", "top-k", "-k", "3", "--adjust", "bonferroni"});
  const auto add = [&](const std::string& name, const words& line, std::uint64_t result = 0) {
    out.push_back({name, line, result});
  };
  add("dense", {"pearson", "@x.npy", "--keep", "dense", "--format", "npy"}, dense);
  add("BH", {"pearson", "@x.npy", "--max-p", "1e-4", "--adjust", "bh"});
  add("bonferroni", {"spearman", "@x.npy", "--max-p", "0.1", "--adjust", "bonferroni"});
  add("q of partners",
      {"pearson", "@x.npy", "--max-p", "1e-4", "--adjust", "bh", "--keep", "top-k", "-k", "3"});
  add("covariates", {"pearson", "@x.npy", "--max-p", "1e-6", "--covariates", "@z.tsv"});
  add("weights", {"pearson", "@x.npy", "--min-abs", "0.3", "--weights", "@w.tsv"});
  add("sparse", {"pearson", "@x.mtx", "--max-p", "1e-9"});
  add("sparse cosine", {"cosine", "@x.mtx", "--min-abs", "0.99"});
  add("x against y", {"pearson", "@x.npy", "--max-p", "1e-6", "--against", "@x.npy"});
  add("folded rows", {"spearman", "@x.npy", "--max-p", "1e-6", "--fold", "always"});
  // Parts and their joining.
  add("resumed edges", {"pearson", "@x.npy", "--max-p", "1e-3", "--resume", "--parts", "3"});
  add("resumed q",
      {"spearman", "@x.npy", "--max-p", "0.01", "--adjust", "bh", "--resume", "--parts", "2"});
  differences("resumed", {"--max-p", "0.01", "--adjust", "bonferroni", "--resume", "--parts", "3"});
  add("tanimoto", {"tanimoto", "@x.bits.npy", "--threshold", "0.9"});
  add("tanimoto top-k", {"tanimoto", "@x.bits.npy", "--keep", "top-k", "-k", "3"});
  add("fits", {"soft-threshold", "@x.npy"});
  add("connectivity", {"soft-threshold", "@x.npy", "--keep", "connectivity"});
  constexpr std::uint64_t values = std::uint64_t{8} * rows * cols;  // of a block, which is all here
  add("rank", {"rank", "@x.npy", "--format", "npy"}, values);
  add("largest", {"top-k", "@x.npy", "-k", "5"});
  add("mean-filter", {"mean-filter", "@x.npy", "-w", "7", "--format", "npy"}, values);
  return out;
}

}  // namespace

TEST_CASE("The command takes the table, its result and the limit", "[faults][memory]") {
  const bench b;
  for (const job& of : all_jobs()) {
    const std::uint64_t base = b.peak(of, "small");
    const std::uint64_t taken = b.peak(of, "x");
    constexpr std::uint64_t table = std::uint64_t{1} * rows * cols;  // a byte a value
    // What is read is there twice for a moment, and a limit is one of scratch in each of the
    // stages.
    constexpr std::uint64_t buffers = 12 * mebibyte;
    const std::uint64_t most = 2 * table + of.result + of.limit + buffers;
    UNSCOPED_INFO(of.name << ": " << static_cast<double>(taken - std::min(base, taken)) / mebibyte
                          << " MiB more than a small table, expected at most "
                          << static_cast<double>(most) / mebibyte);
    CHECK(taken <= base + most);
  }
}
