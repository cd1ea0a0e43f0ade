#!/usr/bin/env bash
# ./dev clang: the CPU build by clang++ as a shared library, with warnings as errors: every entry
# point, the command, an installation, and std::mdspan as input with a standard library that has it.
set -euo pipefail
source tools/dev/common.sh

folder=${DEV_BUILD_DIR:-build/clang}
need build test tsan
# With little optimisation, which takes half as long to compile: what is asked here is warnings and symbols.
configure "$folder" -DGPU_SIMILARITY_ENABLE_CUDA=OFF -DGPU_SIMILARITY_WERROR=ON -DBUILD_SHARED_LIBS=ON \
  -DCMAKE_CXX_FLAGS_RELEASE="-O1 -DNDEBUG" -DGPU_SIMILARITY_PRECOMPILED_HEADERS=ON \
  -DGPU_SIMILARITY_BUILD_BENCH=OFF -DGPU_SIMILARITY_BUILD_EXAMPLES=OFF \
  -DCMAKE_INSTALL_PREFIX=/usr -DCMAKE_CXX_COMPILER=clang++-14 "$@"
# allocation_test calls every entry point: a symbol that is not visible, or an exception that does not
# cross the boundary of the library, shows there.
tests=(allocation_test execution_test rank_test discovery_test cli_test)
build "$folder" gpu-similarity "${tests[@]}"
say "running the tests"
ctest --test-dir "$folder" --output-on-failure --no-tests=error --parallel "$(nproc)" \
  --tests-regex "^($(IFS='|' && echo "${tests[*]}")|package/(find_package|binaries))\$"

# Of the libraries of Debian 12 and Ubuntu 24.04, LLVM's alone has std::mdspan, from version 18 on.
if ! (need mdspan); then
  say "skipped: std::mdspan, no clang++-19 with its library here"
  exit 0
fi
say "std::mdspan with LLVM's library"
newest=(clang++-19 -stdlib=libc++ -std=c++23 -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror
  -DFMT_HEADER_ONLY -Iinclude -I"$folder/gpu_similarity/include" -Isrc -Itests -I.)
[ -f /usr/include/catch2/catch_all.hpp ] || newest+=(-DGPU_SIMILARITY_CATCH_2)
"${newest[@]}" -fsyntax-only tests/execution/inputs_test.cpp
"${newest[@]}" tests/compile/mdspan.cpp src/api/matrix.cpp src/api/error.cpp src/base/memory_errors.cpp \
  src/base/memory/array_storage.cpp src/base/memory/large_pages.cpp -o "$folder/mdspan"
"$folder/mdspan"
