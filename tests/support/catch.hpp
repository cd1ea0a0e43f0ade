#pragma once
// Catch2 in either of the versions that Debian 12 (2.13) and Ubuntu 24.04 (3.4) have. The build
// says which one it found: the compiler may see the headers of both.
#ifdef GPU_SIMILARITY_CATCH_2
#include <catch2/catch.hpp>
#else
#include <catch2/catch_all.hpp>
using Catch::Approx;
#endif
