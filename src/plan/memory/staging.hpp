#pragma once
// How many rows of host data go to the device at a time: one pure function.

#include <cstddef>
#include <functional>

#include <gpu/index.hpp>

namespace gpu::inline v0::detail {

/// Memory that a call may take on the device, bytes.
struct staging_room {
  std::size_t limit = 0;  ///< execution.workspace_bytes; 0: none.
  std::size_t free = 0;   ///< Without a limit: what the device has left.
};

/// What is staged.
struct staging_job {
  const char* what = "";  ///< Subject of the error: "top_k of one row".
  index_t rows = 0;
  int lanes = 1;                ///< Batches that are under way at a time where there are several.
  std::size_t fixed_bytes = 0;  ///< Beside all batches.
  std::size_t usual_bytes =
      0;  ///< Of all batches without a limit, unless one row takes more; 0: any.
  /// Bytes of a batch of that many rows, at least 1. Should not fall where rows grow; where it
  /// does, batches are smaller than they might be.
  std::function<std::size_t(index_t)> batch_bytes = {};
};

struct staging_plan {
  index_t batch_rows = 0;      ///< Of each batch but the last, which may have fewer.
  int lanes = 1;               ///< 1 where there is one batch.
  std::size_t lane_bytes = 0;  ///< What every batch fits in.
  std::size_t bytes = 0;       ///< Of all lanes and what is fixed.
  std::size_t room = 0;        ///< What the call may take: at least `bytes`.
};

/// The largest batches that fit the room, of nearly equal size. Lanes are given up before the call
/// is refused.
/// @throw gpu::out_of_memory, with what one row takes, where that does not fit.
staging_plan plan_staging(const staging_job& job, const staging_room& room);

}  // namespace gpu::inline v0::detail
