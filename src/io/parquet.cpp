#include "io/parquet.hpp"

namespace gpu::io {

bool has_parquet() noexcept {
#if defined(GPU_SIMILARITY_HAS_PARQUET)
  return true;
#else
  return false;
#endif
}

}  // namespace gpu::io
