#pragma once
// Some columns of a table in device memory as a table of their own.

#include <cuda_runtime_api.h>

#include <span>

#include <gpu/detail/any_view.hpp>
#include <gpu/index.hpp>

#include "cuda/pairs/rows/budget.hpp"
#include "cuda_runtime/device_buffer.hpp"

namespace gpu::cuda {

/// These columns of `table`, which is in device memory, as doubles on the current device: [rows,
/// columns], one row behind the other. Takes what it returns from `budget`. A table of another
/// device comes here a panel of rows at a time. Waits for the stream.
device_buffer<double> gather_columns(const detail::any_table& table,
                                     std::span<const index_t> columns, pair_budget& budget,
                                     cudaStream_t stream);

}  // namespace gpu::cuda
