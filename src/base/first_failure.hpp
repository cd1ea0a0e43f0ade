#pragma once
// Carries the first exception of a parallel region out of it.

#include <exception>

namespace gpu::cpu {

class first_failure {
 public:
  /// Runs `work` in a thread of the region; keeps what it throws.
  template <class Work>
  void run(const Work& work) noexcept {
    try {
      work();
    } catch (...) {
#pragma omp critical(gpu_similarity_first_failure)
      if (!failure_) failure_ = std::current_exception();
    }
  }
  /// After the region: throws what was kept.
  void rethrow() const {
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  std::exception_ptr failure_;
};

}  // namespace gpu::cpu
