// Runs a command while most of the device's memory is taken, as on a device with less:
//
//   ballast GIB COMMAND [ARGUMENTS...]
//
// Takes all but GIB (a number, 2^30 bytes) of the current device's free memory, runs the command,
// and ends with its code; 125 where the memory cannot be taken, 127 where the command cannot be
// started. The command's own context takes some of what is left.
#include <cuda_runtime_api.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

constexpr int exit_no_memory = 125;
constexpr int exit_no_command = 127;

std::size_t free_bytes() {
  std::size_t free = 0;
  std::size_t total = 0;
  return cudaMemGetInfo(&free, &total) == cudaSuccess ? free : 0;
}

// Blocks, smaller ones where a large one is not to be had, until `left` bytes are free.
bool take_all_but(std::size_t left) {
  constexpr std::size_t least = std::size_t{16} << 20;
  std::size_t block = std::size_t{16} << 30;
  while (free_bytes() > left + least && block >= least) {
    const std::size_t spare = free_bytes() - left;
    void* memory = nullptr;
    if (block > spare || cudaMalloc(&memory, block) != cudaSuccess) {
      static_cast<void>(cudaGetLastError());
      block /= 2;
    }
  }
  return free_bytes() >= left && free_bytes() <= left + 2 * least;
}

int run(char** command) {
  const pid_t child = fork();
  if (child == 0) {
    execvp(command[0], command);
    std::perror(command[0]);
    _exit(exit_no_command);
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) < 0) return exit_no_command;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

int main(int argc, char** argv) {
  const double gib = argc > 2 ? std::atof(argv[1]) : 0;
  if (gib <= 0) {
    std::fprintf(stderr, "ballast GIB COMMAND [ARGUMENTS...]\n");
    return 2;
  }
  if (!take_all_but(static_cast<std::size_t>(gib * (std::size_t{1} << 30)))) {
    std::fprintf(stderr, "ballast: %.2f GiB are free, expected %.2f or a little more\n",
                 static_cast<double>(free_bytes()) / (std::size_t{1} << 30), gib);
    return exit_no_memory;
  }
  return run(argv + 2);
}
