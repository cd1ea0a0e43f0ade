#pragma once
// Pages for a large result, made before it is written.

#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

namespace gpu::inline v0::detail {

/// Lets threads of its own take the pages of fresh memory from the system, from its start on, while
/// others already write there: nothing that was written changes. Who writes then need not wait for
/// pages to be found and cleared, which takes longer than the writing.
class page_supply {
 public:
  page_supply() noexcept = default;
  ~page_supply() { stop(); }
  page_supply(const page_supply&) = delete;
  page_supply& operator=(const page_supply&) = delete;

  /// Begins with [data, data + bytes), which stays until stop(). Nothing for little memory, or
  /// where the system cannot.
  void start(void* data, std::size_t bytes, int threads);
  /// Ends what is under way.
  void stop() noexcept;

 private:
  std::atomic<std::size_t> next_ = 0;  // bytes taken by a thread
  std::atomic<bool> stopped_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace gpu::inline v0::detail
