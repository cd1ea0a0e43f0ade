// Calls that ask for more threads than the system starts, for want of processes of the user or of
// address space: each gives its right answer with the threads there are, or is out_of_memory, and
// the process goes on. Its own program: OpenMP has no threads yet when it forks.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include <gpu/similarity.hpp>

namespace {

using gpu::index_t;

constexpr unsigned longest_seconds = 30;

// OpenMP ends a process with status 1.
enum outcome { right = 10, no_memory, wrong, other_error, not_limited };

gpu::matrix<float> numbers(index_t rows, index_t cols) {
  gpu::matrix<float> data(rows, cols);
  std::uint32_t state = 7;
  for (index_t i = 0; i < rows * cols; ++i) {
    state = state * 1664525U + 1013904223U;
    data.data()[i] = static_cast<float>((state >> 16) % 50);
  }
  return data;
}

template <class T>
double sum_of(const gpu::matrix<T>& values) {
  double sum = 0;
  for (index_t i = 0; i < values.rows() * values.cols(); ++i) {
    sum += static_cast<double>(values.data()[i]) * static_cast<double>(i % 97 + 1);
  }
  return sum;
}

struct entry {
  std::string name;
  std::function<double(const gpu::execution&)> call;
};

std::vector<entry> all_calls() {
  static const auto data = numbers(2000, 40);
  static const auto wide = numbers(3, 300000);
  const auto edges = [](gpu::measure what) {
    return [=](const gpu::execution& exec) {
      const auto found = gpu::all_pairs(what, data, {.exec = exec},
                                        gpu::edge_sink{.keep = {.min_abs = 0.4}});
      double sum = 0;
      for (const gpu::edge& of : found.edges) sum += of.statistic * (of.row + 2.0 * of.col);
      return sum;
    };
  };
  return {
      {"spearman", edges(gpu::measure::spearman)},
      {"pearson", edges(gpu::measure::pearson)},
      {"rank_rows", [](const auto& exec) { return sum_of(gpu::rank_rows(data, {.exec = exec})); }},
      {"top_k",
       [](const auto& exec) { return sum_of(gpu::top_k(wide, 9, {.exec = exec}).indices); }},
      {"top_k_distinct",
       [](const auto& exec) { return sum_of(gpu::top_k_distinct(wide, 9, {.exec = exec}).counts); }},
      {"mean_filter",
       [](const auto& exec) {
         return sum_of(gpu::mean_filter(wide, {.window = 31, .exec = exec}));
       }},
      {"convolve",
       [](const auto& exec) {
         return sum_of(gpu::convolve(wide, std::vector<double>{0.5, 0.5}, {.exec = exec}));
       }},
      {"matmul",
       [](const auto& exec) {
         return sum_of(gpu::matmul(data, data, {.b = gpu::transposition::transpose, .exec = exec}));
       }},
      {"matmul naive",
       [](const auto& exec) {
         return sum_of(gpu::matmul(data, data,
                                   {.b = gpu::transposition::transpose,
                                    .variant = gpu::matmul_variant::naive,
                                    .exec = exec}));
       }},
      {"binary_matmul",
       [](const auto& exec) {
         const gpu::bit_matrix bits = gpu::pack_bits(data, 25.0f, exec);
         return sum_of(gpu::binary_matmul(bits.view(), bits.view(), {.exec = exec}));
       }},
  };
}

rlim_t address_space() {
  rlim_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE));
}

/// Processes and threads of the user: no more than `most`. Root has no such limit, so it becomes
/// another user first.
bool limit_processes(rlim_t most) {
  constexpr unsigned nobody = 65534;
  if (getuid() == 0 && (setgid(nobody) != 0 || setuid(nobody) != 0)) return false;
  const rlimit both{most, most};
  return setrlimit(RLIMIT_NPROC, &both) == 0;
}

bool limit_address_space(rlim_t room) {
  const rlim_t limit = address_space() + room;
  const rlimit both{limit, limit};
  return setrlimit(RLIMIT_AS, &both) == 0;
}

outcome run(const entry& of) {
  try {
    const double expected = of.call({.target = gpu::backend::cpu, .cpu_threads = 1});
    for (const int threads : {3, 16, 2, 64}) {
      const double got = of.call({.target = gpu::backend::cpu, .cpu_threads = threads});
      if (got != expected) return wrong;
    }
    return right;
  } catch (const gpu::out_of_memory&) {
    return no_memory;
  } catch (...) {
    return other_error;
  }
}

// How the call ends in a child of this process; above other_error where the child was ended.
int in_child(const entry& of, const std::function<bool()>& limit) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(longest_seconds);
    if (!limit()) _exit(not_limited);
    _exit(run(of));
  }
  int status = 0;
  if (waitpid(child, &status, 0) != child) return 1000;
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace

int main() {
  int failures = 0;
  int skipped = 0;
  int calls = 0;
  const auto check = [&](const entry& of, const char* what, rlim_t most, bool may_lack_memory,
                         const std::function<bool()>& limit) {
    ++calls;
    const int ended = in_child(of, limit);
    if (ended == not_limited) {
      ++skipped;
    } else if (ended != right && !(may_lack_memory && ended == no_memory)) {
      std::printf("%s with %s %llu: ended as %d\n", of.name.c_str(), what,
                  static_cast<unsigned long long>(most), ended);
      ++failures;
    }
  };
  for (const entry& of : all_calls()) {
    for (const rlim_t most : {1U, 2U, 3U, 9U, 40U}) {
      // A child of fork lacks the threads that OpenBLAS started before.
      check(of, "processes", most, of.name == "matmul", [=] { return limit_processes(most); });
    }
    for (const rlim_t room : {40U, 64U, 100U, 200U, 400U}) {
      check(of, "MiB of address space", room, true,
            [=] { return limit_address_space(room << 20); });
    }
  }
  std::printf("%d calls, %d without a limit, %d failures\n", calls, skipped, failures);
  return failures == 0 && skipped < calls / 2 + 1 ? EXIT_SUCCESS : EXIT_FAILURE;
}
