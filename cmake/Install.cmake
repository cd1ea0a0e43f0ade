# Install rules, the package that find_package(gpu_similarity CONFIG) finds, and gpu-similarity.pc.
# Relocatable: no path of the build machine is written into them. Components:
#   Runtime      the shared library
#   Development  headers, the static library or the link to the shared one, CMake package, pkg-config
#   Tools        the command
#   Licences     of this project and of the others' software in it
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/gpu_similarity")

install(TARGETS gpu_similarity EXPORT gpu_similarity-targets
  ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT Development
  LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT Runtime NAMELINK_COMPONENT Development
  RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT Runtime)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/gpu" "${GPU_SIMILARITY_GENERATED_INCLUDE}/gpu"
  DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT Development FILES_MATCHING PATTERN "*.hpp")
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" "${PROJECT_SOURCE_DIR}/THIRD_PARTY_NOTICES"
  DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT Licences)
# Of a shared library the command finds the one beside it, installed or in the build tree; a static
# one needs no path. The same path serves both places, so CMake need not rewrite it at installation:
# for that it would pad the path with empty entries, which the loader takes for the current folder.
set_target_properties(gpu_similarity PROPERTIES BUILD_WITH_INSTALL_RPATH ON)
if(TARGET gpu-similarity)
  set(command_paths "")
  if(BUILD_SHARED_LIBS)
    file(RELATIVE_PATH to_library "/${CMAKE_INSTALL_BINDIR}" "/${CMAKE_INSTALL_LIBDIR}")
    set(command_paths "$ORIGIN/${to_library}")
    get_target_property(command_folder gpu-similarity BINARY_DIR)
    get_target_property(library_folder gpu_similarity BINARY_DIR)
    file(RELATIVE_PATH to_library "${command_folder}" "${library_folder}")
    list(APPEND command_paths "$ORIGIN/${to_library}")
    list(REMOVE_DUPLICATES command_paths)
  endif()
  set_target_properties(gpu-similarity PROPERTIES INSTALL_RPATH "${command_paths}"
    INSTALL_RPATH_USE_LINK_PATH ON BUILD_WITH_INSTALL_RPATH ON)
  install(TARGETS gpu-similarity RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT Tools)
endif()

set(pages "")
if(TARGET gpu-similarity)
  get_target_property(pages gpu-similarity gpu_similarity_pages)
endif()
if(pages)
  install(FILES "${pages}/gpu-similarity.1" DESTINATION "${CMAKE_INSTALL_MANDIR}/man1"
    COMPONENT Tools)
  install(FILES "${pages}/gpu-similarity"
    DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions" COMPONENT Tools)
  install(FILES "${pages}/_gpu-similarity" DESTINATION "${CMAKE_INSTALL_DATADIR}/zsh/site-functions"
    COMPONENT Tools)
endif()

install(EXPORT gpu_similarity-targets NAMESPACE gpu:: DESTINATION "${package_dir}"
  COMPONENT Development)
configure_package_config_file(
  "${PROJECT_SOURCE_DIR}/cmake/gpu_similarity-config.cmake.in"
  "${PROJECT_BINARY_DIR}/gpu_similarity-config.cmake"
  INSTALL_DESTINATION "${package_dir}")
# Before 1.0 a new minor version may change the interface.
write_basic_package_version_file("${PROJECT_BINARY_DIR}/gpu_similarity-config-version.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES
  "${PROJECT_BINARY_DIR}/gpu_similarity-config.cmake"
  "${PROJECT_BINARY_DIR}/gpu_similarity-config-version.cmake"
  DESTINATION "${package_dir}" COMPONENT Development)

# pkg-config. A shared library brings what it needs. An installation has either library, so what a static one needs
# is in Libs: programs link without `pkg-config --static`.
file(RELATIVE_PATH to_prefix "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
string(REGEX REPLACE "/$" "" to_prefix "${to_prefix}")
set(pc_definitions "")
set(pc_libs "")
if(NOT BUILD_SHARED_LIBS)
  set(pc_definitions " -DGPU_SIMILARITY_STATIC_DEFINE")
  set(pc_libs " -pthread")
  if(GPU_SIMILARITY_OPENBLAS)
    string(APPEND pc_libs " -lopenblas")
  endif()
  if(GPU_SIMILARITY_CUDA)
    # Whoever links finds them in the toolkit: -L of its lib64 where that is not searched anyway.
    string(APPEND pc_libs " -lcudart_static -lrt -ldl")
  endif()
  string(APPEND pc_libs " -lstdc++ -lm")
endif()
configure_file("${PROJECT_SOURCE_DIR}/cmake/gpu-similarity.pc.in"
  "${PROJECT_BINARY_DIR}/gpu-similarity.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/gpu-similarity.pc"
  DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig" COMPONENT Development)
