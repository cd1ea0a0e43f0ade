#include <gpu/error.hpp>

namespace gpu::inline v0 {

// The destructors are the key functions: vtables and type information live in the library alone,
// so exceptions are caught across a shared library's boundary.
error::error(error_code code, const std::string& what) : code_(code), message_(what) {}
error::~error() = default;
const char* error::what() const noexcept {
  return message_.what();
}
invalid_argument::invalid_argument(const std::string& what)
    : std::invalid_argument(what), error(error_code::invalid_argument, what) {}
invalid_argument::~invalid_argument() = default;
unsupported::unsupported(const std::string& what)
    : std::runtime_error(what), error(error_code::unsupported, what) {}
unsupported::~unsupported() = default;
backend_unavailable::backend_unavailable(const std::string& what)
    : std::runtime_error(what), error(error_code::backend_unavailable, what) {}
backend_unavailable::~backend_unavailable() = default;
out_of_memory::out_of_memory(const std::string& what, std::size_t requested_bytes)
    : error(error_code::out_of_memory, what), requested_bytes_(requested_bytes) {}
out_of_memory::~out_of_memory() = default;
capacity_exceeded::capacity_exceeded(const std::string& what, index_t required)
    : std::runtime_error(what), error(error_code::capacity_exceeded, what), required_(required) {}
capacity_exceeded::~capacity_exceeded() = default;
cancelled::cancelled(const std::string& what)
    : std::runtime_error(what), error(error_code::cancelled, what) {}
cancelled::~cancelled() = default;
cuda_error::cuda_error(const std::string& what, int status)
    : std::runtime_error(what), error(error_code::cuda, what), status_(status) {}
cuda_error::~cuda_error() = default;

}  // namespace gpu::inline v0
