#include "cli/process/start_checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include <gpu/error.hpp>

#include "base/execution_checks.hpp"
#include "base/parallel.hpp"
#include "cli/process/exit_code.hpp"
#include "cli/process/messages.hpp"

namespace gpu::cli {

void check_execution(const execution& exec) {
  try {
    detail::check_backend(exec);
  } catch (const invalid_argument& error) {
    throw refused_options(error.what());
  }
  // What gets no number of threads, such as the joining of parts, has the run's number too.
  ::setenv("OMP_NUM_THREADS", std::to_string(detail::thread_count(exec.cpu_threads)).c_str(), 1);
}

void note_compilation(const execution& exec) {
  if (resolve_backend(exec) != backend::cuda) return;
  const std::vector<int>& asked = exec.devices;
  for (const device_info& device : available_devices()) {
    const bool is_taken =
        asked.empty() ? device.ordinal == 0
                      : std::find(asked.begin(), asked.end(), device.ordinal) != asked.end();
    if (!is_taken || device.code != device_code::portable) continue;
    note(device.name,
         {fmt::format(
             "this build holds no machine code for compute capability {}.{}. The driver compiles "
             "that for {}.{} at the first use, which takes seconds, and keeps it in its "
             "cache",
             device.compute_major, device.compute_minor, device.code_major, device.code_minor)});
    return;
  }
}

}  // namespace gpu::cli
