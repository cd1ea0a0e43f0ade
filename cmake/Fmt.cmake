# fmt, of which the headers are used, inside the library: those of the system; else those that a source
# distribution of the Python package carries; else, where GPU_SIMILARITY_FETCH_FMT asks for it, a download.
find_package(fmt QUIET)
set(gpu_similarity_carried_fmt "${CMAKE_CURRENT_LIST_DIR}/../carried/fmt")
if(fmt_FOUND)
  get_target_property(gpu_similarity_fmt_headers fmt::fmt INTERFACE_INCLUDE_DIRECTORIES)
else()
  if(EXISTS "${gpu_similarity_carried_fmt}/fmt/core.h")
    message(STATUS "gpu_similarity: no fmt; the headers in carried/fmt are taken")
    set(gpu_similarity_fmt_headers "${gpu_similarity_carried_fmt}")
  elseif(GPU_SIMILARITY_FETCH_FMT)
    message(STATUS "gpu_similarity: no fmt; its headers are downloaded")
    include(FetchContent)
    # A folder without CMakeLists.txt: the headers are all that is used.
    FetchContent_Declare(fmt SOURCE_SUBDIR include
      URL "https://github.com/fmtlib/fmt/archive/refs/tags/10.2.1.tar.gz"
      URL_HASH SHA256=1250e4cc58bf06ee631567523f48848dc4596133e163f02615c97f78bab6c811)
    FetchContent_MakeAvailable(fmt)
    set(gpu_similarity_fmt_headers "${fmt_SOURCE_DIR}/include")
  else()
    message(FATAL_ERROR "fmt was not found. Install it (libfmt-dev, fmt-devel), say where it is by fmt_DIR, or "
      "set GPU_SIMILARITY_FETCH_FMT=ON, which downloads its headers")
  endif()
  add_library(fmt::fmt INTERFACE IMPORTED)
  target_include_directories(fmt::fmt INTERFACE "${gpu_similarity_fmt_headers}")
endif()

# pip configures the project once to make a source distribution: it gets the headers, so that it builds
# where nothing but a compiler is.
function(gpu_similarity_carry_fmt)
  file(REMOVE_RECURSE "${gpu_similarity_carried_fmt}")
  file(GLOB headers "${gpu_similarity_fmt_headers}/fmt/*.h")
  if(NOT headers)
    message(FATAL_ERROR "no headers of fmt in ${gpu_similarity_fmt_headers}/fmt")
  endif()
  file(COPY ${headers} DESTINATION "${gpu_similarity_carried_fmt}/fmt")
endfunction()
