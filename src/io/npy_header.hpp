#pragma once
// The header of a .npy file: a Python dictionary in ASCII.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <gpu/index.hpp>

namespace gpu::io {

struct npy_header {
  std::string descr;  // "<i4", "|u1", ...; empty for a structured type
  bool fortran_order = false;
  std::vector<index_t> shape;
};

/// The dictionary of `text`, or nothing where it is none with the three known keys and no other.
[[nodiscard]] std::optional<npy_header> parse_npy_header(std::string_view text);

/// Magic, version and dictionary of a C-order array, `bytes` long in all (a multiple of 64), so
/// that it can be replaced in place when the shape is known. `descr` is Python: "'<f8'" or a list.
[[nodiscard]] std::string make_npy_header(std::string_view descr, const std::vector<index_t>& shape,
                                          std::size_t bytes = 128);

/// The values behind the header, as they are written.
template <class T>
[[nodiscard]] std::string_view bytes_of(std::span<const T> values) {
  return {reinterpret_cast<const char*>(values.data()), values.size_bytes()};
}

}  // namespace gpu::io
