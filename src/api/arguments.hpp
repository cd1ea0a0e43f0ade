#pragma once
// Checks of the arguments that several operations share. Each throws gpu::invalid_argument that
// names the argument unless it says otherwise.

#include <cstddef>
#include <string_view>

#include <gpu/execution.hpp>
#include <gpu/matrix_view.hpp>

#include "base/call_progress.hpp"
#include "base/check_enumerator.hpp"
#include "base/execution_checks.hpp"
#include "plan/short_jobs.hpp"

namespace gpu::inline v0::detail {

/// A known target, and no negative number of threads.
void check_execution(const execution& exec);

/// All of that, no stream and at most one device: a call on host memory of an operation that runs
/// on one.
void check_host_call(const execution& exec);

/// A call that only the CPU makes, without scratch that a limit could lessen: it takes threads and
/// a progress callback, and refuses every other setting.
void check_cpu_call(const execution& exec, std::string_view operation);

/// Asks the progress callback once, before the work of a call that does not poll it; throws
/// gpu::cancelled where it says so.
void ask_progress(const execution& exec, std::string_view operation, index_t rows);

/// Runs the work of a call on host memory: by CUDA, before which the progress callback is asked
/// once, or by the CPU, which polls it.
template <class OnCuda, class OnCpu>
void run_on(backend used, const execution& exec, std::string_view operation, index_t rows,
            const OnCuda& on_cuda, const OnCpu& on_cpu) {
  if (used == backend::cuda) {
    ask_progress(exec, operation, rows);
    on_cuda();
  } else {
    const polled_call polled(exec.on_progress, operation, rows);
    on_cpu();
  }
}

/// execution.target, or what the environment asks for where that is automatic.
backend asked_backend(const execution& exec);
/// How that was asked for: "execution.target", or the name of the variable.
std::string_view name_of_asked(const execution& exec);

/// Where neither the target nor the environment nor a device is named: the backend that is expected
/// to end a job of such times first. No device is woken for a job that the CPU ends first. A
/// process that has made many such calls starts one all the same.
backend choose_backend(const execution& exec, const backend_seconds& job);

/// After check_execution: a call on device memory runs on CUDA, whatever the environment says.
/// Throws gpu::backend_unavailable where that cannot be used.
void check_device_call(const execution& exec);

/// A matrix in memory, as bytes.
struct byte_extent {
  const void* data;
  index_t rows;
  index_t row_bytes;
  index_t stride_bytes;
};
template <class T, memory_space Space>
byte_extent bytes_of(const basic_matrix_view<T, Space>& view) {
  constexpr auto size = static_cast<index_t>(sizeof(T));
  return {view.data(), view.rows(), view.cols() * size, view.row_stride() * size};
}

/// Whether two matrices may share an element. Exact where their rows are equally far apart, as
/// those of column blocks of one wider buffer; else whether their address ranges meet.
bool may_overlap(const byte_extent& a, const byte_extent& b);

/// The caller's memory is empty, or holds `needed` bytes and is aligned to 256.
void check_workspace(device_workspace workspace, std::size_t needed);

/// A value of the enumeration, and not the one that `operation` does not offer (gpu::unsupported).
void check_nan_policy(nan_policy asked, std::initializer_list<nan_policy> offered,
                      std::string_view operation);

}  // namespace gpu::inline v0::detail
