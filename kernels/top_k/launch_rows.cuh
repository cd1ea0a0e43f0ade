#pragma once
// The launches of `block_rows` and `warp_rows`.

#include "cuda_runtime/device_code.hpp"
#include "cuda_runtime/device_limits.hpp"
#include "kernels/top_k/call.cuh"
#include "kernels/top_k/rows.cuh"

namespace gpu::kernels::select {

/// Rows whose length in bytes, and k, are worth staging in shared memory, where the code can.
template <class T>
bool stages_rows(const top_k_call<T>& call) {
  const index_t bytes = call.source.cols * static_cast<index_t>(sizeof(T));
  return bytes >= least_staged_bytes && bytes <= most_staged_bytes && call.k <= most_staged_k &&
         cuda::current_code().capability >= 90;
}

template <class T, class Composite>
void run_staged_rows(const top_k_call<T>& call) {
  const unsigned limit = block_rows_limit(call.k, sizeof(Composite), call.shared_bytes);
  const std::size_t shared = limit * sizeof(Composite) + stage_slack +
                             static_cast<std::size_t>(call.source.cols) * sizeof(T);
  const auto kernel = block_rows_kernel<T, Composite, staged_threads, true>;
  const auto* entry = reinterpret_cast<const void*>(kernel);
  allow_shared_memory(kernel, shared);
  const index_t resident = static_cast<index_t>(call.multiprocessors) *
                           cuda::resident_blocks_per_multiprocessor(entry, staged_threads, shared);
  kernel<<<grid_blocks(call.rows, 1, resident), staged_threads, shared, call.stream>>>(
      call.source, call.rows, call.k, limit, call.sink);
  GPU_SIMILARITY_CHECK_LAUNCH();
}

template <class T, class Composite, int Threads>
void run_block_rows(const top_k_call<T>& call) {
  if constexpr (sizeof(T) == 4) {  // others are not measured
    if (stages_rows(call)) return run_staged_rows<T, Composite>(call);
  }
  const unsigned limit = block_rows_limit(call.k, sizeof(Composite), call.shared_bytes);
  const std::size_t shared = limit * sizeof(Composite);
  const auto kernel = block_rows_kernel<T, Composite, Threads, false>;
  allow_shared_memory(kernel, shared);
  const index_t resident =
      static_cast<index_t>(call.multiprocessors) * block_rows_threads_per_sm / Threads;
  kernel<<<grid_blocks(call.rows, 1, resident), Threads, shared, call.stream>>>(
      call.source, call.rows, call.k, limit, call.sink);
  GPU_SIMILARITY_CHECK_LAUNCH();
}

template <class T, class Composite, int Items>
void run_warp_rows(const top_k_call<T>& call) {
  if constexpr (Items < 32) {
    if (call.source.cols > 32 * Items) return run_warp_rows<T, Composite, 2 * Items>(call);
  }
  constexpr std::size_t shared =
      Items == 1 ? 0 : std::size_t{warp_rows_warps} * 32 * Items * sizeof(Composite);
  const auto kernel = warp_rows_kernel<T, Composite, Items>;
  allow_shared_memory(kernel, shared);
  kernel<<<grid_blocks(call.rows, warp_rows_warps), 32 * warp_rows_warps, shared, call.stream>>>(
      call.source, call.rows, static_cast<int>(call.k), call.sink);
  GPU_SIMILARITY_CHECK_LAUNCH();
}

}  // namespace gpu::kernels::select
