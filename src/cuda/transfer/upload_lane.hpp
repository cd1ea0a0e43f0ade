#pragma once
// What the upload of an input goes through: how the host's threads share it, and the lanes that
// blocks of rows take in turn.

#include <cstddef>

#include "cuda/transfer/input_upload.hpp"
#include "cuda_runtime/device_buffer.hpp"
#include "cuda_runtime/stream.hpp"

namespace gpu::cuda {

/// How the host's threads share an upload. A call that has the host to itself fills large pieces by
/// OpenMP's team and lets one thread talk to the driver: 20,000 x 1000 took 2.8 to 3.2 ms so, 3.4
/// to 4 where 8 threads upload blocks of their own, and 8 where these are not OpenMP's, which look
/// out for their next loop meanwhile. Engines that share a call do have threads of their own each.
struct upload_shape {
  bool together;            // all threads fill a piece, and one uploads it
  std::size_t lanes;        // of an uploading thread: one computes while the other copies
  std::size_t blocks;       // of each uploading thread, about, unless
  std::size_t block_bytes;  // of input that is more
  std::size_t piece_bytes;  // page-locked: those of all engines stay in memory between calls
};
inline constexpr upload_shape upload_alone{true, 2, 8, std::size_t{8} << 20, std::size_t{4} << 20};
inline constexpr upload_shape upload_shared{false, 1, 6, std::size_t{2} << 20,
                                            std::size_t{512} << 10};
/// More do not copy faster, but wait for each other in the driver.
inline constexpr int most_upload_threads = 12;

/// What blocks of input go through, one after the other.
struct upload_lane {
  upload_lane(std::size_t input_bytes, std::size_t ranks_bytes, std::size_t packed_bytes,
              std::size_t piece_bytes, int fillers)
      : input(input_bytes, own.get()),
        ranks(ranks_bytes, own.get()),
        packed(packed_bytes, own.get()),
        upload(piece_bytes, fillers, own.get()) {}

  cuda::stream own;
  device_buffer<std::byte> input;
  device_buffer<std::byte> ranks;
  device_buffer<std::byte> packed;
  input_upload upload;
};

}  // namespace gpu::cuda
