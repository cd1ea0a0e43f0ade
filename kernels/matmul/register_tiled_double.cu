#include "kernels/matmul/register_tiled.cuh"

namespace gpu::kernels {

template void launch_matmul_register_tiled(const matmul_problem<double>&, matmul_policy::tile_name,
                                           index_t, double*, const unsigned*, cudaStream_t);

}  // namespace gpu::kernels
