#pragma once
// Rows of y that stay on a device between calls, with room in front of them for the rows of x.

#include <atomic>
#include <memory>
#include <optional>

#include "cuda/pairs/rows/budget.hpp"
#include "cuda/pairs/rows/device_rows.hpp"
#include "cuda_runtime/stream.hpp"
#include "pairs/engine.hpp"

namespace gpu::cuda {

/// The room in front of prepared rows, for one call at a time; null where another call has it.
struct front_release {
  void operator()(std::atomic<bool>* taken) const { *taken = false; }
};
using front_room = std::unique_ptr<std::atomic<bool>, front_release>;

class device_prepared_table final : public detail::prepared_table {
 public:
  /// Rows of x that fit in front.
  static constexpr index_t front_rows = 4096;

  /// Prepares `data` on the current device, which is `device`.
  device_prepared_table(const detail::measure_traits& what, const detail::any_table& data,
                        const execution& exec, const device_info& device, pair_variant variant);
  ~device_prepared_table() override;

  [[nodiscard]] int ordinal() const { return ordinal_; }
  /// front_rows rows that hold nothing, and then those of the table.
  [[nodiscard]] const device_rows& rows_behind_room() const { return *rows_; }
  [[nodiscard]] front_room take_front() const {
    return front_room(front_is_taken_.exchange(true) ? nullptr : &front_is_taken_);
  }

 private:
  int ordinal_;
  stream own_;
  std::optional<device_rows> rows_;
  mutable std::atomic<bool> front_is_taken_ = false;
};

}  // namespace gpu::cuda
