// Chooses the kernel that counts short rows: see packed/.

#include <cstddef>

#include "kernels/rank/launches.cuh"
#include "plan/rank_policy.hpp"

namespace gpu::kernels {
namespace {

template <std::size_t Size = 0>
void launch_for(const rank_source& source, const rank_target& target, cudaStream_t stream) {
  constexpr int cols = rank_packed_cols[Size];
  if constexpr (Size + 1 < rank_packed_cols.size()) {
    if (source.cols > cols) return launch_for<Size + 1>(source, target, stream);
  }
  launch_count_packed_of<cols>(source, target, stream);
}

}  // namespace

void launch_count_packed(const rank_source& source, const rank_target& target,
                         cudaStream_t stream) {
  launch_for(source, target, stream);
}

}  // namespace gpu::kernels
