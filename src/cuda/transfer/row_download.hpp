#pragma once
// Copies rows of a result from the device to pageable host memory, through two page-locked pieces:
// CPU threads store one while the device copies into the other.

#include <cstddef>

#include <gpu/matrix_view.hpp>

#include "cuda_runtime/copies.hpp"
#include "cuda_runtime/device_buffer.hpp"
#include "cuda_runtime/index_range.hpp"
#include "cuda_runtime/stream.hpp"

namespace gpu::cuda {

template <class Value>
class row_download {
 public:
  /// Stores rows of `out` by staging_threads(threads) threads. Copies are ordered on `stream`.
  row_download(matrix_view<Value> out, int threads, cudaStream_t stream);

  /// Copies the dense rows at `from` to the rows `range` of the result. The device may still read
  /// `from` when this returns; what is put on the stream afterwards waits for it.
  void copy(const Value* from, index_range range);
  /// Waits for the pieces that are under way and stores them.
  void finish();

 private:
  void store(int slot);

  static constexpr int slots = 2;
  matrix_view<Value> out_;
  int threads_;
  cudaStream_t stream_;
  index_t piece_rows_;
  pinned_buffer<Value> pieces_[slots];
  event copied_[slots];
  index_range pending_[slots];
  int next_ = 0;
  stream_guard guard_{stream_};  // which may still write the pieces
};

}  // namespace gpu::cuda
