# What a user may set. Everything beside the library defaults to ON only at the top level, so that
# a project that adds this one as a subdirectory gets the library target and nothing else.
set(GPU_SIMILARITY_ENABLE_CUDA AUTO CACHE STRING
    "CUDA backend: AUTO takes it where a CUDA compiler is found, ON fails without one, OFF builds for the CPU alone")
set_property(CACHE GPU_SIMILARITY_ENABLE_CUDA PROPERTY STRINGS AUTO ON OFF)
set(GPU_SIMILARITY_ENABLE_OPENBLAS AUTO CACHE STRING
    "OpenBLAS for matrix products on the CPU: AUTO takes it where it is found, ON fails without it, OFF leaves it out")
set_property(CACHE GPU_SIMILARITY_ENABLE_OPENBLAS PROPERTY STRINGS AUTO ON OFF)
set(GPU_SIMILARITY_ENABLE_ZSTD AUTO CACHE STRING
    "zstd for the command's files: AUTO takes it where it is found, ON fails without it, OFF leaves it out")
set_property(CACHE GPU_SIMILARITY_ENABLE_ZSTD PROPERTY STRINGS AUTO ON OFF)
option(GPU_SIMILARITY_FETCH_FMT
    "Download the headers of fmt where neither the system nor a source distribution has them; pip sets it" OFF)
option(GPU_SIMILARITY_RELEASE_ARCHITECTURES
    "Device code for every GPU that the toolkit compiles for, as releases have it, where CMAKE_CUDA_ARCHITECTURES is not set" OFF)
option(GPU_SIMILARITY_BUILD_TESTS "Build the tests" ${PROJECT_IS_TOP_LEVEL})
option(GPU_SIMILARITY_BUILD_BENCH "Build the benchmarks" ${PROJECT_IS_TOP_LEVEL})
option(GPU_SIMILARITY_BUILD_EXAMPLES "Build the example programs" ${PROJECT_IS_TOP_LEVEL})
option(GPU_SIMILARITY_BUILD_CLI "Build the command gpu-similarity" ${PROJECT_IS_TOP_LEVEL})
option(GPU_SIMILARITY_STATIC_CLI
    "Link the command gpu-similarity statically, C library included, so that one file runs on any Linux; needs CUDA off" OFF)
option(GPU_SIMILARITY_BUILD_PYTHON "Build the extension module of the Python package; pip sets it" OFF)
option(GPU_SIMILARITY_BUILD_FUZZERS
    "Build the fuzzers of tests/fuzz: takes clang++ and GPU_SIMILARITY_SANITIZE; the preset asan sets both" OFF)
option(GPU_SIMILARITY_INSTALL "Generate the install rules" ${PROJECT_IS_TOP_LEVEL})
option(GPU_SIMILARITY_HARDENING
    "Protect the command, what reads its input, and the Python module: stack protector, checked C functions, RELRO, PIE" ON)
option(GPU_SIMILARITY_PRECOMPILED_HEADERS
    "Parse common headers once for each library: a third less to compile where no compiler cache helps" OFF)
option(GPU_SIMILARITY_UNITY_BUILD
    "Compile the sources of one folder together: a quarter of the processor time" ON)
option(GPU_SIMILARITY_WERROR "Treat warnings as errors" OFF)
set(GPU_SIMILARITY_SANITIZE "" CACHE STRING
    "Host sanitizers to build with, as -fsanitize takes them (address,undefined or thread)")
option(BUILD_SHARED_LIBS "Build a shared library" OFF)

if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()
set(CMAKE_EXPORT_COMPILE_COMMANDS ${PROJECT_IS_TOP_LEVEL})
