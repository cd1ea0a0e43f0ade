#pragma once
// Bytes of .npy files.

#include <cstdint>
#include <string>

namespace gpu_test {

/// What stands in front of the elements, in 64 or 128 bytes, as numpy writes it.
inline std::string npy_header(const std::string& descr, std::int64_t rows, std::int64_t cols) {
  std::string header = "{'descr': '" + descr + "', 'fortran_order': False, 'shape': (" +
                       std::to_string(rows) + ", " + std::to_string(cols) + "), }";
  constexpr std::size_t prefix = 10;
  while ((prefix + header.size() + 1) % 64 != 0) header += ' ';
  header += '\n';
  std::string out("\x93NUMPY\x01\x00", 8);
  out += static_cast<char>(header.size() & 0xffU);
  out += static_cast<char>(header.size() >> 8U);
  return out + header;
}

}  // namespace gpu_test
