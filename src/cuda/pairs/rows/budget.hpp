#pragma once
// Device memory that one all-pairs call may use, divided among its parts.

#include <cstddef>

namespace gpu::cuda {

/// Keeps account of execution.workspace_bytes, or of what is free on the device.
class pair_budget {
 public:
  /// `limit` bytes; 0: nine tenths of what is free on the current device.
  explicit pair_budget(std::size_t limit);

  [[nodiscard]] std::size_t limit() const noexcept { return limit_; }
  [[nodiscard]] std::size_t left() const noexcept { return limit_ - used_; }
  /// Takes `bytes` for the engine's life, or until they are given back. Throws gpu::out_of_memory,
  /// naming `what`.
  void take(std::size_t bytes, const char* what);
  /// Gives back what was taken and is not needed any more.
  void give_back(std::size_t bytes) noexcept { used_ -= bytes; }
  /// Throws gpu::out_of_memory unless `bytes` are left; what it says that was asked for is these
  /// and all that is taken.
  void require(std::size_t bytes, const char* what) const;

 private:
  std::size_t limit_;
  std::size_t used_ = 0;
};

/// Of the memory that is left, what resident rows may take.
constexpr std::size_t resident_share(std::size_t left) {
  return left / 4 * 3;
}

}  // namespace gpu::cuda
