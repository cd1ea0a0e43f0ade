#pragma once
// Tables of all-pairs calls that are in device memory: where they are, and what must have happened
// before they are read.

#include <cuda_runtime_api.h>

#include <span>
#include <vector>

#include <gpu/execution.hpp>

#include "pairs/engine.hpp"

namespace gpu::cuda {

/// Where a table is as seen from the current device.
enum class table_place { host, this_device, other_device };
table_place place_of(const detail::any_table& table);

/// Throws gpu::invalid_argument, naming `name`, where memory cannot be read or written by kernels
/// on `devices`, or lies on a device that is none of them.
void check_memory(const char* name, const void* memory, std::span<const int> devices);

/// Checks the memory and the layout of tables in device memory, and that their 64-bit integers are
/// doubles, which waits for the caller's stream; nothing for tables in host memory.
void check_tables(const detail::pair_tables& tables, std::span<const int> devices,
                  const execution& exec);

/// The ordinals of devices.
std::vector<int> ordinals_of(std::span<const device_info> devices);

/// Throws gpu::invalid_argument where the caller's stream is one of another device.
void check_stream(const execution& exec, int device);

/// Throws gpu::invalid_argument where the caller's stream is being captured: for what must wait.
void refuse_capture(const execution& exec, const char* why);

/// Waits for what has been put on the caller's stream, or on the default stream of each of
/// `devices`, so that it can be read on others. Throws gpu::invalid_argument where the stream is
/// being captured.
void wait_for_callers_stream(const execution& exec, std::span<const int> devices);

}  // namespace gpu::cuda
