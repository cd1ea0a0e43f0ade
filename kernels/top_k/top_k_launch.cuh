#pragma once
// The launches of top_k: lays out the scratch memory and starts the kernels of each variant.

#include <cstddef>
#include <cstdint>

#include "common/dependent_launch.cuh"
#include "common/launch.cuh"
#include "cuda/device_limits.hpp"
#include "top_k/top_k_distinct.cuh"
#include "top_k/top_k_insert.cuh"
#include "top_k/top_k_kernels.hpp"
#include "top_k/top_k_policy.hpp"
#include "top_k/top_k_radix.cuh"
#include "top_k/top_k_rows.cuh"
#include "top_k/top_k_sort.hpp"
#include "top_k/top_k_threshold.cuh"

namespace gpu::kernels::select {

/// Hands out parts of the scratch memory; without memory, counts what they take.
class carver {
 public:
  explicit carver(void* memory) : next_(reinterpret_cast<std::uintptr_t>(memory)), base_(next_) {}
  template <class Item>
  Item* take(index_t count) {
    const std::uintptr_t at = next_;
    next_ += (static_cast<std::size_t>(count) * sizeof(Item) + 255) / 256 * 256;
    return reinterpret_cast<Item*>(at);
  }
  [[nodiscard]] std::size_t bytes() const { return next_ - base_; }

 private:
  std::uintptr_t next_;
  std::uintptr_t base_;
};

/// Everything of a call but the variant.
template <class T>
struct top_k_call {
  row_source<T> source;
  index_t rows;
  index_t k;
  bool sorted;
  int multiprocessors;
  row_sink<T> sink;
  index_t* counts = nullptr;  // distinct only
  index_t counts_stride = 0;
  index_t* found = nullptr;
  cudaStream_t stream = nullptr;

