#include "cli/process/start_checks.hpp"

#include <cstdlib>
#include <string>

#include <gpu/error.hpp>
#include <gpu/execution.hpp>

#include "base/parallel.hpp"
#include "cli/process/exit_code.hpp"

namespace gpu::cli {

void check_execution(const execution& exec) {
  try {
    (void)resolve_backend(exec);
  } catch (const invalid_argument& error) {
    throw refused_options(error.what());
  }
  // What gets no number of threads, such as the joining of parts, has the run's number too.
  ::setenv("OMP_NUM_THREADS", std::to_string(detail::thread_count(exec.cpu_threads)).c_str(), 1);
}

}  // namespace gpu::cli
