// gpu-similarity: the library as a command. One place turns what goes wrong into an exit code.
#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <new>
#include <variant>

#include <gpu/error.hpp>

#include "cli/exit_code.hpp"
#include "cli/info.hpp"
#include "cli/interrupt.hpp"
#include "cli/options.hpp"
#include "cli/run_mean_filter.hpp"
#include "cli/run_pairs.hpp"
#include "io/io_error.hpp"
#include "io/read/input.hpp"

namespace gpu::cli {
namespace {

void run(const pairs_command& job) {
  run_pairs(job);
}
void run(const mean_filter_command& job) {
  run_mean_filter(job);
}
void run(const info_command&) {
  fmt::print("{}", info_text());
}

int complain(exit_code code, const char* message) {
  fmt::print(stderr, "gpu-similarity: {}\n", message);
  return code;
}

exit_code code_of(const error& e) {
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
      return exit_interrupted;
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
    return complain(exit_usage, e.what());
  } catch (const interrupted_run& e) {
    return complain(exit_interrupted, e.what());
  } catch (const io::interrupted&) {
    return complain(exit_interrupted, "interrupted while reading: nothing is written");
  } catch (const too_large& e) {
    return complain(exit_resources, e.what());
  } catch (const io::output_error& e) {
    return complain(exit_resources, e.what());
  } catch (const error& e) {
    return complain(code_of(e), e.what());
  } catch (const std::bad_alloc&) {
    return complain(exit_resources, "out of memory");
  } catch (const std::exception& e) {
    return complain(exit_internal, e.what());
  }
}

}  // namespace
}  // namespace gpu::cli

int main(int argc, char** argv) {
  gpu::cli::handle_signals();
  return gpu::cli::guarded_run(argc, argv);
}
