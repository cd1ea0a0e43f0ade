#include "cuda_runtime/stream.hpp"

#include <algorithm>
#include <exception>
#include <mutex>
#include <vector>

namespace gpu::cuda {
namespace {

// Handles that were given back. Never destroyed, because the driver may be shut down before static
// objects are.
template <class Handle>
class spare_handles {
 public:
  static spare_handles& of_process() {
    static auto& only = *new spare_handles;
    return only;
  }
  // Null where there is none.
  Handle take(const handle_kind& kind) {
    const std::lock_guard guard(mutex_);
    const auto found = std::find_if(spares_.rbegin(), spares_.rend(),
                                    [&](const spare& each) { return each.kind == kind; });
    if (found == spares_.rend()) return nullptr;
    const Handle out = found->handle;
    spares_.erase(std::next(found).base());
    return out;
  }
  bool put(Handle handle, const handle_kind& kind) noexcept {
    if (std::uncaught_exceptions() != 0) return false;
    try {
      const std::lock_guard guard(mutex_);
      if (spares_.size() == most) return false;
      spares_.push_back({handle, kind});
      return true;
    } catch (...) {  // no room for the list itself
      return false;
    }
  }

 private:
  static constexpr std::size_t most = 256;
  struct spare {
    Handle handle;
    handle_kind kind;
  };
  std::mutex mutex_;
  std::vector<spare> spares_;
};

handle_kind kind_here(int priority) {
  int device = 0;
  GPU_SIMILARITY_CUDA_CHECK(cudaGetDevice(&device));
  return {.device = device, .priority = priority};
}

}  // namespace

stream::stream(priority wanted) : kind_(kind_here(static_cast<int>(wanted))) {
  stream_ = spare_handles<cudaStream_t>::of_process().take(kind_);
  if (stream_ != nullptr) return;
  int least = 0;
  int greatest = 0;
  GPU_SIMILARITY_CUDA_CHECK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  GPU_SIMILARITY_CUDA_CHECK(cudaStreamCreateWithPriority(
      &stream_, cudaStreamNonBlocking, wanted == priority::high ? greatest : least));
}

stream::~stream() {
  if (stream_ == nullptr || spare_handles<cudaStream_t>::of_process().put(stream_, kind_)) return;
  static_cast<void>(cudaStreamDestroy(stream_));
}

event::event() : kind_(kind_here(0)) {
  event_ = spare_handles<cudaEvent_t>::of_process().take(kind_);
  if (event_ != nullptr) return;
  GPU_SIMILARITY_CUDA_CHECK(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming));
}

event::~event() {
  if (event_ == nullptr || spare_handles<cudaEvent_t>::of_process().put(event_, kind_)) return;
  static_cast<void>(cudaEventDestroy(event_));
}

}  // namespace gpu::cuda
