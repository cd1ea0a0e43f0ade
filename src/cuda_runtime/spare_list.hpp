#pragma once
// Things of the driver that were given back, for later calls.

#include <algorithm>
#include <cstddef>
#include <exception>
#include <iterator>
#include <mutex>
#include <optional>
#include <vector>

namespace gpu::cuda {

/// Keeps things of some kinds, whose sizes are `most` in all. Make it with new and never destroy
/// it: the driver may be shut down before static objects are.
template <class Thing, class Kind>
class spare_list {
 public:
  explicit spare_list(std::size_t most) : most_(most) {}

  /// What was given back last of a kind.
  std::optional<Thing> take(const Kind& kind) {
    const std::lock_guard guard(mutex_);
    const auto found = std::find_if(spares_.rbegin(), spares_.rend(),
                                    [&](const spare& each) { return each.kind == kind; });
    if (found == spares_.rend()) return std::nullopt;
    const Thing out = found->thing;
    size_ -= found->size;
    spares_.erase(std::next(found).base());
    return out;
  }
  /// False where the caller has to destroy it: the list is full, or an exception unwinds, while
  /// which something may still be under way.
  bool put(Thing thing, const Kind& kind, std::size_t size = 1) noexcept {
    if (std::uncaught_exceptions() != 0) return false;
    try {
      const std::lock_guard guard(mutex_);
      if (size_ + size > most_) return false;
      spares_.push_back({thing, kind, size});
      size_ += size;
      return true;
    } catch (...) {  // no room for the list itself
      return false;
    }
  }

 private:
  struct spare {
    Thing thing;
    Kind kind;
    std::size_t size;
  };
  std::mutex mutex_;
  std::vector<spare> spares_;
  std::size_t size_ = 0;
  std::size_t most_;
};

}  // namespace gpu::cuda
