#include "cuda/transfer/staging_copy.hpp"

#include <omp.h>

#include <algorithm>

namespace gpu::cuda {

int staging_threads(int asked) {
  return asked > 0 ? asked : std::max(1, omp_get_max_threads() * 3 / 4);
}

}  // namespace gpu::cuda
