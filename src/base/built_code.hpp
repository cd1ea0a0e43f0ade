#pragma once
// Which architectures the library's device code was compiled for, and what of it a device runs.
// Plain arithmetic: no device is asked.

#include <string>
#include <string_view>
#include <vector>

namespace gpu::inline v0::detail {

/// One of the architectures that the device code was compiled for.
struct built_architecture {
  enum class form {
    machine,  ///< Machine code: "80-real".
    portable  ///< PTX, which the driver compiles: "80-virtual".
  };
  enum class scope {
    later,  ///< Runs on later devices too: of the same major number as machine code, of any as PTX.
    family,  ///< "100f": on later devices of the same major number.
    exact    ///< "90a": on this capability alone.
  };
  int capability = 0;  ///< 10 * major + minor.
  form what = form::machine;
  scope reach = scope::later;
};

/// What a device runs.
struct offered_code {
  int capability = 0;       ///< That it was compiled for, 10 * major + minor; 0: there is none.
  bool is_machine = false;  ///< Machine code; else PTX that the driver compiles at the first call.
};

/// Reads a list of what CMAKE_CUDA_ARCHITECTURES holds, with commas between: "80-real,90-virtual",
/// or "80" for both. What is no architecture is left out.
[[nodiscard]] std::vector<built_architecture> read_architectures(std::string_view list);

/// What the driver takes for a device of this capability (10 * major + minor): the newest machine
/// code that it runs, else the newest PTX.
[[nodiscard]] offered_code offered_to(int capability, const std::vector<built_architecture>& built);

/// The list that this library was built for; empty where the build does not know it.
[[nodiscard]] std::string_view built_architectures();

/// offered_to of that list. A build that does not know its list is taken to have machine code for
/// every device.
[[nodiscard]] offered_code offered_to(int capability);

}  // namespace gpu::inline v0::detail
