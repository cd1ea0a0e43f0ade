#pragma once
// Marks functions that host and device compile alike.

#if defined(__CUDACC__)
#define GPU_SIMILARITY_HOST_DEVICE __host__ __device__
#else
#define GPU_SIMILARITY_HOST_DEVICE
#endif
