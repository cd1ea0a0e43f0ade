// What of a build runs on which device, without a device.
#include "base/built_code.hpp"

#include <string>
#include <string_view>
#include <vector>

#include "support/built_code.hpp"
#include "support/catch.hpp"

namespace {

using gpu::detail::offered_code;

offered_code offered(std::string_view list, int device) {
  return gpu::detail::offered_to(device, gpu::detail::read_architectures(list));
}

void check(std::string_view list, int device, int capability, bool is_machine) {
  INFO(list << " on " << device);
  const offered_code code = offered(list, device);
  CHECK(code.capability == capability);
  CHECK(code.is_machine == is_machine);
}

constexpr std::string_view developer = "75-real,80-real,90a-real,90-virtual";
constexpr std::string_view release =
    "75-real,80-real,86-real,89-real,90a-real,100-real,120-real,90-virtual";

}  // namespace

TEST_CASE("Machine code runs on later devices of its major number", "[built_code]") {
  check(developer, 75, 75, true);
  check(developer, 80, 80, true);
  check(developer, 86, 80, true);
  check(developer, 89, 80, true);
  check(developer, 90, 90, true);
  check(release, 86, 86, true);
  check(release, 87, 86, true);
  check(release, 103, 100, true);
  check(release, 121, 120, true);
  check("86-real", 80, 0, false);
}

TEST_CASE("PTX runs on every later device, compiled by the driver", "[built_code]") {
  check(developer, 100, 90, false);
  check(developer, 120, 90, false);
  check(release, 110, 90, false);
  check("80-virtual", 90, 80, false);
  check("80-virtual", 75, 0, false);
  check("75-virtual,80-virtual", 90, 80, false);
  check("75-virtual,80-virtual", 75, 75, false);
}

TEST_CASE("Code of one device or one family runs nowhere else", "[built_code]") {
  check("90a-real", 90, 90, true);
  check("90a-real", 100, 0, false);
  check("90a-virtual", 90, 90, false);
  check("90a-virtual", 120, 0, false);
  check("100f-real", 103, 100, true);
  check("100f-virtual", 103, 100, false);
  check("100f-virtual", 120, 0, false);
}

TEST_CASE("A name without a kind is machine code and PTX", "[built_code]") {
  check("80", 86, 80, true);
  check("80", 90, 80, false);
}

TEST_CASE("What is no architecture is left out", "[built_code]") {
  CHECK(gpu::detail::read_architectures("").empty());
  CHECK(gpu::detail::read_architectures("OFF,native,-real,80x,a").empty());
  CHECK(gpu::detail::read_architectures(",80-real,").size() == 1);
}

TEST_CASE("The library and the tests know the same list", "[built_code]") {
  for (const int device : {75, 80, 86, 89, 90, 100, 120}) {
    INFO(device);
    if (gpu::detail::built_architectures().empty()) continue;  // a build without CUDA
    CHECK(gpu::detail::offered_to(device).capability ==
          gpu_test::newest_code_for(device).capability);
  }
}
