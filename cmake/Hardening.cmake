# gpu_similarity_harden(target): what makes memory errors of a program harder to use. For what reads
# files and arguments: the command, its libraries and the Python module. The library's own loops are
# compiled without the checks of stack and buffers, because they read no input of unknown form and spend
# their time in small blocks on the stack; it gets the protections of the linker.
include(CheckPIESupported)
check_pie_supported(LANGUAGES CXX)

function(gpu_similarity_harden target)
  if(NOT GPU_SIMILARITY_HARDENING OR GPU_SIMILARITY_SANITIZE OR NOT CMAKE_SYSTEM_NAME STREQUAL "Linux")
    return()
  endif()
  get_target_property(type ${target} TYPE)
  if(NOT target STREQUAL "gpu_similarity")
    # Checked functions of the C library take optimisation.
    target_compile_options(${target} PRIVATE
      $<$<COMPILE_LANGUAGE:CXX>:-fstack-protector-strong>
      $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<NOT:$<CONFIG:Debug>>>:-U_FORTIFY_SOURCE>
      $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<NOT:$<CONFIG:Debug>>>:-D_FORTIFY_SOURCE=2>)
  endif()
  if(type STREQUAL "STATIC_LIBRARY" OR type STREQUAL "OBJECT_LIBRARY")
    return()
  endif()
  target_link_options(${target} PRIVATE LINKER:-z,relro LINKER:-z,now LINKER:-z,noexecstack)
  if(type STREQUAL "EXECUTABLE" AND NOT GPU_SIMILARITY_STATIC_CLI)
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  elseif(NOT type STREQUAL "EXECUTABLE")
    # What is linked in from archives (cudart, say) is no part of the interface.
    target_link_options(${target} PRIVATE LINKER:--exclude-libs,ALL)
    if(type STREQUAL "SHARED_LIBRARY")
      # A symbol that nothing defines ends the link of the library, not that of the program that uses it.
      target_link_options(${target} PRIVATE LINKER:-z,defs)
    endif()
  endif()
endfunction()
