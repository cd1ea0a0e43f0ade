// gpu-similarity: the library as a command. One place turns what goes wrong into an exit code.
#include <fmt/format.h>

#include <exception>
#include <new>
#include <string>
#include <system_error>
#include <variant>

#include <gpu/backend.hpp>
#include <gpu/error.hpp>
#include <gpu/version.hpp>

#include "cli/options/options.hpp"
#include "cli/outputs/report.hpp"
#include "cli/process/exit_code.hpp"
#include "cli/process/interrupt.hpp"
#include "cli/process/messages.hpp"
#include "cli/verbs/jobs.hpp"
#include "io/io_error.hpp"
#include "io/stop_request.hpp"
#include "io/write/output_file.hpp"

namespace gpu::cli {
namespace {

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
  }
  try {
    out += fmt::format("auto takes: {}\n", to_string(resolve_backend()));
  } catch (const error& e) {  // a variable of the environment has an illegal value
    out += fmt::format("auto takes: nothing, {}\n", e.what());
  }
  return out;
}

void run(const pairs_command& job) {
  run_pairs(job);
}
void run(const mean_filter_command& job) {
  run_mean_filter(job);
}
void run(const rank_command& job) {
  run_rank(job);
}
void run(const top_k_command& job) {
  run_top_k(job);
}
void run(const info_command&) {
  io::output_file out("-");
  out.write(info_text());
  out.commit();
}

int end_with(int code, const char* message) {
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

int run_command_line(int argc, char** argv) {
  const parsed_command parsed = parse_command_line(argc, argv);
  if (const int* code = std::get_if<int>(&parsed)) return *code;
  std::visit([](const auto& job) { run(job); }, std::get<command>(parsed));
  return exit_ok;
}

int guarded_run(int argc, char** argv) {
  try {
    return run_command_line(argc, argv);
  } catch (const usage_error& e) {
    return end_with(exit_usage, e.what());
  } catch (const interrupted_run& e) {
    return end_with(interrupt_exit_code(), e.what());
  } catch (const io::interrupted&) {
    return end_with(interrupt_exit_code(), "interrupted: nothing is written");
  } catch (const io::closed_pipe&) {
    return exit_closed_pipe;  // quietly, as other tools in front of head
  } catch (const too_large& e) {
    return end_with(exit_resources, e.what());
  } catch (const no_threads& e) {
    return end_with(exit_resources, e.what());
  } catch (const no_report& e) {
    return end_with(exit_resources, e.what());
  } catch (const io::output_error& e) {
    return end_with(exit_resources, e.what());
  } catch (const error& e) {
    return end_with(code_of(e), e.what());
  } catch (const std::bad_alloc&) {
    return end_with(exit_resources, "out of memory");
  } catch (const std::system_error& e) {
    const bool lacks_threads = e.code() == std::errc::resource_unavailable_try_again;
    return end_with(lacks_threads ? exit_resources : exit_internal, e.what());
  } catch (const std::exception& e) {
    return end_with(exit_internal, e.what());
  }
}

}  // namespace
}  // namespace gpu::cli

int main(int argc, char** argv) {
  gpu::cli::open_standard_streams();
  gpu::cli::handle_signals();
  return gpu::cli::guarded_run(argc, argv);
}
