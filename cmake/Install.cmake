# Install rules and the package that find_package(gpu_similarity CONFIG) finds. Relocatable: no
# path of the build machine is written into it.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/gpu_similarity")

install(TARGETS gpu_similarity EXPORT gpu_similarity-targets
  ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}"
  LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}"
  RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/gpu" "${PROJECT_BINARY_DIR}/include/gpu"
  DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" FILES_MATCHING PATTERN "*.hpp"
  PATTERN "mpi.hpp" EXCLUDE)
if(TARGET gpu_similarity_mpi)
  install(FILES "${PROJECT_SOURCE_DIR}/include/gpu/mpi.hpp" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/gpu")
  install(TARGETS gpu_similarity_mpi EXPORT gpu_similarity-targets
    ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}"
    LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}"
    RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
endif()
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DOCDIR}")
# Of a shared library the commands find the one beside them; a static one needs no path.
set(command_path "")
if(BUILD_SHARED_LIBS)
  file(RELATIVE_PATH to_library "/${CMAKE_INSTALL_BINDIR}" "/${CMAKE_INSTALL_LIBDIR}")
  set(command_path "$ORIGIN/${to_library}")
endif()
if(TARGET gpu-similarity)
  set_target_properties(gpu-similarity PROPERTIES INSTALL_RPATH "${command_path}")
  install(TARGETS gpu-similarity RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
endif()
if(TARGET gpu-similarity-mpi)
  set_target_properties(gpu-similarity-mpi PROPERTIES INSTALL_RPATH "${command_path}")
  install(TARGETS gpu-similarity-mpi RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
endif()

install(EXPORT gpu_similarity-targets NAMESPACE gpu:: DESTINATION "${package_dir}")
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
  DESTINATION "${package_dir}")
