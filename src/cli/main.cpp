// gpu-similarity: the library as a command. One place turns what goes wrong into an exit code.
#include <fmt/format.h>

#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <variant>

#include <gpu/error.hpp>
#include <gpu/execution.hpp>
#include <gpu/version.hpp>

#include "base/execution_checks.hpp"
#include "cli/options/library_words.hpp"
#include "cli/options/options.hpp"
#include "cli/outputs/report.hpp"
#include "cli/process/exit_code.hpp"
#include "cli/process/interrupt.hpp"
#include "cli/process/messages.hpp"
#include "cli/verbs/jobs.hpp"
#include "io/io_error.hpp"
#include "io/stop_request.hpp"
#include "io/write/output_file.hpp"

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace gpu::cli {
namespace {

int end_with(int code, std::string_view message) {
  complain(message);
  return code;
}

int code_of(const error& e) {
  switch (e.code()) {
    case error_code::invalid_argument:  // of the data: the options are checked by the parser
      return exit_bad_input;
    case error_code::unsupported:
      return exit_usage;
    case error_code::backend_unavailable:
    case error_code::out_of_memory:
    case error_code::capacity_exceeded:
    case error_code::cuda:
      return exit_resources;
    case error_code::cancelled:
      return interrupt_exit_code();
  }
  return exit_internal;
}

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

/// The code of the command, or of what it throws, after its message.
int guarded_run(int argc, char** argv) {
  try {
    return run_command_line(argc, argv);
  } catch (const refused_options& e) {
    return end_with(exit_usage, in_words_of_command(e.what()));
  } catch (const run_error& e) {
    return end_with(e.code(), e.what());
  } catch (const interrupted_run& e) {
    return end_with(interrupt_exit_code(), e.what());
  } catch (const io::interrupted&) {
    return end_with(interrupt_exit_code(), "interrupted: nothing is written");
  } catch (const io::closed_pipe&) {
    return exit_closed_pipe;  // quietly, as other tools in front of head
  } catch (const io::output_error& e) {
    return end_with(exit_resources, e.what());
  } catch (const io::input_error& e) {
    return end_with(code_of(e), e.what());
  } catch (const error& e) {
    return end_with(code_of(e), in_words_of_command(e.what()));
  } catch (const std::bad_alloc&) {
    return end_with(exit_resources, "out of memory");
  } catch (const std::system_error& e) {
    const bool lacks_threads = e.code() == std::errc::resource_unavailable_try_again;
    if (!lacks_threads) return end_with(exit_internal, e.what());
    return end_with(
        exit_resources,
        "a thread cannot be started: memory or the number of processes does not suffice");
  } catch (const std::exception& e) {
    return end_with(exit_internal, e.what());
  }
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
  return gpu::cli::guarded_run(argc, argv);
}
