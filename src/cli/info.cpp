#include "cli/info.hpp"

#include <fmt/format.h>

#include <gpu/backend.hpp>
#include <gpu/version.hpp>

#include "cli/report.hpp"

namespace gpu::cli {

std::string info_text() {
  std::string out = fmt::format("gpu-similarity {}\n", GPU_SIMILARITY_VERSION);
  for (const backend_info& b : available_backends()) {
    out += fmt::format("backend {}: {}\n", b.name,
                       b.usable ? b.description : "not usable, " + b.reason);
  }
  for (const device_info& d : available_devices()) {
    out += fmt::format("device {}: {}, compute {}.{}, {} multiprocessors, {} memory, {} L2\n",
                       d.ordinal, d.name, d.compute_major, d.compute_minor, d.multiprocessors,
                       bytes_text(static_cast<double>(d.memory_bytes)),
                       bytes_text(static_cast<double>(d.l2_bytes)));
  }
  out += fmt::format("auto takes: {}\n", to_string(resolve_backend()));
  return out;
}

}  // namespace gpu::cli
