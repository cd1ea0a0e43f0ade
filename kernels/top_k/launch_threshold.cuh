#pragma once
// The launches of `threshold`, of all values and of distinct ones.

#include <algorithm>

#include "kernels/common/dependent_launch.cuh"
#include "kernels/top_k/call.cuh"
#include "kernels/top_k/distinct.cuh"
#include "kernels/top_k/distinct_finish.cuh"

namespace gpu::kernels::select {

template <class T, class Composite>
struct threshold_memory {
  sample_plan plan;
  index_t rows_per_pass;
  Composite* list;
  Composite* candidates;
  unsigned long long* filled;
  std::size_t bytes;

  threshold_memory(index_t rows, index_t cols, index_t k, void* memory)
      : plan(plan_sample(cols, k)) {
    rows_per_pass =
        rows_of_pass(rows, (plan.kept + plan.capacity) * static_cast<index_t>(sizeof(Composite)));
    cuda::arena pieces(memory);
    list = pieces.take<Composite>(rows_per_pass * plan.kept);
    candidates = pieces.take<Composite>(rows_per_pass * plan.capacity);
    filled = pieces.take<unsigned long long>(rows_per_pass);
    bytes = pieces.bytes();
  }
};

template <class T, class Composite, bool Distinct>
void launch_sample(const top_k_call<T>& call, const sample_plan& plan, Composite* list,
                   unsigned long long* filled) {
  if (plan.kept == 0) {
    clear_kernel<<<grid_blocks(call.rows, 256), 256, 0, call.stream>>>(filled, call.rows);
    GPU_SIMILARITY_CHECK_LAUNCH();
    return;
  }
  const dim3 grid(static_cast<unsigned>(plan.samples / samples_per_block),
                  static_cast<unsigned>(call.rows));
  sample_kernel<T, Composite, Distinct>
      <<<grid, sample_threads, 0, call.stream>>>(call.source, plan.samples, list, filled);
  GPU_SIMILARITY_CHECK_LAUNCH();
}

template <class T, class Composite>
void run_threshold(const top_k_call<T>& whole, void* workspace) {
  const threshold_memory<T, Composite> memory(whole.rows, whole.source.cols, whole.k, workspace);
  const unsigned limit = finish_limit(whole.k, sizeof(Composite), whole.shared_bytes);
  const std::size_t shared = limit * sizeof(Composite);
  allow_shared_memory(finish_kernel<T, Composite>, shared);
  for (index_t first = 0; first < whole.rows; first += memory.rows_per_pass) {
    const top_k_call<T> call =
        whole.part(first, std::min(memory.rows_per_pass, whole.rows - first));
    launch_sample<T, Composite, false>(call, memory.plan, memory.list, memory.filled);
    const dim3 grid(filter_blocks(call), static_cast<unsigned>(call.rows));
    launch_dependent(filter_kernel<T, Composite>, grid, filter_threads, 0, call.stream, call.source,
                     static_cast<const Composite*>(memory.list), memory.plan, memory.candidates,
                     memory.filled);
    const dim3 blocks(finish_blocks(limit, call.rows, call.multiprocessors),
                      static_cast<unsigned>(call.rows));
    launch_dependent(finish_kernel<T, Composite>, blocks, finish_threads, shared, call.stream,
                     call.source, static_cast<const Composite*>(memory.candidates), memory.plan,
                     static_cast<const unsigned long long*>(memory.filled),
                     static_cast<unsigned>(call.k), limit, call.sink);
  }
}

template <class T, class Composite>
struct distinct_workspace {
  sample_plan plan;
  index_t rows_per_pass;
  Composite* list;
  counted_composite<Composite>* entries;
  unsigned long long* filled;
  std::size_t bytes;

  distinct_workspace(index_t rows, index_t cols, index_t k, std::size_t shared_bytes, void* memory)
      : plan(plan_distinct_sample(cols, k, sizeof(Composite), shared_bytes)) {
    rows_per_pass = rows_of_pass(rows, plan.capacity * static_cast<index_t>(sizeof(*entries)) +
                                           plan.kept * static_cast<index_t>(sizeof(Composite)));
    cuda::arena pieces(memory);
    list = pieces.take<Composite>(rows_per_pass * plan.kept);
    entries = pieces.take<counted_composite<Composite>>(rows_per_pass * plan.capacity);
    filled = pieces.take<unsigned long long>(rows_per_pass);
    bytes = pieces.bytes();
  }
};

template <class T, class Composite>
void run_distinct_threshold(const top_k_call<T>& whole, void* workspace) {
  const distinct_workspace<T, Composite> memory(whole.rows, whole.source.cols, whole.k,
                                                whole.shared_bytes, workspace);
  const std::size_t filter_shared =
      next_power_of_two(static_cast<unsigned>(memory.plan.kept)) * sizeof(Composite);
  const std::size_t finish_shared = sizeof(distinct_memory<Composite>);
  allow_shared_memory(distinct_filter_kernel<T, Composite>, filter_shared);
  allow_shared_memory(distinct_finish_kernel<T, Composite>, finish_shared);
  for (index_t first = 0; first < whole.rows; first += memory.rows_per_pass) {
    const top_k_call<T> call =
        whole.part(first, std::min(memory.rows_per_pass, whole.rows - first));
    launch_sample<T, Composite, true>(call, memory.plan, memory.list, memory.filled);
    const dim3 grid(filter_blocks(call), static_cast<unsigned>(call.rows));
    launch_dependent(distinct_filter_kernel<T, Composite>, grid, filter_threads, filter_shared,
                     call.stream, call.source, static_cast<const Composite*>(memory.list),
                     memory.plan, memory.entries, memory.filled);
    launch_dependent(distinct_finish_kernel<T, Composite>, static_cast<unsigned>(call.rows),
                     finish_threads, finish_shared, call.stream, call.source,
                     static_cast<const counted_composite<Composite>*>(memory.entries), memory.plan,
                     static_cast<const unsigned long long*>(memory.filled),
                     static_cast<unsigned>(call.k), call.sink, call.counts, call.counts_stride,
                     call.found);
  }
}

}  // namespace gpu::kernels::select
