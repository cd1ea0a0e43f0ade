# gpu_similarity_warnings(target): the warnings every target of this project is built with.
function(gpu_similarity_warnings target)
  set(host -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion)
  set(device -Wall -Wextra)
  if(NOT GPU_SIMILARITY_CUDA)
    # Functions of the CUDA backend throw and use none (src/base/cuda_function.hpp); builds with CUDA warn.
    list(APPEND host -Wno-unused-parameter)
  endif()
  if(GPU_SIMILARITY_WERROR)
    list(APPEND host -Werror)
    list(APPEND device -Werror)
    target_compile_options(${target} PRIVATE
      $<$<COMPILE_LANGUAGE:CUDA>:--Werror=all-warnings>)
  endif()
  string(REPLACE ";" "," device_list "${device}")
  target_compile_options(${target} PRIVATE
    $<$<COMPILE_LANGUAGE:CXX>:${host}>
    $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=${device_list}>)
  if(GPU_SIMILARITY_SANITIZE)
    target_compile_options(${target} PRIVATE
      $<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${GPU_SIMILARITY_SANITIZE};-fno-omit-frame-pointer>
      # GCC says of this warning itself that sanitizers make it guess.
      $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
    target_link_options(${target} PRIVATE -fsanitize=${GPU_SIMILARITY_SANITIZE})
  endif()
endfunction()
