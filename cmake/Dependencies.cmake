# Everything comes from the system by find_package; nothing is downloaded, but for the headers of fmt
# where GPU_SIMILARITY_FETCH_FMT asks for it. fmt does not reach the library's users. Tests and
# benchmarks compare with Boost.Math.
if(GPU_SIMILARITY_STATIC_CLI)
  if(GPU_SIMILARITY_CUDA OR BUILD_SHARED_LIBS OR NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    message(FATAL_ERROR "GPU_SIMILARITY_STATIC_CLI needs GCC, GPU_SIMILARITY_ENABLE_CUDA=OFF and BUILD_SHARED_LIBS=OFF: "
      "the driver of a GPU is a shared library")
  endif()
  # Archives instead of the shared libraries that the modules below find first.
  execute_process(COMMAND "${CMAKE_CXX_COMPILER}" -print-file-name=libgomp.a
    OUTPUT_STRIP_TRAILING_WHITESPACE OUTPUT_VARIABLE OpenMP_gomp_LIBRARY COMMAND_ERROR_IS_FATAL ANY)
  set(OpenMP_gomp_LIBRARY "${OpenMP_gomp_LIBRARY}" CACHE FILEPATH "libgomp as an archive" FORCE)
  set(ZLIB_USE_STATIC_LIBS ON)
  set(GPU_SIMILARITY_ENABLE_OPENBLAS OFF)
endif()
find_package(OpenMP REQUIRED COMPONENTS CXX)
include(cmake/Fmt.cmake)
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

# zstd, for the command's files that end in .zst: no part of the library.
set(GPU_SIMILARITY_ZSTD OFF)
if(NOT GPU_SIMILARITY_ENABLE_ZSTD STREQUAL "OFF")
  if(GPU_SIMILARITY_STATIC_CLI)
    set(zstd_name libzstd.a)
  else()
    set(zstd_name zstd)
  endif()
  find_path(GPU_SIMILARITY_ZSTD_INCLUDE_DIR zstd.h)
  find_library(GPU_SIMILARITY_ZSTD_LIBRARY NAMES ${zstd_name})
  mark_as_advanced(GPU_SIMILARITY_ZSTD_INCLUDE_DIR GPU_SIMILARITY_ZSTD_LIBRARY)
  if(GPU_SIMILARITY_ZSTD_INCLUDE_DIR AND GPU_SIMILARITY_ZSTD_LIBRARY)
    set(GPU_SIMILARITY_ZSTD ON)
    add_library(gpu_similarity_zstd INTERFACE)
    target_include_directories(gpu_similarity_zstd SYSTEM INTERFACE "${GPU_SIMILARITY_ZSTD_INCLUDE_DIR}")
    target_link_libraries(gpu_similarity_zstd INTERFACE "${GPU_SIMILARITY_ZSTD_LIBRARY}")
  elseif(GPU_SIMILARITY_ENABLE_ZSTD STREQUAL "ON")
    message(FATAL_ERROR "GPU_SIMILARITY_ENABLE_ZSTD is ON, but zstd.h or ${zstd_name} was not found")
  elseif(GPU_SIMILARITY_BUILD_CLI)
    message(STATUS "gpu_similarity: no zstd; the command neither reads nor writes files that it compressed")
  endif()
endif()

