#pragma once
// Copies tiles of an operand from global to shared memory, asynchronously where the device can.

#include <cuda_pipeline_primitives.h>

#include "kernels/common/tensor_double.cuh"
#include "kernels/matmul/kernels.hpp"

namespace gpu::kernels {

/// How a tile is read. Lanes are rows of op(A) or columns of op(B).
enum class tile_reading {
  wide,         // neighbouring lanes are neighbours in memory: 16-byte copies
  along_lanes,  // the same without the alignment, or with a number of lanes no word divides
  along_depth   // neighbouring k are neighbours in memory
};

/// Copies elements one by one, zeros beyond the operand: a partial step of k.
template <class T, int width, int depth, int threads>
__device__ void copy_partial_tile(const tile_source<T>& from, T* tile, int pitch, index_t first,
                                  index_t end) {
#pragma unroll 4
  for (int e = static_cast<int>(threadIdx.x); e < width * depth; e += threads) {
    const bool depth_first = from.depth_step == 1;
    const int lane = depth_first ? e / depth : e % width;
    const int l = depth_first ? e % depth : e / width;
    const bool inside = from.first_lane + lane < from.lanes && first + l < end;
    const T* source =
        from.data + (from.first_lane + lane) * from.lane_step + (first + l) * from.depth_step;
    __pipeline_memcpy_async(tile + l * pitch + lane, inside ? source : from.data, sizeof(T),
                            inside ? 0 : sizeof(T));
  }
}

/// Copies whole steps of k of the tile of `width` lanes by `depth`, one after the other, to shared
/// memory as [depth][pitch]: k-major, as the multiply reads it. Lanes beyond the operand repeat its
/// last one: their products are not stored. A copy moves a pointer and tests nothing.
template <class T, int width, int depth, int threads, tile_reading reading>
class tile_loader {
 public:
  static constexpr int vector = 16 / sizeof(T);
  static constexpr int pitch = width + vector;

  __device__ tile_loader(const tile_source<T>& from, index_t first)
      : step_(from.depth_step * depths_per_pass) {
    const index_t last = from.lanes - lanes_per_copy;
#pragma unroll
    for (int part = 0; part < parts; ++part) {
      const index_t lane = min(from.first_lane + first_lane() + part * lanes_per_part, last);
      next_[part] = from.data + lane * from.lane_step + (first + first_depth()) * from.depth_step;
    }
  }

  __device__ void load_next(T* tile) {
    T* to = tile + first_depth() * pitch + first_lane();
#pragma unroll
    for (int pass = 0; pass < passes; ++pass) {
#pragma unroll
      for (int part = 0; part < parts; ++part) {
        if (busy % threads == 0 || pass * threads + static_cast<int>(threadIdx.x) < busy) {
          __pipeline_memcpy_async(to + pass * depths_per_pass * pitch + part * lanes_per_part,
                                  next_[part], lanes_per_copy * sizeof(T));
        }
        next_[part] += step_;
      }
    }
  }

 private:
  static constexpr int lanes_per_copy = reading == tile_reading::wide ? vector : 1;
  // A tile wider than the block has threads is copied in parts side by side.
  static constexpr int parts =
      width > lanes_per_copy* threads ? width / lanes_per_copy / threads : 1;
  static constexpr int lanes_per_part = width / parts;
  static constexpr int copies_across = lanes_per_part / lanes_per_copy;
  static constexpr int busy = copies_across * depth;  // copies of a part
  static constexpr int depths_per_pass =
      threads / copies_across < depth ? threads / copies_across : depth;
  static constexpr int passes = depth / depths_per_pass;
  static_assert(copies_across <= threads && threads % copies_across == 0);

  static __device__ int first_lane() {
    return static_cast<int>(threadIdx.x) % copies_across * lanes_per_copy;
  }
  static __device__ int first_depth() { return static_cast<int>(threadIdx.x) / copies_across; }

  const T* next_[parts];
  index_t step_;
};

/// Where k is contiguous, 8 threads take 8 values of one lane (32 bytes of float) and a warp takes
/// 4 lanes; with a pitch of width + 16 bytes the 32 stores of a warp fall into different banks.
template <class T, int width, int depth, int threads>
class tile_loader<T, width, depth, threads, tile_reading::along_depth> {
 public:
  static constexpr int vector = 16 / sizeof(T);
  static constexpr int pitch = width + vector;

  __device__ tile_loader(const tile_source<T>& from, index_t first) {
    const index_t last = from.lanes - 1;
#pragma unroll
    for (int pass = 0; pass < passes; ++pass) {
      const index_t lane = min(from.first_lane + first_lane() + pass * lanes_per_pass, last);
      next_[pass] = from.data + lane * from.lane_step + first + first_depth();
    }
  }

  __device__ void load_next(T* tile) {
    T* to = tile + first_depth() * pitch + first_lane();
#pragma unroll
    for (int pass = 0; pass < passes; ++pass) {
#pragma unroll
      for (int l = 0; l < depth; l += 8) {
        __pipeline_memcpy_async(to + l * pitch + pass * lanes_per_pass, next_[pass] + l, sizeof(T));
      }
      next_[pass] += depth;
    }
  }

 private:
  static constexpr int lanes_per_pass = threads / 8;
  static constexpr int passes = width / lanes_per_pass;
  static_assert(depth % 8 == 0 && width % lanes_per_pass == 0);

  static __device__ int first_lane() { return static_cast<int>(threadIdx.x) / 8; }
  static __device__ int first_depth() { return static_cast<int>(threadIdx.x) % 8; }

  const T* next_[passes];
};

}  // namespace gpu::kernels
