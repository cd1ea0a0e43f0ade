#include "api/arguments.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include <gpu/error.hpp>
#include <gpu/execution.hpp>

#include "base/call_progress.hpp"

namespace gpu::inline v0::detail {
namespace {

constexpr std::uintptr_t workspace_alignment = 256;

}  // namespace

void check_execution(const execution& exec) {
  check_enumerator("execution.target", exec.target, backend::cuda);
  if (exec.cpu_threads < 0) {
    throw invalid_argument(
        fmt::format("execution.cpu_threads: got {}, expected 0 or more", exec.cpu_threads));
  }
}

void check_host_call(const execution& exec) {
  check_execution(exec);
  check_no_stream(exec);
  check_one_device(exec);
}

void check_cpu_call(const execution& exec, std::string_view operation) {
  check_execution(exec);
  check_no_stream(exec);
  if (exec.target == backend::cuda || !exec.devices.empty()) {
    throw unsupported(fmt::format("{}: got {}, but {} runs on the CPU alone",
                                  exec.devices.empty() ? "execution.target" : "execution.devices",
                                  exec.devices.empty() ? "cuda" : "CUDA devices", operation));
  }
  if (exec.workspace_bytes != 0) {
    throw unsupported(
        fmt::format("execution.workspace_bytes: got {}, expected 0: no limit lessens what {} needs",
                    exec.workspace_bytes, operation));
  }
}

void ask_progress(const execution& exec, std::string_view operation, index_t rows) {
  const call_progress asked(exec.on_progress, operation, operation,
                            static_cast<std::uint64_t>(rows));
}

bool may_overlap(const byte_extent& a, const byte_extent& b) {
  if (a.rows == 0 || a.row_bytes == 0 || b.rows == 0 || b.row_bytes == 0) return false;
  const auto begin = [](const byte_extent& x) { return reinterpret_cast<std::uintptr_t>(x.data); };
  const auto end = [&](const byte_extent& x) {
    return begin(x) + static_cast<std::uintptr_t>((x.rows - 1) * x.stride_bytes + x.row_bytes);
  };
  if (begin(a) >= end(b) || begin(b) >= end(a)) return false;
  if (a.stride_bytes != b.stride_bytes) return true;
  // Row 0 of the later one begins `behind` bytes after a row of the earlier one, before the next.
  const byte_extent& first = begin(a) <= begin(b) ? a : b;
  const byte_extent& later = begin(a) <= begin(b) ? b : a;
  const auto behind = static_cast<index_t>((begin(later) - begin(first)) %
                                           static_cast<std::uintptr_t>(first.stride_bytes));
  return behind < first.row_bytes || behind + later.row_bytes > first.stride_bytes;
}

void check_workspace(device_workspace workspace, std::size_t needed) {
  if (workspace.empty()) return;
  if (static_cast<std::size_t>(workspace.size()) < needed) {
    throw invalid_argument(fmt::format("options.workspace: got {} bytes, expected at least {}",
                                       workspace.size(), needed));
  }
  if (reinterpret_cast<std::uintptr_t>(workspace.data()) % workspace_alignment != 0) {
    throw invalid_argument(
        fmt::format("options.workspace: not aligned to {} bytes", workspace_alignment));
  }
}

void check_nan_policy(nan_policy asked, std::initializer_list<nan_policy> offered,
                      std::string_view operation) {
  check_enumerator("options.nans", asked, nan_policy::pairwise);
  if (std::find(offered.begin(), offered.end(), asked) != offered.end()) return;
  throw unsupported(fmt::format("options.nans: {} is not offered by {}, expected one of {}",
                                name_of(asked), operation, names_of(offered)));
}

}  // namespace gpu::inline v0::detail
