#pragma once
// Catch2 in either of the versions that Debian 12 (2.13) and Ubuntu 24.04 (3.4) have.
#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
using Catch::Approx;
#else
#include <catch2/catch.hpp>
#endif
