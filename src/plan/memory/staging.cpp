#include "plan/memory/staging.hpp"

#include <fmt/format.h>

#include <algorithm>

#include <gpu/error.hpp>

namespace gpu::inline v0::detail {
namespace {

// Nine tenths of the free memory: the driver keeps some, and memory comes in pages.
std::size_t bytes_of(const staging_room& room) {
  return room.limit != 0 ? room.limit : room.free / 10 * 9;
}

void check_room(const staging_job& job, const staging_room& room) {
  const std::size_t one = job.batch_bytes(1);
  const std::size_t most = bytes_of(room);
  if (job.fixed_bytes <= most && one <= most - job.fixed_bytes) return;
  const std::size_t needed = job.fixed_bytes + one;
  throw out_of_memory(
      room.limit != 0
          ? fmt::format("options.exec.workspace_bytes: got {}, {} takes {} bytes on the device",
                        room.limit, job.what, needed)
          : fmt::format("{} takes {} bytes on the device, {} are free", job.what, needed,
                        room.free),
      needed);
}

// The most rows, at least 1, of which `lanes` batches fit.
index_t most_rows(const staging_job& job, int lanes, std::size_t bytes) {
  const std::size_t each = bytes / static_cast<std::size_t>(lanes);
  if (job.batch_bytes(job.rows) <= each) return job.rows;
  index_t fits = 1;
  index_t fails = job.rows;
  while (fails - fits > 1) {
    const index_t middle = fits + (fails - fits) / 2;
    (job.batch_bytes(middle) <= each ? fits : fails) = middle;
  }
  return fits;
}

}  // namespace

staging_plan plan_staging(const staging_job& job, const staging_room& room) {
  if (job.rows == 0) return {};
  check_room(job, room);
  std::size_t bytes = bytes_of(room) - job.fixed_bytes;
  if (room.limit == 0 && job.usual_bytes != 0) {
    bytes = std::min(bytes, std::max(job.batch_bytes(1), job.usual_bytes));
  }
  int lanes = std::max(1, job.lanes);
  while (lanes > 1 && job.batch_bytes(1) > bytes / static_cast<std::size_t>(lanes)) --lanes;
  index_t rows = most_rows(job, lanes, bytes);
  // Equal batches: a last one of few rows would be too small for the device.
  const index_t batches = (job.rows + rows - 1) / rows;
  rows = (job.rows + batches - 1) / batches;
  const auto lane_bytes = [&] {
    const index_t rest = job.rows % rows;
    return std::max(job.batch_bytes(rows), rest == 0 ? 0 : job.batch_bytes(rest));
  };
  while (rows > 1 && lane_bytes() > bytes / static_cast<std::size_t>(lanes)) rows /= 2;
  if (rows >= job.rows) lanes = 1;
  const std::size_t each = lane_bytes();
  return {.batch_rows = rows,
          .lanes = lanes,
          .lane_bytes = each,
          .bytes = job.fixed_bytes + static_cast<std::size_t>(lanes) * each,
          .room = bytes_of(room)};
}

}  // namespace gpu::inline v0::detail
