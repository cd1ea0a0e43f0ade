#pragma once
// Matrix multiply on the CPU. C is [m, n] and written whole, and read where options.beta is not 0;
// extents fit each other.

#include <gpu/matmul.hpp>

namespace gpu::cpu {

/// Row by row, vectorised by the compiler, rows shared among threads. The only variant where
/// the library was built without OpenBLAS.
template <class T>
void matmul_naive(matrix_view<const T> a, matrix_view<const T> b, matrix_view<T> c,
                  const matmul_options& options);

/// Whether OpenBLAS is part of this build.
bool has_blas();

/// cblas_?gemm on `exec.cpu_threads` threads. OpenBLAS has one thread count per process: it is
/// set for the call and restored, and calls from several threads take turns.
template <class T>
void matmul_blas(matrix_view<const T> a, matrix_view<const T> b, matrix_view<T> c,
                 const matmul_options& options);

}  // namespace gpu::cpu
