#include "kernels/matmul/simple.cuh"

namespace gpu::kernels {

template void launch_matmul_transpose(const double*, index_t, index_t, index_t, double*, index_t,
                                      cudaStream_t);
template void launch_matmul_naive(const matmul_problem<double>&, cudaStream_t);
template void launch_matmul_pitched(const matmul_problem<double>&, cudaStream_t);
template void launch_matmul_shared_tiled(const matmul_problem<double>&, cudaStream_t);

}  // namespace gpu::kernels
