# Builds for 64-bit Arm on a Debian or Ubuntu of another processor, for the CPU alone; tests run in
# an emulator:
#
#   apt-get install g++-aarch64-linux-gnu qemu-user-static
#   cmake --preset aarch64 && cmake --build --preset aarch64
#
# fmt, Boost.Math, CLI11 and Catch2 are used as headers, so the ones of this machine do. The command
# and the file formats are left out unless there is zlib for Arm: zlib1g-dev:arm64, or -DZLIB_ROOT of
# a folder that holds it, and -DGPU_SIMILARITY_BUILD_CLI=ON.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64-static -L /usr/aarch64-linux-gnu)

set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
file(GLOB fmt_config /usr/lib/*/cmake/fmt/fmt-config.cmake)
file(GLOB boost_config /usr/lib/*/cmake/Boost-*/BoostConfig.cmake)
cmake_path(GET fmt_config PARENT_PATH fmt_DIR)
cmake_path(GET boost_config PARENT_PATH Boost_DIR)
