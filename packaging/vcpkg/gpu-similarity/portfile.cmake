# An overlay port of this checkout: vcpkg install gpu-similarity --overlay-ports=packaging/vcpkg. The
# port of a release takes vcpkg_from_github instead of the next line.
get_filename_component(SOURCE_PATH "${CURRENT_PORT_DIR}/../../.." ABSOLUTE)

vcpkg_check_features(OUT_FEATURE_OPTIONS feature_options FEATURES
  cuda GPU_SIMILARITY_ENABLE_CUDA
  openblas GPU_SIMILARITY_ENABLE_OPENBLAS
  tools GPU_SIMILARITY_BUILD_CLI
  tools GPU_SIMILARITY_ENABLE_ZSTD)

# Each is ON or OFF: what is on the machine by chance changes nothing.
vcpkg_cmake_configure(SOURCE_PATH "${SOURCE_PATH}"
  OPTIONS
    ${feature_options}
    -DGPU_SIMILARITY_BUILD_TESTS=OFF
    -DGPU_SIMILARITY_BUILD_BENCH=OFF
    -DGPU_SIMILARITY_BUILD_EXAMPLES=OFF)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(PACKAGE_NAME gpu_similarity CONFIG_PATH lib/cmake/gpu_similarity)
vcpkg_fixup_pkgconfig()
if("tools" IN_LIST FEATURES)
  vcpkg_copy_tools(TOOL_NAMES gpu-similarity AUTO_CLEAN)
endif()

file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include" "${CURRENT_PACKAGES_DIR}/debug/share")
file(INSTALL "${CMAKE_CURRENT_LIST_DIR}/usage" DESTINATION "${CURRENT_PACKAGES_DIR}/share/${PORT}")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE" "${SOURCE_PATH}/THIRD_PARTY_NOTICES")
