// soak_cuda [--seconds S] [--round S] [--threads T] [--seed N] [--most-rows R] [--filter TEXT]:
// random calls of every operation on the GPU, from T threads with a stream each, for S seconds.
// Each result is compared with that of the CPU. Between rounds, when all threads have ended, memory
// is measured: the device's pool must have as much in use as before, and the host's memory in use
// must not grow.
//
// soak_cuda --each [--repeat K] [--filter TEXT]: each case K times (2), small, one after the other:
// for compute-sanitizer, see ./dev sanitize-cuda.
//
// Small tables are too short for some ways of all pairs. Rounds, and with --each the calls of a
// case, have them chosen and forced in turn; --ways N: always turn N of take_ways().
//
// A wrong answer (or the N-th of them, --most-failures N) ends the program with 1; a line says how
// to repeat it.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <gpu/error.hpp>
#include <gpu/execution.hpp>

#include "soak/cases.hpp"
#include "soak/host_memory.hpp"
#include "support/device_memory.hpp"
#ifdef GPU_SIMILARITY_TEST_INTERNALS
#include "plan/forced/forced_ways.hpp"
#endif

namespace {

using gpu_test::dice;
using gpu_test::soak_case;
using clock_type = std::chrono::steady_clock;

constexpr int exit_skipped = 77;

struct settings {
  double seconds = 60;
  double round_seconds = 5;
  int threads = 4;
  std::uint64_t seed = 1;
  gpu::index_t most_rows = 1500;
  bool is_each = false;
  int ways = -1;  // in turn
  int repeat = 2;
  std::string filter = {};
  int most_failures = 1;
};

settings read_settings(int argc, char** argv) {
  settings out;
  const std::vector<std::string> words(argv + 1, argv + argc);
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto value = [&] {
      if (i + 1 == words.size()) throw std::invalid_argument(words[i] + " needs a value");
      return words[++i];
    };
    if (words[i] == "--each") {
      out.is_each = true;
    } else if (words[i] == "--ways") {
      out.ways = std::stoi(value());
    } else if (words[i] == "--seconds") {
      out.seconds = std::stod(value());
    } else if (words[i] == "--round") {
      out.round_seconds = std::stod(value());
    } else if (words[i] == "--threads") {
      out.threads = std::stoi(value());
    } else if (words[i] == "--seed") {
      out.seed = std::stoull(value());
    } else if (words[i] == "--most-rows") {
      out.most_rows = std::stoll(value());
    } else if (words[i] == "--repeat") {
      out.repeat = std::stoi(value());
    } else if (words[i] == "--most-failures") {
      out.most_failures = std::stoi(value());
    } else if (words[i] == "--filter") {
      out.filter = value();
    } else {
      throw std::invalid_argument("unknown argument " + words[i]);
    }
  }
  return out;
}

/// Which turn of the ways is taken.
int ways_taken = 0;
/// Changes that while no call runs: 0: as chosen; 1: short jobs take the ways of long ones; 2: and
/// products of halves; 3: and neither these nor other products; 4: and few rows are multiplied once
/// all rows are prepared. A shared library hides it, and chooses.
void take_ways([[maybe_unused]] int turn) {
#ifdef GPU_SIMILARITY_TEST_INTERNALS
  ways_taken = turn % 5;
  auto& ways = gpu::detail::ways_in_force().cuda;
  ways = {.never_short = ways_taken > 0};
  if (ways_taken > 1) ways.halves = ways_taken == 2;
  if (ways_taken == 4) ways.ready = false;
  if (ways_taken == 3) ways.products = false;
#endif
}

std::vector<soak_case> all_cases(const std::string& filter) {
  std::vector<soak_case> all = gpu_test::pair_cases();
  for (auto more :
       {gpu_test::row_cases(), gpu_test::product_cases(), gpu_test::differential_cases()}) {
    all.insert(all.end(), more.begin(), more.end());
  }
  std::erase_if(all, [&](const soak_case& c) { return c.name.find(filter) == std::string::npos; });
  return all;
}

/// What calls came to, for all threads.
class tally {
 public:
  explicit tally(int most_failures) : most_failures_(most_failures) {}

