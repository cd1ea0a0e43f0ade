#pragma once
// Host-callable launches of all pairs whose input or results are in device memory. Asynchronous on
// `stream`.

#include <cuda_runtime_api.h>

#include <cstdint>

#include <gpu/index.hpp>
#include <gpu/matrix_view.hpp>

namespace gpu::kernels {

/// *column = the first column of a row that holds a NaN; the number of columns where none does.
template <class T>
void launch_first_nan(device_matrix_view<const T> row, index_t* column, cudaStream_t stream);

}  // namespace gpu::kernels
