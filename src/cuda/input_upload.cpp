#include "cuda/input_upload.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "cuda/staging_copy.hpp"

namespace gpu::cuda {
namespace {

constexpr std::size_t piece_bytes = std::size_t{4} << 20;
// Below this, page-locking memory costs more than it gains.
constexpr std::size_t least_staged_bytes = std::size_t{4} << 20;
constexpr std::size_t bytes_per_task = std::size_t{64} << 10;

}  // namespace

input_upload::input_upload(std::size_t bytes, int threads, cudaStream_t stream)
    : threads_(staging_threads(threads)),
      stream_(stream),
      piece_(bytes < least_staged_bytes ? 0 : piece_bytes) {
  for (auto& piece : pieces_) piece = pinned_buffer<std::byte>(piece_);
}

input_upload::~input_upload() {
  // The pieces may still be read where an exception ends the upload.
  if (piece_ != 0) static_cast<void>(cudaStreamSynchronize(stream_));
}

void input_upload::copy(const std::byte* from, std::size_t rows, std::size_t row_bytes,
                        std::size_t stride_bytes, std::byte* out) {
  if (stride_bytes == row_bytes) return copy_run(from, rows * row_bytes, out);
  if (piece_ == 0) {
    GPU_SIMILARITY_CUDA_CHECK(cudaMemcpy2DAsync(out, row_bytes, from, stride_bytes, row_bytes, rows,
                                                cudaMemcpyHostToDevice, stream_));
    return;
  }
  if (row_bytes > piece_) {
    for (std::size_t i = 0; i < rows; ++i) {
      copy_run(from + i * stride_bytes, row_bytes, out + i * row_bytes);
    }
    return;
  }
  const std::size_t step = piece_ / row_bytes;
  for (std::size_t first = 0; first < rows; first += step) {
    const auto here = static_cast<std::int64_t>(std::min(step, rows - first));
    send(static_cast<std::size_t>(here) * row_bytes, out + first * row_bytes,
         [&](std::byte* piece) {
#pragma omp parallel for num_threads(threads_) schedule(static)
           for (std::int64_t i = 0; i < here; ++i) {
             const auto row = static_cast<std::size_t>(i);
             std::memcpy(piece + row * row_bytes, from + (first + row) * stride_bytes, row_bytes);
           }
         });
  }
}

void input_upload::copy_run(const std::byte* from, std::size_t bytes, std::byte* out) {
  if (piece_ == 0) {
    GPU_SIMILARITY_CUDA_CHECK(cudaMemcpyAsync(out, from, bytes, cudaMemcpyHostToDevice, stream_));
    return;
  }
  for (std::size_t first = 0; first < bytes; first += piece_) {
    const std::size_t here = std::min(piece_, bytes - first);
    const auto tasks = static_cast<std::int64_t>((here + bytes_per_task - 1) / bytes_per_task);
    send(here, out + first, [&](std::byte* piece) {
#pragma omp parallel for num_threads(threads_) schedule(static)
      for (std::int64_t task = 0; task < tasks; ++task) {
        const std::size_t begin = static_cast<std::size_t>(task) * bytes_per_task;
        stream_copy(piece + begin, from + first + begin, std::min(bytes_per_task, here - begin));
      }
    });
  }
}

template <class Fill>
void input_upload::send(std::size_t bytes, std::byte* out, const Fill& fill) {
  GPU_SIMILARITY_CUDA_CHECK(cudaEventSynchronize(sent_[next_].get()));
  fill(pieces_[next_].data());
  GPU_SIMILARITY_CUDA_CHECK(
      cudaMemcpyAsync(out, pieces_[next_].data(), bytes, cudaMemcpyHostToDevice, stream_));
  GPU_SIMILARITY_CUDA_CHECK(cudaEventRecord(sent_[next_].get(), stream_));
  next_ = (next_ + 1) % slots;
}

}  // namespace gpu::cuda
