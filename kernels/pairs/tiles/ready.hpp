#pragma once
// Statistics that were computed while rows were prepared, with every sink.

#include <cuda_runtime_api.h>

#include "kernels/pairs/kernels.hpp"

namespace gpu::kernels {

/// A panel of statistics as launch_multiply_few_rows leaves them: one part in product_memory, row
/// by row. No operand has rows.
constexpr bool is_ready(const pair_panel& panel) {
  return panel.products.parts != 0;
}
template <class Sink>
void launch_ready(const pair_panel& panel, const Sink& sink, cudaStream_t stream);

}  // namespace gpu::kernels
