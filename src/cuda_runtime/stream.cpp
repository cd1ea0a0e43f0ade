#include "cuda_runtime/stream.hpp"

#include "cuda_runtime/spare_list.hpp"

namespace gpu::cuda {
namespace {

template <class Handle>
spare_list<Handle, handle_kind>& spares() {
  static auto& only = *new spare_list<Handle, handle_kind>(256);
  return only;
}

handle_kind kind_here(int priority) {
  int device = 0;
  GPU_SIMILARITY_CUDA_CHECK(cudaGetDevice(&device));
  return {.device = device, .priority = priority};
}

}  // namespace

stream::stream(priority wanted) : kind_(kind_here(static_cast<int>(wanted))) {
  stream_ = spares<cudaStream_t>().take(kind_).value_or(nullptr);
  if (stream_ != nullptr) return;
  int least = 0;
  int greatest = 0;
  GPU_SIMILARITY_CUDA_CHECK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  GPU_SIMILARITY_CUDA_CHECK(cudaStreamCreateWithPriority(
      &stream_, cudaStreamNonBlocking, wanted == priority::high ? greatest : least));
}

stream::~stream() {
  if (stream_ == nullptr || spares<cudaStream_t>().put(stream_, kind_)) return;
  static_cast<void>(cudaStreamDestroy(stream_));
}

event::event() : kind_(kind_here(0)) {
  event_ = spares<cudaEvent_t>().take(kind_).value_or(nullptr);
  if (event_ != nullptr) return;
  GPU_SIMILARITY_CUDA_CHECK(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming));
}

event::~event() {
  if (event_ == nullptr || spares<cudaEvent_t>().put(event_, kind_)) return;
  static_cast<void>(cudaEventDestroy(event_));
}

}  // namespace gpu::cuda
