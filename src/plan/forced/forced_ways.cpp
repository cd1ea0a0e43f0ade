#include "plan/forced/forced_ways.hpp"

namespace gpu::inline v0::detail {

forced_cuda_ways& cuda_ways_in_force() {
  static forced_cuda_ways ways;
  return ways;
}

}  // namespace gpu::inline v0::detail
