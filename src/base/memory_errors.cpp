#include "base/memory_errors.hpp"

#include <string>

#include <gpu/error.hpp>

namespace gpu::inline v0::detail {
namespace {

// Made before memory can run out: a copy of it takes none.
const out_of_memory prepared("host memory does not suffice", 0);

}  // namespace

void throw_host_memory_exhausted(const char* operation) {
  out_of_memory named = prepared;
  try {
    named = out_of_memory(std::string(operation) + ": host memory does not suffice", 0);
  } catch (const std::bad_alloc&) {  // not even for the message
  }
  throw named;
}

}  // namespace gpu::inline v0::detail
