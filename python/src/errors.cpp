#include "errors.hpp"

#include <nanobind/nanobind.h>

#include <gpu/error.hpp>

namespace gpu_python {
namespace {

namespace nb = nanobind;

// Sets an exception of the class `name`, called with `arguments`.
template <class... Arguments>
void set_error(const char* name, const Arguments&... arguments) {
  const nb::object type = nb::module_::import_("gpu_similarity._errors").attr(name);
  const nb::object value = type(arguments...);
  PyErr_SetObject(type.ptr(), value.ptr());
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
  }
}

}  // namespace

void translate_errors() {
  nb::register_exception_translator(translate);
}

}  // namespace gpu_python