  /// The part of the call for rows [first, first + count).
  [[nodiscard]] top_k_call part(index_t first, index_t count) const {
    top_k_call one = *this;
    one.source.data += first * source.stride;
    one.sink.values += first * sink.values_stride;
    one.sink.indices += first * sink.indices_stride;
    if (counts != nullptr) one.counts += first * counts_stride;
    if (found != nullptr) one.found += first;
    one.rows = count;
    return one;
  }
};

/// Grids have at most this many rows, and scratch memory for no more than is worth it.
inline index_t rows_of_pass(index_t rows, index_t bytes_per_row) {
  const index_t most = std::max<index_t>(1, pass_bytes / std::max<index_t>(1, bytes_per_row));
  return std::min({rows, most, index_t{65535}});
}

template <class T>
unsigned filter_blocks(const top_k_call<T>& call) {
  const index_t tile =
      static_cast<index_t>(filter_threads) * filter_unroll * 16 / static_cast<index_t>(sizeof(T));
  const index_t most =
      static_cast<index_t>(call.multiprocessors) * filter_blocks_per_sm / call.rows;
  return grid_blocks(call.source.cols, tile, std::max<index_t>(1, most));
}

// ---- threshold ---------------------------------------------------------------------------------

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
    carver carve(memory);
    list = carve.template take<Composite>(rows_per_pass * plan.kept);
    candidates = carve.template take<Composite>(rows_per_pass * plan.capacity);
    filled = carve.template take<unsigned long long>(rows_per_pass);
    bytes = carve.bytes();
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
  const unsigned limit = finish_limit(whole.k);
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
    const dim3 blocks(finish_blocks(call.k, call.rows, call.multiprocessors),
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

  distinct_workspace(index_t rows, index_t cols, index_t k, void* memory)
      : plan(plan_distinct_sample(cols, k)) {
    rows_per_pass = rows_of_pass(rows, plan.capacity * static_cast<index_t>(sizeof(*entries)) +
                                           plan.kept * static_cast<index_t>(sizeof(Composite)));
    carver carve(memory);
    list = carve.template take<Composite>(rows_per_pass * plan.kept);
    entries = carve.template take<counted_composite<Composite>>(rows_per_pass * plan.capacity);
    filled = carve.template take<unsigned long long>(rows_per_pass);
    bytes = carve.bytes();
  }
};

template <class T, class Composite>
void run_distinct_threshold(const top_k_call<T>& whole, void* workspace) {
  const distinct_workspace<T, Composite> memory(whole.rows, whole.source.cols, whole.k, workspace);
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

// ---- radix_select ------------------------------------------------------------------------------

template <class T, class Composite>
struct radix_memory {
  radix_state<Composite>* state;
  unsigned long long* counts;
  Composite* chosen;
  Composite* ordered;
  void* sort_memory;
  std::size_t sort_bytes;
  std::size_t bytes;

  radix_memory(index_t k, bool sorted, void* memory) {
    const bool sorts = sorted && k > detail::top_k_threshold_most_k;
    sort_bytes = sorts ? sort_composites_workspace<Composite>(1, k) : 0;
    carver carve(memory);
    state = carve.template take<radix_state<Composite>>(1);
    counts = carve.template take<unsigned long long>(1024);
    chosen = carve.template take<Composite>(sorted || !sorts ? k : 0);
    ordered = carve.template take<Composite>(sorts ? k : 0);
    sort_memory = carve.template take<unsigned char>(static_cast<index_t>(sort_bytes));
    bytes = carve.bytes();
  }
};

/// Settles the bound that exactly k composites of the row reach.
template <class T, class Composite>
void launch_radix_passes(const top_k_call<T>& call, index_t row_number,
                         radix_state<Composite>* state) {
  GPU_SIMILARITY_CUDA_CHECK(cudaMemsetAsync(state, 0, sizeof(*state), call.stream));
  const index_t cols = call.source.cols;
  const unsigned blocks =
      grid_blocks(cols, radix_threads * 64, call.multiprocessors * radix_blocks_per_sm);
  const auto pass = [&](int shift, int width, Composite ones) {
    radix_pass_kernel<T, Composite><<<blocks, radix_threads, 0, call.stream>>>(
        call.source, row_number, static_cast<unsigned long long>(call.k),
        radix_digit<Composite>{shift, width, ones}, state);
    GPU_SIMILARITY_CHECK_LAUNCH();
  };
  constexpr int low_end = position_bits<T, Composite>;
  for (int left = key_bits<T>; left > 0;) {
    const int width = std::min(left, digit_bits);
    left -= width;
    pass(low_end + left, width, 0);
  }
  // Positions below 2^bits leave ones above those bits of the complement.
  int bits = 1;
  while (bits < 63 && ((cols - 1) >> bits) != 0) ++bits;
  const Composite ones =
      static_cast<Composite>(position_mask<T, Composite> & ~((uint64_t{1} << bits) - 1));
  for (int left = bits; left > 0;) {
    const int width = std::min(left, digit_bits);
    left -= width;
    pass(left, width, ones);
  }
}

template <class T, class Composite>
void run_radix(const top_k_call<T>& call, void* workspace) {
  const radix_memory<T, Composite> memory(call.k, call.sorted, workspace);
  const bool few = call.k <= detail::top_k_threshold_most_k;
  const std::size_t shared =
      few ? next_power_of_two(static_cast<unsigned>(call.k)) * sizeof(Composite) : 0;
  if (few) allow_shared_memory(emit_few_kernel<T, Composite>, shared);
  for (index_t i = 0; i < call.rows; ++i) {
    launch_radix_passes<T, Composite>(call, i, memory.state);
    if (!call.sorted && !few) {
      const unsigned blocks =
          grid_blocks(call.source.cols, 4096, std::min(1024, 4 * call.multiprocessors));
      count_parts_kernel<T, Composite>
          <<<blocks, radix_threads, 0, call.stream>>>(call.source, i, memory.state, memory.counts);
      GPU_SIMILARITY_CHECK_LAUNCH();
      write_parts_kernel<T, Composite><<<blocks, radix_threads, 0, call.stream>>>(
          call.source, i, memory.state, memory.counts, call.sink);
      GPU_SIMILARITY_CHECK_LAUNCH();
      continue;
    }
    collect_kernel<T, Composite>
        <<<filter_blocks(call.part(0, 1)), filter_threads, 0, call.stream>>>(
            call.source, i, memory.state, memory.chosen);
    GPU_SIMILARITY_CHECK_LAUNCH();
    if (few) {
      emit_few_kernel<T, Composite><<<1, finish_threads, shared, call.stream>>>(
          call.source, i, memory.chosen, static_cast<unsigned>(call.k), call.sink);
    } else {
      sort_composites<Composite>(memory.chosen, memory.ordered, 1, call.k, 0, memory.sort_memory,
                                 memory.sort_bytes, call.stream);
      emit_sorted_kernel<T, Composite><<<grid_blocks(call.k, 1024, 65536), 256, 0, call.stream>>>(
          call.source, i, 1, memory.ordered, call.k, call.k, call.sink);
    }
    GPU_SIMILARITY_CHECK_LAUNCH();
  }
}

// ---- sort --------------------------------------------------------------------------------------

template <class T, class Composite>
struct sort_memory {
  index_t rows_per_pass;
  Composite* composed;
  Composite* ordered;
  void* scratch;
  std::size_t scratch_bytes;
  std::size_t bytes;

  sort_memory(index_t rows, index_t cols, void* memory) {
    rows_per_pass = rows_of_pass(rows, 2 * cols * static_cast<index_t>(sizeof(Composite)));
    scratch_bytes = sort_composites_workspace<Composite>(rows_per_pass, cols);
    carver carve(memory);
    composed = carve.template take<Composite>(rows_per_pass * cols);
    ordered = carve.template take<Composite>(rows_per_pass * cols);
    scratch = carve.template take<unsigned char>(static_cast<index_t>(scratch_bytes));
    bytes = carve.bytes();
  }
};

template <class T, class Composite, bool Distinct>
void run_sort(const top_k_call<T>& whole, void* workspace) {
  const index_t cols = whole.source.cols;
  const sort_memory<T, Composite> memory(whole.rows, cols, workspace);
  for (index_t first = 0; first < whole.rows; first += memory.rows_per_pass) {
    const top_k_call<T> call =
        whole.part(first, std::min(memory.rows_per_pass, whole.rows - first));
    compose_kernel<T, Composite>
        <<<grid_blocks(call.rows * cols, 1024, 65536), 256, 0, call.stream>>>(
            call.source, 0, call.rows, memory.composed);
    GPU_SIMILARITY_CHECK_LAUNCH();
    sort_composites<Composite>(memory.composed, memory.ordered, call.rows, cols,
                               position_bits<T, Composite>, memory.scratch, memory.scratch_bytes,
                               call.stream);
    if constexpr (Distinct) {
      distinct_of_sorted_kernel<T, Composite>
          <<<static_cast<unsigned>(call.rows), finish_threads, 0, call.stream>>>(
              call.source, 0, memory.ordered, call.k, call.sink, call.counts, call.counts_stride,
              call.found);
    } else {
      emit_sorted_kernel<T, Composite>
          <<<grid_blocks(call.rows * call.k, 1024, 65536), 256, 0, call.stream>>>(
              call.source, 0, call.rows, memory.ordered, cols, call.k, call.sink);
    }
    GPU_SIMILARITY_CHECK_LAUNCH();
  }
}

// ---- two_pass_insert ---------------------------------------------------------------------------

template <class T, class Composite>
struct insert_memory {
  static constexpr int most_k = static_cast<int>(detail::top_k_insert_most_k);
  index_t rows_per_pass;
  index_t blocks;
  Composite* lists;
  std::size_t bytes;

  insert_memory(index_t rows, index_t cols, void* memory) {
    blocks = grid_blocks(cols, insert_threads * most_k, insert_most_blocks);
    rows_per_pass = rows_of_pass(rows, blocks * most_k * static_cast<index_t>(sizeof(Composite)));
    carver carve(memory);
    lists = carve.template take<Composite>(rows_per_pass * blocks * most_k);
    bytes = carve.bytes();
  }
};

template <class T, class Composite, bool Distinct>
void run_insert(const top_k_call<T>& whole, void* workspace) {
  const insert_memory<T, Composite> memory(whole.rows, whole.source.cols, workspace);
  constexpr int most_k = insert_memory<T, Composite>::most_k;
  constexpr std::size_t shared = insert_threads * most_k * sizeof(Composite);
  const auto first_pass = insert_kernel<T, Composite, Distinct, most_k>;
  const auto second_pass = insert_merge_kernel<T, Composite, Distinct, most_k>;
  allow_shared_memory(first_pass, shared);
  allow_shared_memory(second_pass, shared);
  const int k = static_cast<int>(whole.k);
  for (index_t first = 0; first < whole.rows; first += memory.rows_per_pass) {
    const top_k_call<T> call =
        whole.part(first, std::min(memory.rows_per_pass, whole.rows - first));
    const dim3 grid(static_cast<unsigned>(memory.blocks), static_cast<unsigned>(call.rows));
    first_pass<<<grid, insert_threads, shared, call.stream>>>(call.source, k, memory.lists);
    GPU_SIMILARITY_CHECK_LAUNCH();
    second_pass<<<static_cast<unsigned>(call.rows), insert_threads, shared, call.stream>>>(
        call.source, k, memory.lists, memory.blocks, call.sink, call.counts, call.counts_stride,
        call.found);
    GPU_SIMILARITY_CHECK_LAUNCH();
    if constexpr (Distinct) {
      insert_count_kernel<T, Composite, most_k><<<grid, insert_threads, 0, call.stream>>>(
          call.source, k, memory.lists, memory.blocks, call.counts, call.counts_stride);
      GPU_SIMILARITY_CHECK_LAUNCH();
    }
  }
}

// ---- rows --------------------------------------------------------------------------------------

/// Rows whose length in bytes, and k, are worth staging in shared memory, where the device can.
template <class T>
bool stages_rows(const top_k_call<T>& call) {
  const index_t bytes = call.source.cols * static_cast<index_t>(sizeof(T));
  return bytes >= least_staged_bytes && bytes <= most_staged_bytes && call.k <= most_staged_k &&
         cuda::current_limits().compute_major >= 9;
}

template <class T, class Composite>
void run_staged_rows(const top_k_call<T>& call) {
  const unsigned limit = block_rows_limit(call.k);
  const std::size_t shared = limit * sizeof(Composite) + stage_slack +
                             static_cast<std::size_t>(call.source.cols) * sizeof(T);
  const auto kernel = block_rows_kernel<T, Composite, staged_threads, true>;
  const auto* entry = reinterpret_cast<const void*>(kernel);
  cuda::allow_shared_bytes(entry, shared);
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
  const unsigned limit = block_rows_limit(call.k);
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

// ---- the choice --------------------------------------------------------------------------------

template <class T, class Composite>
std::size_t workspace_of(const top_k_job& job, bool distinct) {
  switch (job.variant) {
    case top_k_variant::threshold:
      return distinct ? distinct_workspace<T, Composite>(job.rows, job.cols, job.k, nullptr).bytes
                      : threshold_memory<T, Composite>(job.rows, job.cols, job.k, nullptr).bytes;
    case top_k_variant::radix_select:
      return radix_memory<T, Composite>(job.k, job.sorted, nullptr).bytes;
    case top_k_variant::sort:
      return sort_memory<T, Composite>(job.rows, job.cols, nullptr).bytes;
    case top_k_variant::two_pass_insert:
      return insert_memory<T, Composite>(job.rows, job.cols, nullptr).bytes;
    default:
      return 0;
  }
}

template <class T, class Composite>
void run(const top_k_call<T>& call, top_k_variant variant, void* workspace) {
  switch (variant) {
    case top_k_variant::threshold:
      return run_threshold<T, Composite>(call, workspace);
    case top_k_variant::radix_select:
      return run_radix<T, Composite>(call, workspace);
    case top_k_variant::two_pass_insert:
      return run_insert<T, Composite, false>(call, workspace);
    case top_k_variant::block_rows:
      return call.source.cols < block_rows_wide ? run_block_rows<T, Composite, 256>(call)
                                                : run_block_rows<T, Composite, 512>(call);
    case top_k_variant::warp_rows:
      return run_warp_rows<T, Composite, 1>(call);
    default:
      return run_sort<T, Composite, false>(call, workspace);
  }
}

template <class T, class Composite>
void run_distinct(const top_k_call<T>& call, top_k_variant variant, void* workspace) {
  switch (variant) {
    case top_k_variant::threshold:
      return run_distinct_threshold<T, Composite>(call, workspace);
    case top_k_variant::two_pass_insert:
      return run_insert<T, Composite, true>(call, workspace);
    default:
      return run_sort<T, Composite, true>(call, workspace);
  }
}

template <class T>
top_k_call<T> make_call(const top_k_job& job, device_matrix_view<const T> data,
                        device_matrix_view<T> values, device_matrix_view<index_t> indices,
                        cudaStream_t stream) {
  top_k_call<T> call{};
  call.source = {data.data(), data.cols(), data.row_stride(), flip_of<T>(job.largest)};
  call.rows = data.rows();
  call.k = job.k;
  call.sorted = job.sorted;
  call.multiprocessors = job.multiprocessors;
  call.sink = {values.data(), values.row_stride(), indices.data(), indices.row_stride()};
  call.stream = stream;
  return call;
}

}  // namespace gpu::kernels::select

namespace gpu::kernels {

/// Calls `use` with a composite wide enough for rows of `cols` elements of T.
template <class T, class Use>
auto with_composite(index_t cols, const Use& use) {
  if constexpr (sizeof(T) < 8) {
    if (select::fits_64_bits<T>(cols)) return use(std::uint64_t{});
  }
  if constexpr (sizeof(T) >= 4) {
    return use(select::uint128_t{});
  } else {
    return use(std::uint64_t{});
  }
}

template <class T>
std::size_t top_k_workspace(const top_k_job& job) {
  return with_composite<T>(job.cols, [&](auto composite) {
    return select::workspace_of<T, decltype(composite)>(job, false);
  });
}

template <class T>
std::size_t top_k_distinct_workspace(const top_k_job& job) {
  return with_composite<T>(job.cols, [&](auto composite) {
    return select::workspace_of<T, decltype(composite)>(job, true);
  });
}

template <class T>
void launch_top_k(const top_k_job& job, device_matrix_view<const T> data,
                  device_matrix_view<T> values, device_matrix_view<index_t> indices,
                  void* workspace, cudaStream_t stream) {
  const auto call = select::make_call(job, data, values, indices, stream);
  with_composite<T>(job.cols, [&](auto composite) {
    select::run<T, decltype(composite)>(call, job.variant, workspace);
  });
}

template <class T>
void launch_top_k_distinct(const top_k_job& job, device_matrix_view<const T> data,
                           device_matrix_view<T> values, device_matrix_view<index_t> indices,
                           device_matrix_view<index_t> counts, index_t* found, void* workspace,
                           cudaStream_t stream) {
  auto call = select::make_call(job, data, values, indices, stream);
  call.counts = counts.data();
  call.counts_stride = counts.row_stride();
  call.found = found;
  with_composite<T>(job.cols, [&](auto composite) {
    select::run_distinct<T, decltype(composite)>(call, job.variant, workspace);
  });
}

}  // namespace gpu::kernels

/// The instantiations of one element type.
#define GPU_SIMILARITY_INSTANTIATE_TOP_K(T)                                                  \
  namespace gpu::kernels {                                                                   \
  template std::size_t top_k_workspace<T>(const top_k_job&);                                 \
  template std::size_t top_k_distinct_workspace<T>(const top_k_job&);                        \
  template void launch_top_k<T>(const top_k_job&, device_matrix_view<const T>,               \
                                device_matrix_view<T>, device_matrix_view<index_t>, void*,   \
                                cudaStream_t);                                               \
  template void launch_top_k_distinct<T>(const top_k_job&, device_matrix_view<const T>,      \
                                         device_matrix_view<T>, device_matrix_view<index_t>, \
                                         device_matrix_view<index_t>, index_t*, void*,       \
                                         cudaStream_t);                                      \
  }