  void count(const std::string& name, bool is_offered) {
    const std::scoped_lock lock(mutex_);
    auto& [made, refused] = calls_[name];
    ++(is_offered ? made : refused);
  }
  void fail(const std::string& line) {
    const std::scoped_lock lock(mutex_);
    std::cout << line << std::endl;
    failures_.push_back(line);
    is_over_ = static_cast<int>(failures_.size()) >= most_failures_;
  }
  /// Whether to go on.
  [[nodiscard]] bool is_over() const { return is_over_; }
  [[nodiscard]] bool has_failed() const { return !failures_.empty(); }
  [[nodiscard]] std::uint64_t calls() const {
    std::uint64_t sum = 0;
    for (const auto& [name, count] : calls_) sum += count.first;
    return sum;
  }
  /// Cases that never ran: their variants are not offered here.
  void print_failures() const {
    for (const std::string& line : failures_) std::cout << line << '\n';
  }
  void print_missing(const std::vector<soak_case>& all) const {
    for (const soak_case& c : all) {
      const auto found = calls_.find(c.name);
      if (found == calls_.end() || found->second.first == 0) {
        std::cout << "never ran: " << c.name << '\n';
      }
    }
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::pair<std::uint64_t, std::uint64_t>> calls_;
  std::vector<std::string> failures_;
  int most_failures_;
  std::atomic<bool> is_over_{false};
};

/// One call; a wrong answer, or an error that no call should give, is a failure. Returns whether
/// the call was made: a variant may not be offered for what was drawn.
bool run_case(const soak_case& c, std::uint64_t seed, gpu::index_t most_rows, cudaStream_t stream,
              tally& results) {
  const auto complain = [&](const std::string& what) {
    results.fail(c.name + ": " + what + "; repeat with --each --repeat 1 --filter '" + c.name +
                 "' --seed " + std::to_string(seed) + " --most-rows " + std::to_string(most_rows) +
                 " --ways " + std::to_string(ways_taken));
    return false;
  };
  try {
    dice d(seed, most_rows);
    c.run(d, stream);
    results.count(c.name, true);
    return true;
  } catch (const gpu::unsupported&) {
    results.count(c.name, false);
    return false;
  } catch (const gpu_test::wrong_answer& error) {
    return complain("wrong answer: " + std::string(error.what()));
  } catch (const gpu::out_of_memory& error) {
    // A drawn limit of memory may be too small for the shape that was drawn.
    if (std::string(error.what()).find("workspace_bytes") != std::string::npos ||
        std::string(error.what()).find("allowed") != std::string::npos) {
      results.count(c.name, false);
      return false;
    }
    return complain(error.what());
  } catch (const std::exception& error) {
    return complain(error.what());
  }
}

int run_each(const settings& s, const std::vector<soak_case>& all) {
  constexpr int most_draws = 20;  // until one suits the variant
  tally results(s.most_failures);
  const gpu_test::test_stream stream;
  for (std::size_t at = 0; at < all.size(); ++at) {
    const soak_case& c = all[at];
    // Another draw for each case; alone, a case has just the seed that was asked for.
    const std::uint64_t first_seed = s.seed + (all.size() == 1 ? 0 : 7919 * at);
    int made = 0;
    for (int i = 0; i < most_draws * s.repeat && made < s.repeat && !results.is_over(); ++i) {
      const std::uint64_t seed = first_seed + static_cast<std::uint64_t>(i);
      take_ways(s.ways >= 0 ? s.ways : 1 + made);
      made += run_case(c, seed, s.most_rows, stream.get(), results) ? 1 : 0;
    }
  }
  GPU_TEST_CUDA(cudaDeviceSynchronize());
  std::cout << results.calls() << " calls of " << all.size() << " cases\n";
  results.print_missing(all);
  return results.has_failed() ? EXIT_FAILURE : EXIT_SUCCESS;
}

struct memory_use {
  std::uint64_t pool_bytes = 0;    ///< In use, of the device's pool.
  std::size_t free_bytes = 0;      ///< Of the device, for any process.
  std::size_t resident_bytes = 0;  ///< Of the host, before malloc gave back what it keeps.
  gpu_test::host_memory host = {};
};

memory_use measure_memory() {
  GPU_TEST_CUDA(cudaDeviceSynchronize());
  memory_use out;
  int device = 0;
  cudaMemPool_t pool = nullptr;
  std::size_t total = 0;
  GPU_TEST_CUDA(cudaGetDevice(&device));
  GPU_TEST_CUDA(cudaDeviceGetDefaultMemPool(&pool, device));
  GPU_TEST_CUDA(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &out.pool_bytes));
  GPU_TEST_CUDA(cudaMemGetInfo(&out.free_bytes, &total));
  out.resident_bytes = gpu_test::measure_host_memory().resident();
  gpu_test::give_back_free_memory();
  out.host = gpu_test::measure_host_memory();
  return out;
}

