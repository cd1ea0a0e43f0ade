#include "cuda/transfer/input_upload.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "base/parallel.hpp"
#include "cuda/transfer/staging_copy.hpp"

namespace gpu::cuda {
namespace {

constexpr std::size_t least_staged_bytes = std::size_t{4} << 20;
// What a thread fills of a piece at a time.
constexpr std::size_t part_bytes = std::size_t{64} << 10;

// Copies integers as bytes; returns whether every value is in [-128, 127].
bool narrow(const std::int32_t* from, std::size_t count, std::byte* to) {
  std::uint32_t beyond = 0;
  for (std::size_t i = 0; i < count; ++i) {
    beyond |= static_cast<std::uint32_t>(from[i]) + 128U;
    to[i] = static_cast<std::byte>(from[i]);
  }
  return beyond < 256;
}

}  // namespace

bool input_upload::is_staged(std::size_t bytes) {
  return bytes >= least_staged_bytes;
}

input_upload::input_upload(std::size_t piece_bytes, int threads, cudaStream_t stream)
    : stream_(stream), piece_(piece_bytes), threads_(threads) {
  for (auto& piece : pieces_) piece = pinned_buffer<std::byte>(piece_);
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
    const std::size_t here = std::min(step, rows - first);
    const auto rows_of_part =
        static_cast<index_t>(std::max<std::size_t>(1, part_bytes / row_bytes));
    send(here * row_bytes, out + first * row_bytes, [&](std::byte* piece) {
      detail::parallel_for_ranges(
          static_cast<index_t>(here), rows_of_part, threads_, [&](detail::index_range some, int) {
            for (index_t i = some.begin; i < some.end; ++i) {
              const auto row = static_cast<std::size_t>(i);
              std::memcpy(piece + row * row_bytes, from + (first + row) * stride_bytes, row_bytes);
            }
          });
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
    send(here, out + first, [&](std::byte* piece) {
      on_parts(here, [&](std::size_t begin, std::size_t count) {
        stream_copy(piece + begin, from + first + begin, count);
      });
    });
  }
}

bool input_upload::copy_as_bytes(const std::int32_t* from, std::size_t count, std::int8_t* out) {
  const std::size_t step = piece_ / sizeof(std::int32_t);  // so that a piece stays in the caches
  std::atomic<bool> fits = true;
  for (std::size_t first = 0; first < count && fits; first += step) {
    const std::size_t here = std::min(step, count - first);
    send(here, reinterpret_cast<std::byte*>(out + first), [&](std::byte* piece) {
      on_parts(here, [&](std::size_t begin, std::size_t values) {
        if (!narrow(from + first + begin, values, piece + begin)) fits = false;
      });
    });
  }
  return fits;
}

template <class Fill>
void input_upload::on_parts(std::size_t bytes, const Fill& fill) const {
  const auto parts = static_cast<index_t>((bytes + part_bytes - 1) / part_bytes);
  detail::parallel_for(parts, threads_, [&](index_t part, int) {
    const std::size_t begin = static_cast<std::size_t>(part) * part_bytes;
    fill(begin, std::min(part_bytes, bytes - begin));
  });
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
