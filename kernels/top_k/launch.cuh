#pragma once
// The launches of top_k: from a job to the variant's launches.

#include "kernels/top_k/distinct_finish.cuh"
#include "kernels/top_k/distinct_sort.cuh"
#include "kernels/top_k/insert.cuh"
#include "kernels/top_k/kernels.hpp"
#include "kernels/top_k/radix.cuh"
#include "kernels/top_k/rows.cuh"

namespace gpu::kernels::select {

template <class T, class Composite>
std::size_t workspace_of(const top_k_job& job) {
  switch (job.variant) {
    case top_k_variant::threshold:
      return job.distinct
                 ? distinct_workspace<T, Composite>(job.rows, job.cols, job.k, job.shared_bytes,
                                                    nullptr)
                       .bytes
                 : threshold_memory<T, Composite>(job.rows, job.cols, job.k, nullptr).bytes;
    case top_k_variant::radix_select:
      return radix_memory<T, Composite>(job.rows, job.k, job.sorted, nullptr).bytes;
    case top_k_variant::sort:
      return distinct_sort_memory<T>(job.rows, job.cols, job.k, nullptr).bytes;
    case top_k_variant::two_pass_insert:
      return insert_memory<T, Composite>(job.rows, job.cols, nullptr).bytes;
    default:
      return 0;
  }
}

template <class T, class Composite>
void run(const top_k_call<T>& call, const top_k_job& job, void* workspace) {
  switch (job.variant) {
    case top_k_variant::threshold:
      return job.distinct ? run_distinct_threshold<T, Composite>(call, workspace)
                          : run_threshold<T, Composite>(call, workspace);
    case top_k_variant::radix_select:
      return run_radix<T, Composite>(call, workspace);
    case top_k_variant::two_pass_insert:
      return run_insert<T, Composite>(call, workspace);
    case top_k_variant::block_rows:
      return run_block_rows<T, Composite>(call);
    case top_k_variant::warp_rows:
      return run_warp_rows<T, Composite, 1>(call);
    default:
      return run_distinct_sort<T>(call, workspace);
  }
}

}  // namespace gpu::kernels::select

namespace gpu::kernels {

/// Calls `use` with a composite wide enough for rows of `cols` elements of T.
template <class T, class Use>
auto with_composite(index_t cols, const Use& use) {
  if constexpr (sizeof(T) < 8) {
    if (detail::top_k_composite_bytes(sizeof(T), cols) == 8) return use(std::uint64_t{});
  }
  if constexpr (sizeof(T) >= 4) {
    return use(select::uint128_t{});
  } else {
    return use(std::uint64_t{});
  }
}

template <class T>
std::size_t top_k_workspace(const top_k_job& job) {
  return with_composite<T>(
      job.cols, [&](auto composite) { return select::workspace_of<T, decltype(composite)>(job); });
}

template <class T>
void launch_top_k(const top_k_job& job, device_matrix_view<const T> data,
                  device_matrix_view<T> values, device_matrix_view<index_t> indices,
                  void* workspace, cudaStream_t stream, device_matrix_view<index_t> counts,
                  index_t* found) {
  const select::top_k_call<T> call{
      .source = {data.data(), data.cols(), data.row_stride(), select::flip_of<T>(job.largest)},
      .rows = data.rows(),
      .k = job.k,
      .sorted = job.sorted,
      .multiprocessors = job.multiprocessors,
      .shared_bytes = job.shared_bytes,
      .sink = {values.data(), values.row_stride(), indices.data(), indices.row_stride()},
      .counts = counts.data(),
      .counts_stride = counts.row_stride(),
      .found = found,
      .stream = stream};
  with_composite<T>(
      job.cols, [&](auto composite) { select::run<T, decltype(composite)>(call, job, workspace); });
}

}  // namespace gpu::kernels

/// The instantiations of one element type.
#define GPU_SIMILARITY_INSTANTIATE_TOP_K(T)                                                \
  namespace gpu::kernels {                                                                 \
  template std::size_t top_k_workspace<T>(const top_k_job&);                               \
  template void launch_top_k<T>(const top_k_job&, device_matrix_view<const T>,             \
                                device_matrix_view<T>, device_matrix_view<index_t>, void*, \
                                cudaStream_t, device_matrix_view<index_t>, index_t*);      \
  }
