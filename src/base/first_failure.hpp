#pragma once
// Carries the first exception of a parallel region out of it.

#include <atomic>
#include <exception>

namespace gpu::inline v0::detail {

class first_failure {
 public:
  /// Runs `work` in a thread of the region, unless some work has failed; keeps what it throws.
  template <class Work>
  void run(const Work& work) noexcept {
    if (failed_.load(std::memory_order_relaxed)) return;
    try {
      work();
    } catch (...) {
#pragma omp critical(gpu_similarity_first_failure)
      if (!failure_) failure_ = std::current_exception();
      failed_ = true;
    }
  }
  /// After the region: throws what was kept.
  void rethrow() const {
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  std::exception_ptr failure_;
  std::atomic<bool> failed_ = false;
};

}  // namespace gpu::inline v0::detail
