#pragma once
// What a fuzzer does with a finding.

#include <cstdio>
#include <cstdlib>

namespace gpu_test {

/// Ends the program where `holds` is false; libFuzzer then keeps the input.
inline void expect(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "finding: %s\n", what);
  std::abort();
}

}  // namespace gpu_test
