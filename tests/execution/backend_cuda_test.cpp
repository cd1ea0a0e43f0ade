#include <gpu/backend.hpp>
#include <gpu/error.hpp>

#include "support/catch.hpp"

TEST_CASE("A usable device is found, described and taken", "[backend][cuda]") {
  const auto devices = gpu::available_devices();
  REQUIRE(!devices.empty());
  CHECK(devices[0].compute_major >= 7);
  CHECK(devices[0].memory_bytes > 0);
  CHECK(gpu::resolve_backend({.target = gpu::backend::cuda}) == gpu::backend::cuda);
}

TEST_CASE("A device ordinal that does not exist is refused", "[backend][cuda]") {
  CHECK_THROWS_AS(gpu::resolve_backend({.target = gpu::backend::cuda, .devices = {4096}}),
                  gpu::invalid_argument);
}
