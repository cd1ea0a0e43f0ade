#pragma once
// Host memory that runs out reaches the caller as one of the library's errors.

#include <new>
#include <stdexcept>

#include <gpu/error.hpp>

namespace gpu::inline v0::detail {

/// Throws gpu::out_of_memory that names `operation`; takes no memory where there is none.
[[noreturn]] void throw_host_memory_exhausted(const char* operation);

/// Runs body(), in which every public entry of the library does its work.
template <class Body>
decltype(auto) with_memory_errors(const char* operation, const Body& body) {
  try {
    return body();
  } catch (const error&) {  // one of the library's already
    throw;
  } catch (const std::bad_alloc&) {
    throw_host_memory_exhausted(operation);
  } catch (const std::length_error&) {  // more elements than a container can count
    throw_host_memory_exhausted(operation);
  }
}

}  // namespace gpu::inline v0::detail
