// The parser of the command line on any words: it gives a command whose values are all in their
// ranges, an exit code, or a usage_error. Words are separated by newlines.
#include <cmath>
#include <cstdint>
#include <iostream>
#include <string>
#include <variant>
#include <vector>

#include "cli/options/options.hpp"
#include "cli/process/exit_code.hpp"
#include "fuzz/expect.hpp"

namespace {

using gpu_test::expect;

void check(const gpu::execution& exec) {
  expect(exec.cpu_threads >= 0, "threads");
}

void check(const gpu::cli::pairs_command& c) {
  expect(c.filter.max_p > 0 && c.filter.max_p <= 1, "max-p");
  expect(c.filter.min_abs >= 0 && (c.is_differential() || c.filter.min_abs <= 1), "min-abs");
  expect(c.k >= 1, "k");
  expect(c.max_output_bytes >= 0, "max-output");
  if (c.fingerprints) expect(c.fingerprints->bits >= 0, "bits");
  check(c.pairs.exec);
}

void check(const gpu::cli::mean_filter_command& c) {
  expect(c.filter.window >= 1, "window");
  check(c.filter.exec);
}

void check(const gpu::cli::rank_command& c) {
  expect(!c.input.empty(), "input");
  check(c.rank.exec);
}

void check(const gpu::cli::top_k_command& c) {
  expect(c.k >= 1, "k");
  check(c.top.exec);
}

void check(const gpu::cli::soft_threshold_command& c) {
  expect(!c.network.powers.empty() && c.network.powers.size() <= 64, "how many powers");
  for (const double power : c.network.powers) expect(power > 0 && power <= 100, "a power");
  expect(c.fit.bins >= 3, "bins");
  check(c.pairs.exec);
}

void check(const gpu::cli::info_command&) {}
void check(const gpu::cli::page_command& c) {
  expect(c.what <= gpu::cli::page_kind::manual, "page");
}
void check(const gpu::cli::parts_command& c) {
  expect(!c.folder.empty(), "folder");
}
void check(const gpu::cli::modules_command& c) {
  expect(!c.input.empty() && c.min_abs >= 0 && c.format != gpu::io::result_format::npy, "modules");
}
void check(const gpu::cli::merge_command& c) {
  expect(!c.folder.empty() && !c.output.empty(), "folder and output");
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  // Help and complaints would be most of the work.
  std::cout.rdbuf(nullptr);
  std::cerr.rdbuf(nullptr);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::vector<std::string> words{"gpu-similarity"};
  std::string word;
  for (std::size_t i = 0; i < size; ++i) {
    if (data[i] == '\n') {
      words.push_back(word);
      word.clear();
    } else if (data[i] != 0) {
      word += static_cast<char>(data[i]);
    }
  }
  words.push_back(word);
  std::vector<char*> argv;
  for (std::string& w : words) argv.push_back(w.data());
  argv.push_back(nullptr);
  try {
    const gpu::cli::parsed_command parsed =
        gpu::cli::parse_command_line(static_cast<int>(words.size()), argv.data());
    if (const int* code = std::get_if<int>(&parsed)) {
      expect(*code == gpu::cli::exit_ok || *code == gpu::cli::exit_usage, "the exit code");
    } else {
      std::visit([](const auto& c) { check(c); }, std::get<gpu::cli::command>(parsed));
    }
  } catch (const gpu::cli::usage_error&) {
    // As meant.
  }
  return 0;
}
