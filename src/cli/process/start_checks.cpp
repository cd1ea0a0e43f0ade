#include "cli/process/start_checks.hpp"

#include <fmt/format.h>

#include <gpu/backend.hpp>
#include <gpu/error.hpp>

#include "base/parallel.hpp"
#include "base/startable_threads.hpp"
#include "cli/process/exit_code.hpp"

namespace gpu::cli {
namespace {

/// A run has the threads that were asked for, or does not begin.
void check_threads(int count) {
  const int started = cpu::count_startable(count - 1) + 1;
  if (started == count) return;
  throw no_threads(fmt::format(
      "the system starts {} threads, {} are needed: take fewer by --threads", started, count));
}

}  // namespace

void check_execution(const execution& exec) {
  try {
    (void)resolve_backend(exec);
  } catch (const invalid_argument& error) {
    throw usage_error(error.what());
  }
  check_threads(cpu::wanted_threads(exec.cpu_threads));
}

}  // namespace gpu::cli
