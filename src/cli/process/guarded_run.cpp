#include "cli/process/guarded_run.hpp"

#include <exception>
#include <new>
#include <string>
#include <system_error>

#include <gpu/error.hpp>

#include "cli/process/exit_code.hpp"
#include "cli/process/interrupt.hpp"
#include "cli/process/messages.hpp"
#include "io/io_error.hpp"
#include "io/stop_request.hpp"
#include "io/write/output_file.hpp"

namespace gpu::cli {
namespace {

int end_with(int code, const char* message) {
  complain(message);
  return code;
}

int end_with(int code, const std::string& message) {
  return end_with(code, message.c_str());
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

}  // namespace

int guarded_run(const std::function<int()>& run, library_translation in_words) {
  try {
    return run();
  } catch (const refused_options& e) {
    return end_with(exit_usage, in_words(e.what()));
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
    return end_with(code_of(e), in_words(e.what()));
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

}  // namespace gpu::cli
