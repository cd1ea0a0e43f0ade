#include "base/execution_checks.hpp"

#include <fmt/format.h>

#include <gpu/error.hpp>

namespace gpu::inline v0::detail {

void check_no_stream(const execution& exec) {
  if (exec.stream.get() == nullptr) return;
  throw invalid_argument(
      "execution.stream: got a stream for data in host memory, expected none: such calls take "
      "streams of their own and wait for them");
}

void check_one_device(const execution& exec) {
  if (exec.devices.size() <= 1) return;
  throw unsupported(
      fmt::format("execution.devices: got {}, expected at most one: only all pairs share their "
                  "work among devices",
                  exec.devices.size()));
}

}  // namespace gpu::inline v0::detail
