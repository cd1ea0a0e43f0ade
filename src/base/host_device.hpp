#pragma once
// Marks functions that host and device compile alike.

#if defined(__CUDACC__)
#define GPU_SIMILARITY_HOST_DEVICE __host__ __device__
#else
#define GPU_SIMILARITY_HOST_DEVICE
#endif

/// The same, and inlined without exception: files that are compiled for some instruction set may
/// use such a function, because they leave no copy of it that other files could call.
#define GPU_SIMILARITY_INLINE_HOST_DEVICE \
  GPU_SIMILARITY_HOST_DEVICE inline __attribute__((always_inline))
