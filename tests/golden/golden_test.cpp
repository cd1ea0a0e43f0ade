// Holds 616 seeded jobs to the checksums in golden.txt: golden_test [--target cpu|cuda] [--write].
// The checksums are the same on every CPU level and every GPU. A change of the code that changes
// one changes an answer, and has to say so.

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "golden/jobs.hpp"

namespace {

using namespace gpu_test::golden;

constexpr std::uint64_t sliced_jobs = 16;
constexpr std::uint64_t other_jobs = 100;
constexpr const char* golden_file = GPU_SIMILARITY_SOURCE_DIR "/tests/golden/golden.txt";

std::vector<std::string> answers(const gpu::execution& where) {
  std::vector<std::string> lines;
  const auto add = [&](const answer& a) { lines.push_back(a.said + ' ' + a.job); };
  const auto add_pairs = [&](std::uint64_t first, std::uint64_t end) {
    for (std::uint64_t n = first; n < end; ++n) add(answer_of_pairs(n, where));
  };
  add_pairs(0, first_sliced_job);
  for (std::uint64_t n = 0; n < other_jobs; ++n) add(answer_of_others(n, where));
  add_pairs(first_sliced_job, first_sliced_job + sliced_jobs);
  return lines;
}

std::vector<std::string> expected_lines() {
  std::ifstream in(golden_file);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with('#')) lines.push_back(line);
  }
  return lines;
}

int write(const std::vector<std::string>& lines) {
  std::ofstream out(golden_file);
  out << "# Checksums of seeded jobs: golden_test --write makes this file.\n";
  for (const std::string& line : lines) out << line << '\n';
  return out.flush() ? 0 : 1;
}

/// On CUDA floats of dense results and sums of connectivity are right within a bound, not to the
/// bit, and some jobs have no kernel: "unsupported" there is an answer.
bool is_right(const std::string& got, const std::string& expected, bool on_cuda) {
  const bool is_within_a_bound = expected.find(" dense_f32 ") != std::string::npos ||
                                 expected.find(" connectivity ") != std::string::npos;
  if (on_cuda && is_within_a_bound) return true;
  const bool is_missing = on_cuda && got.starts_with("unsupported") &&
                          got.substr(got.find(' ')) == expected.substr(expected.find(' '));
  return got == expected || is_missing;
}

}  // namespace

int main(int argc, char** argv) {
  gpu::execution where{.target = gpu::backend::cpu};
  bool writes = false;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--write") == 0) writes = true;
    if (std::strcmp(argv[i], "cuda") == 0) where.target = gpu::backend::cuda;
  }
  const bool on_cuda = where.target == gpu::backend::cuda;
  if (on_cuda && gpu::available_devices().empty()) {
    const bool is_required = std::getenv("GPU_SIMILARITY_REQUIRE_CUDA") != nullptr;
    std::printf("%s: no usable GPU\n", is_required ? "failed" : "skipped");
    return is_required ? 1 : 77;
  }
  const std::vector<std::string> got = answers(where);
  if (writes) return write(got);
  const std::vector<std::string> expected = expected_lines();
  std::size_t wrong = expected.size() == got.size() ? 0 : 1;
  for (std::size_t i = 0; i < std::min(got.size(), expected.size()); ++i) {
    if (is_right(got[i], expected[i], on_cuda)) continue;
    ++wrong;
    std::printf("expected %s\n     got %s\n", expected[i].c_str(), got[i].c_str());
  }
  std::printf("%zu assertions, %zu wrong\n", got.size(), wrong);
  return wrong == 0 ? 0 : 1;
}
