#include "cli/verbs/device_note.hpp"

#include <fmt/format.h>

#include <algorithm>

#include <gpu/execution.hpp>

#include "cli/process/messages.hpp"

namespace gpu::cli {

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
