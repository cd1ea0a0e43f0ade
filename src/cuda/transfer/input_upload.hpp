#pragma once
// Host rows to device memory: pageable memory goes through page-locked pieces, one of which is
// filled while the one before is on its way.

#include <cstddef>
#include <cstdint>

#include "cuda_runtime/device_buffer.hpp"
#include "cuda_runtime/stream.hpp"

namespace gpu::cuda {

class input_upload {
 public:
  /// Whether an input of so many bytes is worth page-locked memory, and several threads.
  static bool is_staged(std::size_t bytes);

  /// Copies are ordered on `stream`, and go through two pieces of so many bytes, filled by so many
  /// OpenMP threads; 0 bytes: straight.
  input_upload(std::size_t piece_bytes, int threads, cudaStream_t stream);
  ~input_upload();
  input_upload(const input_upload&) = delete;
  input_upload& operator=(const input_upload&) = delete;

  /// `rows` rows of `row_bytes`, `stride_bytes` apart, to dense rows at `out`.
  void copy(const std::byte* from, std::size_t rows, std::size_t row_bytes,
            std::size_t stride_bytes, std::byte* out);

  /// Narrows `count` integers on their way; false, with anything at `out`, where one is not of
  /// [-128, 127]. Staged only.
  bool copy_as_bytes(const std::int32_t* from, std::size_t count, std::int8_t* out);

 private:
  template <class Fill>
  void send(std::size_t bytes, std::byte* out, const Fill& fill);
  void copy_run(const std::byte* from, std::size_t bytes, std::byte* out);

  // fill(begin, bytes) for the parts of [0, bytes), by all threads.
  template <class Fill>
  void on_parts(std::size_t bytes, const Fill& fill) const;

  cudaStream_t stream_;
  std::size_t piece_;
  int threads_;
  static constexpr int slots = 2;
  pinned_buffer<std::byte> pieces_[slots];
  event sent_[slots];
  int next_ = 0;
};

}  // namespace gpu::cuda
