# Everything comes from the system by find_package; nothing is downloaded, but for the headers of fmt
# where GPU_SIMILARITY_FETCH_FMT asks for it.
# fmt is used as headers inside the library and does not reach its users. Tests and benchmarks
# compare with Boost.Math.
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
find_package(fmt QUIET)
if(NOT fmt_FOUND)
  if(NOT GPU_SIMILARITY_FETCH_FMT)
    message(FATAL_ERROR "fmt was not found. Install it (libfmt-dev, fmt-devel), say where it is by fmt_DIR, or "
      "set GPU_SIMILARITY_FETCH_FMT=ON, which downloads its headers")
  endif()
  message(STATUS "gpu_similarity: no fmt; its headers are downloaded")
  include(FetchContent)
  # A folder without CMakeLists.txt: the headers are all that is used.
  FetchContent_Declare(fmt SOURCE_SUBDIR include
    URL "https://github.com/fmtlib/fmt/archive/refs/tags/10.2.1.tar.gz"
    URL_HASH SHA256=1250e4cc58bf06ee631567523f48848dc4596133e163f02615c97f78bab6c811)
  FetchContent_MakeAvailable(fmt)
  add_library(fmt::fmt INTERFACE IMPORTED)
  target_include_directories(fmt::fmt INTERFACE "${fmt_SOURCE_DIR}/include")
endif()
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
