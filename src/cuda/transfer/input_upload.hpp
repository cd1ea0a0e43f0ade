#pragma once
// Copies host rows to device memory. Pageable memory goes through two page-locked pieces: one is
// filled while the device copies the other.

#include <cstddef>
#include <cstdint>

#include "cuda_runtime/copies.hpp"
#include "cuda_runtime/device_buffer.hpp"
#include "cuda_runtime/stream.hpp"

namespace gpu::cuda {

class input_upload {
 public:
  /// Whether an input of `bytes` is large enough to be staged: to go through page-locked memory,
  /// filled by several threads.
  static bool is_staged(std::size_t bytes);

  /// Copies are ordered on `stream` and staged in two pieces of `piece_bytes`, which `threads`
  /// threads fill. A piece_bytes of 0 disables staging.
  input_upload(std::size_t piece_bytes, int threads, cudaStream_t stream);

  /// `rows` rows of `row_bytes`, `stride_bytes` apart, to dense rows at `out`.
  void copy(const std::byte* from, std::size_t rows, std::size_t row_bytes,
            std::size_t stride_bytes, std::byte* out);

  /// Copies `count` integers as bytes. Returns false, with `out` unspecified, where one of them is
  /// outside [-128, 127]. Needs staging.
  bool copy_as_bytes(const std::int32_t* from, std::size_t count, std::int8_t* out);

 private:
  template <class Fill>
  void send(std::size_t bytes, std::byte* out, const Fill& fill);
  void copy_run(const std::byte* from, std::size_t bytes, std::byte* out);

  // Calls fill(begin, bytes) for the parts of [0, bytes), on all threads.
  template <class Fill>
  void on_parts(std::size_t bytes, const Fill& fill) const;

  cudaStream_t stream_;
  std::size_t piece_;
  int threads_;
  static constexpr int slots = 2;
  pinned_buffer<std::byte> pieces_[slots];
  event sent_[slots];
  int next_ = 0;
  stream_guard guard_{stream_};  // which may still read the pieces
};

}  // namespace gpu::cuda
