#include "errors.hpp"

#include <nanobind/nanobind.h>

#include <string>
#include <system_error>

#include <gpu/error.hpp>

namespace gpu_python {
namespace {

namespace nb = nanobind;

// Sets an exception of the class `name`, called with the message in Python's words and `arguments`.
template <class... Arguments>
void set_error(const char* name, const char* what, const Arguments&... arguments) {
  const nb::object type = nb::module_::import_("gpu_similarity._shared.errors").attr(name);
  const nb::object message =
      nb::module_::import_("gpu_similarity._shared.messages").attr("in_python")(what);
  const nb::object value = type(message, arguments...);
  PyErr_SetObject(type.ptr(), value.ptr());
}

// Where a thread cannot be started, memory or the number of threads does not suffice.
bool is_lack_of_resources(const std::system_error& e) {
  return e.code() == std::errc::resource_unavailable_try_again ||
         e.code() == std::errc::not_enough_memory;
}

void translate(const std::exception_ptr& thrown, void* /*unused*/) {
  try {
    std::rethrow_exception(thrown);
  } catch (const gpu::capacity_exceeded& e) {
    set_error("CapacityExceeded", e.what(), e.required());
  } catch (const gpu::out_of_memory& e) {
    set_error("OutOfMemory", e.what(), e.requested_bytes());
  } catch (const gpu::cuda_error& e) {
    set_error("CudaError", e.what(), e.status());
  } catch (const gpu::invalid_argument& e) {
    set_error("InvalidArgument", e.what());
  } catch (const gpu::unsupported& e) {
    set_error("Unsupported", e.what());
  } catch (const gpu::backend_unavailable& e) {
    set_error("BackendUnavailable", e.what());
  } catch (const gpu::cancelled& e) {
    set_error("Cancelled", e.what());
  } catch (const gpu::error& e) {
    set_error("Error", e.what());
  } catch (const std::system_error& e) {
    if (!is_lack_of_resources(e)) throw;
    set_error("OutOfMemory",
              "a thread cannot be started: memory or the number of threads that the "
              "system allows does not suffice");
  }
}

}  // namespace

void translate_errors() {
  nb::register_exception_translator(translate);
}

}  // namespace gpu_python
