// Products on the CPU where the address space does not hold the buffers of OpenBLAS, which would
// ask for them for ever.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include <gpu/error.hpp>
#include <gpu/matmul.hpp>

#include "support/catch.hpp"

namespace {

constexpr unsigned longest_seconds = 30;  // a call that spins is ended by SIGALRM

rlim_t address_space() {
  rlim_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE));
}

// Exit status of a child that multiplies with `room` bytes of address space left: 0 for the right
// product, 1 for gpu::out_of_memory, 2 for anything else; 128 + the signal that ended it.
int multiply_with(rlim_t room, int threads) {
  constexpr gpu::index_t edge = 200;
  gpu::matrix<double> ones(edge, edge);
  std::fill_n(ones.data(), edge * edge, 1.0);
  gpu::matmul_options options;
  options.variant = gpu::matmul_variant::blas;
  options.exec.target = gpu::backend::cpu;
  options.exec.cpu_threads = threads;
  const pid_t child = fork();
  if (child == 0) {
    alarm(longest_seconds);
    const rlim_t limit = address_space() + room;
    const rlimit both{limit, limit};
    if (setrlimit(RLIMIT_AS, &both) != 0) _exit(3);
    try {
      const auto product = gpu::matmul(ones, ones, options);
      _exit(product.row(0)[0] == 200.0 ? 0 : 2);
    } catch (const gpu::out_of_memory&) {
      _exit(1);
    } catch (...) {
      _exit(2);
    }
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace

TEST_CASE("a product without memory for OpenBLAS is out_of_memory or right, and ends") {
  constexpr rlim_t mebibyte = 1U << 20;
  for (const int threads : {1, 2, 4}) {
    for (const rlim_t room : {16U, 64U, 140U, 200U, 300U, 500U, 800U}) {
      CAPTURE(threads, room);
      CHECK(multiply_with(room * mebibyte, threads) <= 1);
    }
    CHECK(multiply_with(4096 * mebibyte, threads) == 0);
  }
}
