#include "cuda/transfer/staging_copy.hpp"

#include <algorithm>

#include "base/parallel.hpp"

namespace gpu::cuda {

int staging_threads(int asked) {
  return asked > 0 ? detail::thread_count(asked) : std::max(1, detail::thread_count(0) * 3 / 4);
}

}  // namespace gpu::cuda
