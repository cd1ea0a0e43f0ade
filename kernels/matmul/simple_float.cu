#include "kernels/matmul/simple.cuh"

namespace gpu::kernels {

template void launch_matmul_transpose(const float*, index_t, index_t, index_t, float*, index_t,
                                      cudaStream_t);
template void launch_matmul_naive(const matmul_problem<float>&, cudaStream_t);
template void launch_matmul_pitched(const matmul_problem<float>&, cudaStream_t);
template void launch_matmul_shared_tiled(const matmul_problem<float>&, cudaStream_t);

}  // namespace gpu::kernels
