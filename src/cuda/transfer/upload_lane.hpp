#pragma once
// How the host's threads share the upload of an input, and the buffers that a block of rows goes
// through.

#include <cstddef>
#include <vector>

#include "cuda/transfer/input_upload.hpp"
#include "cuda_runtime/device_buffer.hpp"
#include "cuda_runtime/stream.hpp"

namespace gpu::cuda {

/// How the host's threads share an upload. A call that has the host to itself fills large pieces by
/// all threads and lets one thread call the driver: 2.8 to 3.2 ms for 20,000 x 1000. With 8 threads
/// that upload blocks of their own it takes 3.4 to 4 ms. Engines that share a call have threads of
/// their own each.
struct upload_shape {
  bool together;            ///< All threads fill a piece, and one uploads it.
  std::size_t lanes;        ///< Of each uploading thread: one computes while the other copies.
  std::size_t blocks;       ///< Target number of blocks for each uploading thread.
  std::size_t block_bytes;  ///< Maximum size of a block of input.
  std::size_t piece_bytes;  ///< Page-locked memory of a piece; it is kept between calls.
  /// Smallest block: it costs 20 us of launches, and a megabyte takes the bus as long.
  std::size_t least_bytes;
};
inline constexpr upload_shape upload_alone{
    true, 2, 8, std::size_t{8} << 20, std::size_t{4} << 20, std::size_t{1280} << 10};
inline constexpr upload_shape upload_shared{
    false, 1, 6, std::size_t{2} << 20, std::size_t{512} << 10, 1};
/// More threads do not copy faster: they wait for each other in the driver.
inline constexpr int most_upload_threads = 12;

/// The stream and the buffers of one block of input at a time.
struct upload_lane {
  upload_lane(std::size_t input_bytes, std::size_t ranks_bytes, std::size_t packed_bytes,
              std::size_t piece_bytes, int fillers)
      : input(input_bytes, own.get()),
        ranks(ranks_bytes, own.get()),
        packed(packed_bytes, own.get()),
        upload(piece_bytes, fillers, own.get()) {}

  /// Rows that had to be gathered before they can be uploaded; the copy of them is awaited before
  /// the next ones take their place.
  std::vector<std::byte> gathered;
  cuda::stream own;
  device_buffer<std::byte> input;
  device_buffer<std::byte> ranks;
  device_buffer<std::byte> packed;
  input_upload upload;
};

}  // namespace gpu::cuda