void print_round(const tally& results, double seconds, const memory_use& memory) {
  std::cout << static_cast<int>(seconds) << " s: " << results.calls() << " calls, pool "
            << memory.pool_bytes << " bytes in use, device " << (memory.free_bytes >> 20)
            << " MiB free, host " << (memory.resident_bytes >> 20)
            << " MiB, given back: " << to_string(memory.host) << std::endl;
}

/// Whether each of the last quarter's values is above each of the second quarter's by more than a
/// tenth and 64 MiB. The first quarter fills what the library and the driver keep between calls.
template <class Value>
bool has_grown(const std::vector<memory_use>& rounds, const Value& value) {
  const auto of = [&](std::size_t i) { return static_cast<double>(value(rounds[i])); };
  const std::size_t quarter = rounds.size() / 4;
  double early = 0;
  double late = of(rounds.size() - 1);
  for (std::size_t i = 0; i < quarter; ++i) {
    early = std::max(early, of(quarter + i));
    late = std::min(late, of(rounds.size() - 1 - i));
  }
  return late > 1.1 * early + (64 << 20);
}

void check_memory(const std::vector<memory_use>& rounds, tally& results) {
  if (rounds.size() < 8) return;
  const memory_use& early = rounds[rounds.size() / 4];
  const memory_use& late = rounds.back();
  if (late.pool_bytes > early.pool_bytes) results.fail("device memory in use has grown");
  if (late.free_bytes + (std::size_t{256} << 20) < early.free_bytes) {
    results.fail("free device memory has shrunk");
  }
  if (has_grown(rounds, [](const memory_use& m) { return m.host.in_use; })) {
    results.fail("memory that malloc has in use has grown");
  }
  if (has_grown(rounds, [](const memory_use& m) { return m.host.resident(); })) {
    results.fail("memory that the host cannot have back has grown");
  }
}

int soak(const settings& s, const std::vector<soak_case>& all) {
  tally results(s.most_failures);
  const auto start = clock_type::now();
  const auto elapsed = [&] {
    return std::chrono::duration<double>(clock_type::now() - start).count();
  };
  std::vector<memory_use> rounds;
  for (std::uint64_t round = 0; elapsed() < s.seconds && !results.is_over(); ++round) {
    take_ways(s.ways >= 0 ? s.ways : static_cast<int>(round % 5));
    const double end = std::min(s.seconds, elapsed() + s.round_seconds);
    std::vector<std::jthread> threads;
    for (int t = 0; t < s.threads; ++t) {
      threads.emplace_back([&, t] {
        const gpu_test::test_stream stream;
        std::mt19937_64 random(s.seed + round * 1000 + static_cast<std::uint64_t>(t));
        while (elapsed() < end && !results.is_over()) {
          const soak_case& c = all[random() % all.size()];
          static_cast<void>(run_case(c, random(), s.most_rows, stream.get(), results));
        }
      });
    }
    threads.clear();
    rounds.push_back(measure_memory());
    print_round(results, elapsed(), rounds.back());
  }
  results.print_missing(all);
  results.print_failures();
  if (!results.has_failed()) check_memory(rounds, results);
  std::cout << "largest error of a dense Pearson: " << gpu_test::largest_dense_error()
            << " of its bound\n";
  std::cout << (results.has_failed() ? "failed" : "passed") << ": " << results.calls()
            << " calls in " << static_cast<int>(elapsed()) << " s by " << s.threads << " threads\n";
  return results.has_failed() ? EXIT_FAILURE : EXIT_SUCCESS;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    settings s = read_settings(argc, argv);
    gpu_test::keep_no_large_blocks();
    if (!gpu::available_backends().back().usable) {
      std::cout << "no usable CUDA device: skipped\n";
      const char* const required = std::getenv("GPU_SIMILARITY_REQUIRE_CUDA");
      return required != nullptr && std::string(required) == "1" ? EXIT_FAILURE : exit_skipped;
    }
    const std::vector<soak_case> all = all_cases(s.filter);
    if (all.empty()) throw std::invalid_argument("no case has '" + s.filter + "' in its name");
    return s.is_each ? run_each(s, all) : soak(s, all);
  } catch (const std::exception& error) {
    std::cerr << "soak_cuda: " << error.what() << '\n';
    return 2;
  }
}
