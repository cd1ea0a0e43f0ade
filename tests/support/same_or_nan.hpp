#pragma once
// Whether two statistics are the same.

namespace gpu_test {

inline bool same_or_nan(double a, double b) {
  return a == b || (a != a && b != b);
}

}  // namespace gpu_test
