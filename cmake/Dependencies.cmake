# Everything comes from the system by find_package; nothing is downloaded.
# fmt is used as headers inside the library and does not reach its users. Tests and benchmarks
# compare with Boost.Math.
find_package(OpenMP REQUIRED COMPONENTS CXX)
find_package(fmt REQUIRED)
if(GPU_SIMILARITY_BUILD_TESTS OR GPU_SIMILARITY_BUILD_BENCH)
  find_package(Boost 1.74 CONFIG REQUIRED)
endif()
find_package(Threads REQUIRED)

# OpenBLAS by name: the thread count of a call is set through its own interface, which a generic
# CBLAS has not. Without it matmul's plain loops run on the CPU.
set(GPU_SIMILARITY_OPENBLAS OFF)
if(NOT GPU_SIMILARITY_ENABLE_OPENBLAS STREQUAL "OFF")
  set(BLA_VENDOR OpenBLAS)
  find_package(BLAS QUIET)
  find_path(GPU_SIMILARITY_CBLAS_INCLUDE_DIR cblas.h PATH_SUFFIXES openblas openblas-pthread)
  mark_as_advanced(GPU_SIMILARITY_CBLAS_INCLUDE_DIR)
  if(BLAS_FOUND AND GPU_SIMILARITY_CBLAS_INCLUDE_DIR)
    set(GPU_SIMILARITY_OPENBLAS ON)
  elseif(GPU_SIMILARITY_ENABLE_OPENBLAS STREQUAL "ON")
    message(FATAL_ERROR "GPU_SIMILARITY_ENABLE_OPENBLAS is ON, but OpenBLAS or its cblas.h was not found")
  else()
    message(STATUS "gpu_similarity: no OpenBLAS; matrix products on the CPU take plain loops")
  endif()
endif()
