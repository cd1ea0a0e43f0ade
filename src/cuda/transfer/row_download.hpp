#pragma once
// Rows of a result from the device to pageable host memory: through page-locked pieces that CPU
// threads empty while the next ones are on their way.

#include <cstddef>

#include <gpu/matrix_view.hpp>

#include "base/index_range.hpp"
#include "cuda_runtime/device_buffer.hpp"
#include "cuda_runtime/stream.hpp"

namespace gpu::cuda {

template <class Value>
class row_download {
 public:
  /// Rows of `out`, stored by staging_threads(threads). Copies are ordered on
  /// `stream`.
  row_download(matrix_view<Value> out, int threads, cudaStream_t stream);
  ~row_download();
  row_download(const row_download&) = delete;
  row_download& operator=(const row_download&) = delete;

  /// Sends the dense rows at `from` to the rows `range` of the result. They may still be read when
  /// this returns: until what is put on the stream behind it has begun.
  void copy(const Value* from, index_range range);
  /// Stores what is still under way.
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
};

}  // namespace gpu::cuda
