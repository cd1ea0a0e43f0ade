#include "kernels/matmul/tensor_double.cuh"

namespace gpu::kernels {
namespace {

template <matmul_policy::tile_name name>
void launch_tile(const matmul_problem<double>& p, cudaStream_t stream) {
  constexpr auto tile = matmul_policy::tensor_double_tile(name);
  using layout = tensor_layout_f64<tile.block_m, tile.block_n, tile.block_k, tile.warp_m,
                                   tile.warp_n, tile.stages, 1, tile.blocks>;
  launch_tensor_f64_layout<layout>(p, stream);
}

}  // namespace

void launch_matmul_tensor_double(const matmul_problem<double>& p, matmul_policy::tile_name tile,
                                 cudaStream_t stream) {
  using matmul_policy::tile_name;
  if (tile == tile_name::large) return launch_tile<tile_name::large>(p, stream);
  if (tile == tile_name::medium) return launch_tile<tile_name::medium>(p, stream);
  launch_tile<tile_name::small>(p, stream);
}

}  // namespace gpu::kernels
