#pragma once
// The launches of top_k: from a job to the variant's launches.

#include "kernels/top_k/insert.cuh"
#include "kernels/top_k/kernels.hpp"
#include "kernels/top_k/launch_radix.cuh"
#include "kernels/top_k/launch_rows.cuh"
#include "kernels/top_k/launch_threshold.cuh"

namespace gpu::kernels::select {

template <class T, class Composite>
std::size_t workspace_of(const top_k_job& job, bool distinct) {
  switch (job.variant) {
    case top_k_variant::threshold:
      return distinct ? distinct_workspace<T, Composite>(job.rows, job.cols, job.k,
                                                         job.shared_bytes, nullptr)
                            .bytes
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
      return run_insert<T, Composite>(call, workspace);
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
  if (variant == top_k_variant::threshold) {
    return run_distinct_threshold<T, Composite>(call, workspace);
  }
  run_sort<T, Composite, true>(call, workspace);
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
  call.shared_bytes = job.shared_bytes;
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
