# Decides whether the CUDA backend is built: sets GPU_SIMILARITY_CUDA to ON or OFF, and what it is
# built for.
include(CheckLanguage)
set(GPU_SIMILARITY_CUDA OFF)
set(cuda_adds "CUDA adds NVIDIA GPUs, with the same results; -DGPU_SIMILARITY_ENABLE_CUDA=OFF leaves it out")

# gpu_similarity_release_architectures(OUT VERSION): machine code for every generation that users
# have, as far as a toolkit of this version compiles for it. Compute capability 9.0 has kernels of
# its own, which take 90a. No kernel asks for more than 9.0, so its PTX is the one that later devices
# compile: that of 12.0 would leave out those of 11.0.
function(gpu_similarity_release_architectures out version)
  set(list 75-real 80-real 86-real 89-real 90a-real)
  if(version VERSION_GREATER_EQUAL 12.8)
    list(APPEND list 100-real 120-real)
  endif()
  set(${out} "${list};90-virtual" PARENT_SCOPE)
endfunction()

if(NOT GPU_SIMILARITY_ENABLE_CUDA STREQUAL "OFF")
  # A short default list: one binary per generation that differs in what the kernels use, and PTX
  # of the newest so that later devices run too. A list set by the user is left alone.
  if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
    set(own_list ON)
    set(CMAKE_CUDA_ARCHITECTURES "75-real;80-real;90a-real;90-virtual")
  endif()
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    enable_language(CUDA)
    # CMake 3.25.1 does not know yet that nvcc takes C++20.
    if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
      set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
      set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION "-std=c++20")
      list(APPEND CMAKE_CUDA_COMPILE_FEATURES cuda_std_20)
    endif()
    find_package(CUDAToolkit REQUIRED)
    if(CUDAToolkit_VERSION VERSION_GREATER_EQUAL 12.4)
      set(GPU_SIMILARITY_CUDA ON)
    endif()
  endif()
  if(NOT GPU_SIMILARITY_CUDA)
    set(reason "no CUDA compiler of version 12.4 or newer was found")
    if(GPU_SIMILARITY_ENABLE_CUDA STREQUAL "ON")
      message(FATAL_ERROR "GPU_SIMILARITY_ENABLE_CUDA is ON, but ${reason}")
    endif()
    message(STATUS "gpu_similarity: CPU only, because ${reason}. ${cuda_adds}")
  endif()
endif()
if(GPU_SIMILARITY_CUDA AND own_list AND GPU_SIMILARITY_RELEASE_ARCHITECTURES)
  gpu_similarity_release_architectures(CMAKE_CUDA_ARCHITECTURES ${CUDAToolkit_VERSION})
endif()
# A long list makes a large binary, which the toolkit can press.
list(LENGTH CMAKE_CUDA_ARCHITECTURES architecture_count)
if(GPU_SIMILARITY_CUDA AND architecture_count GREATER 4 AND CUDAToolkit_VERSION VERSION_GREATER_EQUAL 12.8)
  add_compile_options($<$<COMPILE_LANGUAGE:CUDA>:--compress-mode=size>)
endif()

# The list in numbers, which the library and its tests know: of "all", "all-major" and "native" too. Commas stand
# between them: a definition of the compiler that holds a semicolon becomes two.
set(GPU_SIMILARITY_ARCHITECTURES "")
foreach(architecture IN LISTS CMAKE_CUDA_ARCHITECTURES)
  if(architecture MATCHES "^[0-9]+[af]?(-real|-virtual)?$")
    list(APPEND GPU_SIMILARITY_ARCHITECTURES ${architecture})
  elseif(architecture MATCHES "^(all|all-major|native)$")
    string(TOUPPER "${architecture}" which)
    string(REPLACE "-" "_" which "${which}")
    foreach(one IN LISTS CMAKE_CUDA_ARCHITECTURES_${which})
      list(APPEND GPU_SIMILARITY_ARCHITECTURES ${one})
    endforeach()
  endif()
endforeach()
list(JOIN GPU_SIMILARITY_ARCHITECTURES "," GPU_SIMILARITY_ARCHITECTURES)

# Whether there is code for the warpgroup products of compute capability 9.0.
set(GPU_SIMILARITY_WARPGROUP_CODE OFF)
if(GPU_SIMILARITY_CUDA AND "${CMAKE_CUDA_ARCHITECTURES}" MATCHES "90a")
  set(GPU_SIMILARITY_WARPGROUP_CODE ON)
endif()
if(GPU_SIMILARITY_CUDA)
  message(STATUS "gpu_similarity: CPU and CUDA ${CUDAToolkit_VERSION}. ${cuda_adds}. Architectures ${CMAKE_CUDA_ARCHITECTURES}")
elseif(GPU_SIMILARITY_ENABLE_CUDA STREQUAL "OFF")
  message(STATUS "gpu_similarity: CPU only, as asked. ${cuda_adds}")
endif()
