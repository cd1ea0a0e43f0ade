// gpu-similarity: the library as a command. One place turns what goes wrong into an exit code.
#include <fmt/format.h>

#include <string>
#include <type_traits>
#include <variant>

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <gpu/error.hpp>
#include <gpu/execution.hpp>
#include <gpu/version.hpp>

#include "base/execution_checks.hpp"
#include "cli/options/library_words.hpp"
#include "cli/options/options.hpp"
#include "cli/outputs/report.hpp"
#include "cli/parts/part_verbs.hpp"
#include "cli/process/exit_code.hpp"
#include "cli/process/guarded_run.hpp"
#include "cli/process/interrupt.hpp"
#include "cli/process/messages.hpp"
#include "cli/verbs/jobs.hpp"

namespace gpu::cli {
namespace {

// The code that a device runs, a line of `info`.
std::string code_text(const device_info& device) {
  switch (device.code) {
    case device_code::machine:
      return fmt::format("  runs machine code of {}.{}\n", device.code_major, device.code_minor);
    case device_code::portable:
      return fmt::format(
          "  runs PTX of {}.{}: the driver compiles it at the first call of each kind, which takes "
          "seconds, and keeps it in its cache\n",
          device.code_major, device.code_minor);
    case device_code::none:
      return "  is not used: this build has no code for it\n";
  }
  return {};
}

/// Version, backends, devices, and what `auto` would take here.
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
    out += code_text(d);
  }
  try {
    out += fmt::format("auto takes: {}\n", detail::words_of_automatic());
  } catch (const error& e) {  // a variable of the environment has an illegal value
    out += fmt::format("auto takes: nothing, {}\n", in_words_of_command(e.what()));
  }
  return out;
}

void run(const pairs_command& job) {
  if (job.plan_only) return write_plan(job);
  if (job.is_part) return run_part(job);
  if (job.resumes) return run_resumed(job);
  if (job.is_differential()) return run_differential(job);
  run_pairs(job);
}

void run(const info_command& /*job*/) {
  print(info_text());
}

void run(const page_command& job) {
  print(page_text(job.what));
}

int run_command_line(int argc, char** argv) {
  const parsed_command parsed = parse_command_line(argc, argv);
  if (const int* code = std::get_if<int>(&parsed)) return *code;
  return std::visit(
      [](const auto& job) {
        if constexpr (std::is_same_v<decltype(run(job)), int>) {
          return run(job);
        } else {
          run(job);
          return int{exit_ok};
        }
      },
      std::get<command>(parsed));
}

/// glibc raises both thresholds when large blocks are freed, and then keeps up to 64 MiB that it
/// could give back: the peak would depend on the order in which threads free their buffers.
void give_back_freed_memory() {
#ifdef __GLIBC__
  constexpr int bytes = 1 << 20;
  mallopt(M_MMAP_THRESHOLD, bytes);
  mallopt(M_TRIM_THRESHOLD, bytes);
#endif
}

}  // namespace
}  // namespace gpu::cli

int main(int argc, char** argv) {
  gpu::cli::give_back_freed_memory();
  gpu::cli::open_standard_streams();
  gpu::cli::handle_signals();
  return gpu::cli::guarded_run([&] { return gpu::cli::run_command_line(argc, argv); },
                               gpu::cli::in_words_of_command);
}
