#include "plan/forced/forced_ways.hpp"

namespace gpu::inline v0::detail {

forced_ways& ways_in_force() {
  static forced_ways ways;
  return ways;
}

}  // namespace gpu::inline v0::detail
