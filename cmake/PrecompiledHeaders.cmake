# gpu_similarity_precompile(target): what most sources include is parsed once for the target, where
# GPU_SIMILARITY_PRECOMPILED_HEADERS is ON. Builds that share a compiler cache leave it off: the same
# source has one entry there, whatever builds it.
function(gpu_similarity_precompile target)
  if(NOT GPU_SIMILARITY_PRECOMPILED_HEADERS)
    return()
  endif()
  target_precompile_headers(${target} PRIVATE
    "$<$<COMPILE_LANGUAGE:CXX>:${PROJECT_SOURCE_DIR}/cmake/precompiled.hpp>")
  set_target_properties(${target} PROPERTIES PCH_WARN_INVALID OFF)
  # Headers that were compiled with other options do not fit.
  get_target_property(sources ${target} SOURCES)
  foreach(source IN LISTS sources)
    get_source_file_property(options "${source}" COMPILE_OPTIONS)
    get_source_file_property(definitions "${source}" COMPILE_DEFINITIONS)
    if(options OR definitions)
      set_source_files_properties("${source}" PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
    endif()
  endforeach()
endfunction()
