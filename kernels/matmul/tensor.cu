// The tensor variant of matmul: find peaks, pack, multiply; register_tiled where that may not be.

#include "kernels/matmul/tensor_mma.cuh"
#include "kernels/matmul/tensor_wgmma.cuh"

namespace gpu::kernels {
namespace {

tensor_source source_of(const float* data, index_t lane_step, index_t depth_step, index_t lanes,
                        index_t depth, std::byte* workspace, std::size_t peaks, std::size_t packed,
                        const packed_operand& shape) {
  return {data,
          lane_step,
          depth_step,
          lanes,
          depth,
          reinterpret_cast<unsigned*>(workspace + peaks),
          workspace + packed,
          shape};
}

void launch_packing(const tensor_source& a, const tensor_source& b, unsigned* flag,
                    cudaStream_t stream) {
  const index_t peaks = peak_blocks(a);
  tensor_find_peaks<<<grid_blocks(peaks + peak_blocks(b), 1), 256, 0, stream>>>(a, b, peaks, flag);
  GPU_SIMILARITY_CHECK_LAUNCH();
  const index_t cells = pack_blocks(a);
  if (cells + pack_blocks(b) == 0) return;
  launch_dependent(tensor_pack, grid_blocks(cells + pack_blocks(b), 1), 256, 0, stream, a, b, cells,
                   flag);
}

template <int run>
void launch_tensor_columns(const tensor_problem& p, int columns, cudaStream_t stream) {
  if (columns == 192) {
    launch_tensor_wgmma<half_tile<192, 5>, run>(p, stream);
  } else if (columns == 128) {
    launch_tensor_wgmma<half_tile<128, 6>, run>(p, stream);
  } else {
    launch_tensor_wgmma<half_tile<64, 8>, run>(p, stream);
  }
}

}  // namespace

void launch_matmul_tensor(const matmul_problem<float>& p, std::byte* workspace, int wgmma_columns,
                          matmul_policy::tile_name fallback, cudaStream_t stream) {
  const tensor_workspace plan = plan_tensor_workspace(p.m, p.n, p.k);
  auto* flag = reinterpret_cast<unsigned*>(workspace + plan.flag);
  // Flag and peaks start from 0; the padding of the peaks stays there.
  GPU_SIMILARITY_CUDA_CHECK(cudaMemsetAsync(workspace, 0, plan.packed_a, stream));
  const tensor_source a = source_of(p.a.data, p.a.row_step, p.a.col_step, p.m, p.k, workspace,
                                    plan.peak_a, plan.packed_a, plan.a);
  const tensor_source b = source_of(p.b.data, p.b.col_step, p.b.row_step, p.n, p.k, workspace,
                                    plan.peak_b, plan.packed_b, plan.b);
  launch_packing(a, b, flag, stream);
  const tensor_problem packed{a.packed, b.packed, plan.a,     plan.b, a.peaks, b.peaks,
                              flag,     p.c,      p.c_stride, p.m,    p.n};
  if (wgmma_columns == 0) {
    launch_tensor_mma(packed, stream);
  } else if (p.k >= matmul_policy::tensor_long_depth) {
    launch_tensor_columns<matmul_policy::tensor_long_run>(packed, wgmma_columns, stream);
  } else {
    launch_tensor_columns<matmul_policy::tensor_run>(packed, wgmma_columns, stream);
  }
  launch_matmul_register_tiled<float>(p, fallback, 1, nullptr, flag, stream);
}

}  // namespace gpu::kernels
