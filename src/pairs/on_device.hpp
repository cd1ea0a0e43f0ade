#pragma once
// The interface of all pairs whose results stay in device memory: src/api checks a call, src/cuda
// puts it on the stream.

#include <gpu/device_sinks.hpp>

#include "base/cuda_function.hpp"
#include "pairs/engine.hpp"
#include "pairs/measures/measures.hpp"

namespace gpu::inline v0::detail {

/// A call whose input and results are in device memory.
struct device_pair_call {
  const measure_traits& what;
  pair_input input;
  device_workspace workspace;
  const any_device_sink& sink;
};

}  // namespace gpu::inline v0::detail

namespace gpu::cuda {

/// Checks that memory and stream are those of the device, and puts the call on its stream.
/// Throws as spearman_all_pairs documents.
GPU_SIMILARITY_CUDA_FUNCTION void all_pairs_on_device(const detail::device_pair_call& call)
    GPU_SIMILARITY_OR_THROW;
/// The scratch memory of the call, bytes.
GPU_SIMILARITY_CUDA_FUNCTION std::size_t device_workspace_of(const detail::device_pair_call& call)
    GPU_SIMILARITY_OR_THROW;
/// The variant and the scratch memory of the call. Reads no memory.
GPU_SIMILARITY_CUDA_FUNCTION detail::engine_plan plan_all_pairs_on_device(
    const detail::device_pair_call& call) GPU_SIMILARITY_OR_THROW;

}  // namespace gpu::cuda
