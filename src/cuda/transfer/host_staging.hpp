#pragma once
// How every operation with host data goes through device memory: in batches of rows, within
// execution.workspace_bytes. A batch is one block of memory, which a layout divides.

#include <algorithm>
#include <cstddef>
#include <vector>

#include <gpu/execution.hpp>
#include <gpu/matrix_view.hpp>

#include "cuda_runtime/arena.hpp"
#include "cuda_runtime/device_buffer.hpp"
#include "cuda_runtime/stream.hpp"
#include "plan/memory/staging.hpp"

namespace gpu::cuda {

/// The rows of a batch.
struct staged_rows {
  index_t first;
  index_t count;
};

/// As plan_staging for the current device: its free memory is asked for where it matters.
detail::staging_plan plan_host_staging(const detail::staging_job& job, const execution& exec);

/// Copies rows between host and device; one copy where neither side has gaps.
void copy_rows(void* to, std::size_t to_stride, const void* from, std::size_t from_stride,
               std::size_t row_bytes, index_t rows, cudaMemcpyKind kind, cudaStream_t stream);

/// The scratch memory of a batch; none where `memory` only counts its bytes.
inline device_workspace take_scratch(arena& memory, std::size_t bytes) {
  std::byte* const at = memory.take<std::byte>(bytes);
  return at == nullptr ? device_workspace{} : device_workspace{at, static_cast<index_t>(bytes)};
}

/// To dense rows on the device.
template <class T>
void upload_rows(T* to, matrix_view<const T> from, staged_rows rows, cudaStream_t stream) {
  const std::size_t row_bytes = static_cast<std::size_t>(from.cols()) * sizeof(T);
  copy_rows(to, row_bytes, from.row(rows.first),
            static_cast<std::size_t>(from.row_stride()) * sizeof(T), row_bytes, rows.count,
            cudaMemcpyHostToDevice, stream);
}

/// From dense rows on the device.
template <class T>
void download_rows(matrix_view<T> to, const T* from, staged_rows rows, cudaStream_t stream) {
  const std::size_t row_bytes = static_cast<std::size_t>(to.cols()) * sizeof(T);
  copy_rows(to.row(rows.first), static_cast<std::size_t>(to.row_stride()) * sizeof(T), from,
            row_bytes, row_bytes, rows.count, cudaMemcpyDeviceToHost, stream);
}

/// Runs a call in batches on the current device. `divide(arena&, rows)` takes the memory of a batch
/// of that many rows and returns what it took. `start(memory, rows, stream)` copies a batch up and
/// computes, `finish(memory, rows, stream)` copies its results down. Both only put work on the
/// stream. Where the limit allows, the next batch goes up and is computed before the last comes
/// down, because a copy to pageable memory waits. `job.batch_bytes` is what `divide` takes.
template <class Divide, class Start, class Finish>
void run_in_batches(detail::staging_job job, const execution& exec, const Divide& divide,
                    const Start& start, const Finish& finish) {
  job.lanes = 2;
  job.usual_bytes = std::size_t{1} << 30;  // batches that are copied at full speed
  job.batch_bytes = [&](index_t rows) {
    return bytes_taken([&](arena& memory) { return divide(memory, rows); });
  };
  const detail::staging_plan plan = plan_host_staging(job, exec);
  if (plan.batch_rows == 0) return;
  struct lane {
    explicit lane(std::size_t bytes) : memory(bytes, on.get()) {}
    stream on;
    device_buffer<std::byte> memory;
  };
  std::vector<lane> lanes;
  lanes.reserve(static_cast<std::size_t>(plan.lanes));
  for (int i = 0; i < plan.lanes; ++i) lanes.emplace_back(plan.lane_bytes);
  const index_t batches = (job.rows + plan.batch_rows - 1) / plan.batch_rows;
  const auto with = [&](index_t batch, const auto& step) {
    lane& own = lanes[static_cast<std::size_t>(batch % plan.lanes)];
    const index_t first = batch * plan.batch_rows;
    const staged_rows rows{first, std::min(plan.batch_rows, job.rows - first)};
    arena memory(own.memory.data());
    step(divide(memory, rows.count), rows, own.on.get());
    return &own;
  };
  const index_t ahead = plan.lanes - 1;
  for (index_t batch = 0; batch < batches + ahead; ++batch) {
    if (batch < batches) with(batch, start);
    if (batch >= ahead) with(batch - ahead, finish)->on.synchronize();
  }
}

}  // namespace gpu::cuda
