#pragma once
// Copies tiles of an operand from global to shared memory, asynchronously where the device can.

#include <cuda_pipeline_primitives.h>

#include <gpu/index.hpp>

namespace gpu::kernels {

/// Copies the tile of `width` rows of op(A) (or columns of op(B)), here called lanes, by `depth`
/// values of k to shared memory as [depth][pitch]: k-major, as the multiply reads it.
///
/// wide_loads: neighbouring lanes are neighbours in memory and 16-byte aligned: 16-byte copies.
/// Otherwise elements one by one, for any steps and alignment: where k is contiguous, 8 threads
/// take 8 values of one lane (one 32-byte sector) and 4 lanes make a warp; with a pitch of
/// width + 16 bytes the 32 stores of a warp fall into different banks.
template <class T, int width, int depth, int threads, bool wide_loads>
struct tile_loader {
  static constexpr int vector = 16 / sizeof(T);
  static constexpr int pitch = width + vector;

  const T* origin;     // first lane of this block, k = 0
  index_t lane_step;   // from one lane to the next
  index_t depth_step;  // from one k to the next
  index_t lanes;       // lanes of the operand from this block's first on

  __device__ void load(T* tile, index_t first, index_t end) const {
    const bool whole = lanes >= width && first + depth <= end;
    const T* from = origin + first * depth_step;
    const int left = static_cast<int>(end - first < depth ? end - first : depth);
    if constexpr (wide_loads) {
      whole ? load_wide<true>(tile, from, left) : load_wide<false>(tile, from, left);
    } else if (depth_step == 1) {
      whole ? load_along_depth<true>(tile, from, left) : load_along_depth<false>(tile, from, left);
    } else {
      whole ? load_along_lanes<true>(tile, from, left) : load_along_lanes<false>(tile, from, left);
    }
  }

 private:
  // Copies `bytes` of `size` from global memory and fills the rest with zeros.
  template <int size>
  static __device__ void copy(T* to, const T* from, int bytes) {
    __pipeline_memcpy_async(to, from, size, static_cast<std::size_t>(size - bytes));
  }

  template <bool whole>
  __device__ void load_wide(T* tile, const T* from, int left) const {
    constexpr int per_depth = width / vector;
    constexpr int total = per_depth * depth;
    const int lane = static_cast<int>(threadIdx.x) % per_depth * vector;
    int l = static_cast<int>(threadIdx.x) / per_depth;
    const T* source = from + l * depth_step + lane;
    T* target = tile + l * pitch + lane;
#pragma unroll
    for (int done = 0; done < total; done += threads) {
      if (total % threads != 0 && done + static_cast<int>(threadIdx.x) >= total) break;
      if constexpr (whole) {
        copy<16>(target, source, 16);
      } else {
        const index_t elements = l < left ? lanes - lane : 0;
        const int bytes =
            elements >= vector ? 16 : (elements > 0 ? static_cast<int>(elements * sizeof(T)) : 0);
        copy<16>(target, bytes > 0 ? source : origin, bytes);
      }
      l += threads / per_depth;
      source += threads / per_depth * depth_step;
      target += threads / per_depth * pitch;
    }
  }

  template <bool whole>
  __device__ void load_along_depth(T* tile, const T* from, int left) const {
    static_assert(depth % 8 == 0 && width % (threads / 8) == 0);
    const int l = static_cast<int>(threadIdx.x) % 8;
    int lane = static_cast<int>(threadIdx.x) / 8;
    const T* source = from + lane * lane_step + l;
    T* target = tile + l * pitch + lane;
#pragma unroll
    for (int done = 0; done < width; done += threads / 8) {
#pragma unroll
      for (int more = 0; more < depth; more += 8) {
        const bool inside = whole || (lane < lanes && l + more < left);
        copy<sizeof(T)>(target + more * pitch, inside ? source + more : origin,
                        inside ? static_cast<int>(sizeof(T)) : 0);
      }
      lane += threads / 8;
      source += threads / 8 * lane_step;
      target += threads / 8;
    }
  }

  template <bool whole>
  __device__ void load_along_lanes(T* tile, const T* from, int left) const {
    constexpr int per_pass = threads / width < 1 ? 1 : threads / width;
    constexpr int chunk = width < threads ? width : threads;
    static_assert(depth % per_pass == 0 && width % chunk == 0);
    const int lane = static_cast<int>(threadIdx.x) % chunk;
    int l = static_cast<int>(threadIdx.x) / chunk;
    const T* source = from + l * depth_step + lane * lane_step;
    T* target = tile + l * pitch + lane;
#pragma unroll
    for (int done = 0; done < depth; done += per_pass) {
#pragma unroll
      for (int more = 0; more < width; more += chunk) {
        const bool inside = whole || (lane + more < lanes && l < left);
        copy<sizeof(T)>(target + more, inside ? source + more * lane_step : origin,
                        inside ? static_cast<int>(sizeof(T)) : 0);
      }
      l += per_pass;
      source += per_pass * depth_step;
      target += per_pass * pitch;
    }
  }
};

}  // namespace gpu::kernels
