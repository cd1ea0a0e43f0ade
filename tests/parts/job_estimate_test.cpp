// What --resume expects of a job of differential correlation, beside what the job writes.
#include <string>
#include <variant>
#include <vector>

#include "cli/options/options.hpp"
#include "cli/parts/job_estimate.hpp"
#include "cli/process/progress_line.hpp"
#include "cli/run_command.hpp"
#include "cli/verbs/pairs_run.hpp"
#include "cli/verbs/read_input.hpp"
#include "support/catch.hpp"

namespace {

using gpu::cli::job_estimate;
using words = std::vector<std::string>;

constexpr int group_cols = 12;

// Rows that move with one factor in the first group; every second one moves against it in the
// other.
std::string table(int rows, const std::string& name) {
  std::string text;
  unsigned state = 1;
  const auto value = [&state] {
    state = state * 1103515245U + 12345U;
    return static_cast<int>(state >> 16U) % 1000;
  };
  for (int i = 0; i < rows; ++i) {
    text += name + std::to_string(10000 + i);
    for (int k = 0; k < 2 * group_cols; ++k) {
      const int factor = (k + 1) * 7919 % 1000;
      const bool is_against = k >= group_cols && i % 2 == 1;
      text.append("\t").append(std::to_string((is_against ? -factor : factor) + value()));
    }
    text += "\n";
  }
  return text;
}

words command_of(const std::string& input, const words& options) {
  std::string groups;
  for (int k = 0; k < 2 * group_cols; ++k) groups += k == 0 ? "a" : k < group_cols ? ",a" : ",b";
  words out{"differential", input, "--groups", groups, "-q", "--backend", "cpu"};
  out.insert(out.end(), options.begin(), options.end());
  return out;
}

job_estimate estimate_of(words command) {
  command.insert(command.begin(), "gpu-similarity");
  std::vector<char*> argv;
  for (std::string& word : command) argv.push_back(word.data());
  const auto parsed = gpu::cli::parse_command_line(static_cast<int>(argv.size()), argv.data());
  const auto& job = std::get<gpu::cli::pairs_command>(std::get<gpu::cli::command>(parsed));
  gpu::cli::progress_line line(true);
  const gpu::cli::input_tables tables = gpu::cli::read_input(job, line);
  return gpu::cli::estimate_job(job, tables, gpu::cli::result_context_of(job, tables));
}

}  // namespace

TEST_CASE("The size of a job of differential correlation is estimated", "[cli][parts]") {
  const gpu_test::temporary_folder folder;
  const std::string input = folder.write("in.tsv", table(400, "gene with a name "));
  // Fewer rows than the first sample has, so that the bytes of a line alone are estimated.
  const std::vector<words> cases{{},
                                 {"--max-p", "0.01"},
                                 {"--max-p", "0.9", "--adjust", "bonferroni", "--tail", "greater"},
                                 {"--max-p", "0.05", "--adjust", "bh"},
                                 {"--min-abs-z", "2.5", "--tail", "greater"},
                                 {"--keep", "top-k", "-k", "4"},
                                 {"--keep", "top-k", "-k", "100", "--max-p", "0.005"},
                                 {"--keep", "counts", "--max-p", "0.05"}};
  for (const words& options : cases) {
    const words command = command_of(input, options);
    const gpu_test::command_result result = gpu_test::run_command(command);
    REQUIRE(result.exit_code == 0);
    const auto written = static_cast<double>(result.out.size());
    const job_estimate estimate = estimate_of(command);
    std::string shown;
    for (const std::string& word : options) shown += word + " ";
    INFO(shown << ": " << estimate.bytes << " bytes estimated, " << written << " written");
    CHECK(written > 5000);
    CHECK(estimate.bytes > 0.5 * written);
    CHECK(estimate.bytes < 2.5 * written);
    CHECK(estimate.pairs == 400.0 * 399 / 2);
    CHECK(estimate.seconds > 0);
    CHECK(estimate.parts == 1);
  }
}

TEST_CASE("A large result of differential correlation gets several parts", "[cli][parts]") {
  const gpu_test::temporary_folder folder;
  const std::string name(100, 'n');
  const std::string input = folder.write("in.tsv", table(6000, name));
  const job_estimate estimate = estimate_of(command_of(input, {}));
  // 1.8e7 lines of two names and some numbers, at most 2e9 bytes a part.
  CHECK(estimate.bytes > 3.8e9);
  CHECK(estimate.bytes < 5.9e9);
  CHECK(estimate.parts >= 2);
  CHECK(estimate.parts < 50);
  const job_estimate strict = estimate_of(command_of(input, {"--min-abs-z", "1000"}));
  CHECK(strict.bytes == 0);
}
