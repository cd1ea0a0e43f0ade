// What callers can catch an error as.
#include <new>
#include <stdexcept>
#include <string>
#include <type_traits>

#include <gpu/error.hpp>

#include "base/memory_errors.hpp"
#include "support/catch.hpp"

namespace {

template <class Caught, class Thrown>
std::string caught(const Thrown& thrown) {
  try {
    throw thrown;
  } catch (const Caught& got) {
    return got.what();
  }
}

template <class Thrown>
void check_common(const Thrown& thrown) {
  static_assert(std::is_nothrow_copy_constructible_v<Thrown>);
  CHECK(caught<std::exception>(thrown) == "the message");
  CHECK(caught<gpu::error>(thrown) == "the message");
  CHECK(caught<Thrown>(thrown) == "the message");
}

}  // namespace

TEST_CASE("Errors are caught as the library's and as the standard's", "[error]") {
  check_common(gpu::invalid_argument("the message"));
  check_common(gpu::unsupported("the message"));
  check_common(gpu::backend_unavailable("the message"));
  check_common(gpu::out_of_memory("the message", 7));
  check_common(gpu::capacity_exceeded("the message", 7));
  check_common(gpu::cancelled("the message"));
  check_common(gpu::cuda_error("the message", 7));
  CHECK(caught<std::invalid_argument>(gpu::invalid_argument("the message")) == "the message");
  CHECK(caught<std::bad_alloc>(gpu::out_of_memory("the message", 7)) == "the message");
  CHECK(caught<std::runtime_error>(gpu::cancelled("the message")) == "the message");
}

TEST_CASE("An error of the library passes what maps those of the standard", "[error]") {
  const auto run = [](const auto& thrown) {
    gpu::detail::with_memory_errors("a call", [&] { throw thrown; });
  };
  try {
    run(gpu::out_of_memory("the limit", 42));
  } catch (const gpu::out_of_memory& got) {
    CHECK(std::string(got.what()) == "the limit");
    CHECK(got.requested_bytes() == 42);
  }
  CHECK_THROWS_AS(run(gpu::invalid_argument("x")), gpu::invalid_argument);
  try {
    run(std::bad_alloc());
  } catch (const gpu::out_of_memory& got) {
    CHECK(std::string(got.what()) == "a call: host memory does not suffice");
  }
  CHECK_THROWS_AS(run(std::length_error("long")), gpu::out_of_memory);
}
