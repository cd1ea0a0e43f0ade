# gpu_similarity_unite(target): the sources of one folder are compiled together, where GPU_SIMILARITY_UNITY_BUILD is
# ON. Most of a compilation is headers: this takes a quarter of the processor time. Within a folder two files must
# then not give one name, macro or hidden function to two things. A source with options of its own stays alone.
function(gpu_similarity_unite target)
  if(NOT GPU_SIMILARITY_UNITY_BUILD)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  # A type in a file's unnamed namespace belongs to all files of its folder here; GCC warns as if it came from a header.
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-subobject-linkage>)
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources INCLUDE REGEX "\\.cpp$")
  foreach(source IN LISTS sources)
    cmake_path(GET source PARENT_PATH folder)
    string(MAKE_C_IDENTIFIER "in_${folder}" folder)
    set_source_files_properties("${source}" PROPERTIES UNITY_GROUP "${folder}")
  endforeach()
endfunction()
