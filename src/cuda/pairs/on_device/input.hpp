#pragma once
// Tables of all-pairs calls that are in device memory: where they are, and what must have happened
// before they are read.

#include <cuda_runtime_api.h>

#include <span>

#include <gpu/backend.hpp>
#include <gpu/execution.hpp>

#include "pairs/engine.hpp"

namespace gpu::cuda {

/// Where a table is as seen from the current device.
enum class table_place { host, this_device, other_device };
table_place place_of(const detail::any_table& table);

/// Throws gpu::invalid_argument, naming `name`, where memory cannot be read or written by kernels
/// on `devices`, or lies on a device that is none of them.
void check_memory(const char* name, const void* memory, std::span<const device_info> devices);

/// Checks the memory of tables in device memory; nothing for those in host memory.
void check_tables(const detail::pair_tables& tables, std::span<const device_info> devices);

/// Waits for what has been put on the caller's stream, so that it can be read on others. Throws
/// gpu::invalid_argument where the stream is being captured.
void wait_for_callers_stream(const execution& exec);

}  // namespace gpu::cuda
