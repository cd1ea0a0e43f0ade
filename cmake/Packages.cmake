# What `cpack` makes of a build: .deb files of the library, its headers and the commands, or one
# archive of everything. The preset `packages` builds what a distribution ships.
set(CPACK_PACKAGE_NAME gpu-similarity)
set(CPACK_PACKAGE_VENDOR "gpu-similarity")
set(CPACK_PACKAGE_CONTACT "The gpu-similarity maintainers <maintainers@gpu-similarity.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Significant correlations among all pairs of rows")
set(CPACK_PACKAGE_VERSION "${PROJECT_VERSION}")
set(CPACK_RESOURCE_FILE_LICENSE "${PROJECT_SOURCE_DIR}/LICENSE")
set(CPACK_PACKAGE_CHECKSUM SHA256)
set(CPACK_STRIP_FILES ON)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_THREADS 0)
if(NOT CPACK_GENERATOR)
  set(CPACK_GENERATOR DEB)
endif()

set(CPACK_COMPONENTS_ALL Development)
set(soversion "${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}")
if(BUILD_SHARED_LIBS)
  list(APPEND CPACK_COMPONENTS_ALL Runtime)
  set(library_package "libgpu-similarity${soversion}")
  set(needs_library "${library_package} (= ${PROJECT_VERSION})")
endif()
if(TARGET gpu-similarity)
  list(APPEND CPACK_COMPONENTS_ALL Tools)
endif()

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS "${PROJECT_BINARY_DIR}/src")
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_HOMEPAGE "${PROJECT_HOMEPAGE_URL}")
set(about "Which rows of a table move together, among all pairs, and how surely: Spearman\n and Pearson correlation with p-values, exact, on the CPU and on CUDA.")

set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME "${library_package}")
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SECTION libs)
set(CPACK_COMPONENT_RUNTIME_DESCRIPTION "${about}
 This package holds the library.")

set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libgpu-similarity-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION "${about}
 This package holds the headers.")
if(BUILD_SHARED_LIBS)
  set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "${needs_library}")
elseif(GPU_SIMILARITY_OPENBLAS)
  set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "libopenblas-dev")
endif()

set(CPACK_DEBIAN_TOOLS_PACKAGE_NAME gpu-similarity)
set(CPACK_DEBIAN_TOOLS_PACKAGE_SECTION science)
set(CPACK_DEBIAN_TOOLS_PACKAGE_DEPENDS "${needs_library}")
set(CPACK_COMPONENT_TOOLS_DESCRIPTION "${about}
 This package holds the command.")

# Debian's policy: /usr/share/doc/PACKAGE/copyright, in packages of their own each.
file(READ "${PROJECT_SOURCE_DIR}/THIRD_PARTY_NOTICES" notices)
file(WRITE "${PROJECT_BINARY_DIR}/copyright"
  "gpu-similarity is under the Apache License 2.0; on Debian systems its text is in\n"
  "/usr/share/common-licenses/Apache-2.0.\n\n${notices}")
foreach(component IN LISTS CPACK_COMPONENTS_ALL)
  string(TOUPPER ${component} upper)
  install(FILES "${PROJECT_BINARY_DIR}/copyright" COMPONENT ${component} EXCLUDE_FROM_ALL
    DESTINATION "${CMAKE_INSTALL_DATAROOTDIR}/doc/${CPACK_DEBIAN_${upper}_PACKAGE_NAME}")
endforeach()

include(CPack)
