#pragma once
// The header of a .npy file: a Python dictionary in ASCII.

#include <cstdint>
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

/// use(T{}) for the type of the elements that `descr` says, uint8 of bool; false for another type.
template <class Use>
bool with_npy_type(std::string_view descr, const Use& use) {
  if (descr.find_first_of("<|=") != 0) return false;
  const std::string_view type = descr.substr(1);
  const auto is = [&]<class T>(std::string_view name, T value) {
    if (type == name) use(value);
    return type == name;
  };
  return is("b1", std::uint8_t{}) || is("i1", std::int8_t{}) || is("i2", std::int16_t{}) ||
         is("i4", std::int32_t{}) || is("i8", std::int64_t{}) || is("u1", std::uint8_t{}) ||
         is("u2", std::uint16_t{}) || is("u4", std::uint32_t{}) || is("u8", std::uint64_t{}) ||
         is("f4", float{}) || is("f8", double{});
}

inline constexpr std::string_view npy_types =
    "bool, int8, int16, int32, int64, uint8, uint16, uint32, uint64, float32 or float64";

/// The values behind the header, as they are written.
template <class T>
[[nodiscard]] std::string_view bytes_of(std::span<const T> values) {
  return {reinterpret_cast<const char*>(values.data()), values.size_bytes()};
}

}  // namespace gpu::io
