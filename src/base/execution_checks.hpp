#pragma once
// What a kind of call does not take of gpu::execution.

#include <string>

#include <gpu/execution.hpp>

namespace gpu::inline v0::detail {

/// No stream: calls on host memory take streams of their own. Throws gpu::invalid_argument.
void check_no_stream(const execution& exec);

/// At most one device, for operations that run on one. Throws gpu::unsupported.
void check_one_device(const execution& exec);

/// Whether there is the backend that `exec` asks for, and the variables of the environment have
/// legal values; asks no device where none is named and either backend may run.
/// @throw gpu::invalid_argument, gpu::backend_unavailable
GPU_SIMILARITY_EXPORT void check_backend(const execution& exec);

/// What backend::automatic takes here, in words.
/// @throw gpu::invalid_argument
GPU_SIMILARITY_EXPORT std::string words_of_automatic();

}  // namespace gpu::inline v0::detail
