#pragma once
// Zip archives and .npz files, written here so that every byte of them is known.

#include <zlib.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "io/npy_header.hpp"

namespace gpu_test {

inline std::string little_endian(std::uint64_t value, int bytes) {
  std::string out;
  for (int k = 0; k < bytes; ++k) out += static_cast<char>(value >> (8 * k) & 0xFF);
  return out;
}

inline std::string deflated(const std::string& bytes) {
  z_stream state{};
  deflateInit2(&state, 6, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&state, static_cast<uLong>(bytes.size())) + 16, '\0');
  state.next_in = reinterpret_cast<unsigned char*>(const_cast<char*>(bytes.data()));
  state.avail_in = static_cast<uInt>(bytes.size());
  state.next_out = reinterpret_cast<unsigned char*>(out.data());
  state.avail_out = static_cast<uInt>(out.size());
  deflate(&state, Z_FINISH);
  out.resize(state.total_out);
  deflateEnd(&state);
  return out;
}

using named_bytes = std::vector<std::pair<std::string, std::string>>;

/// An archive of `members`, stored or deflated; `is_long`: with sizes of 64 bits, as zipfile
/// writes large ones.
inline std::string zip_of(const named_bytes& members, bool is_deflated, bool is_long = false) {
  std::string out;
  std::string directory;
  for (const auto& [name, bytes] : members) {
    const std::string packed = is_deflated ? deflated(bytes) : bytes;
    const auto crc = crc32_z(0, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
    const std::uint64_t offset = out.size();
    const std::string method = little_endian(is_deflated ? 8 : 0, 2);
    const auto size32 = [&](std::uint64_t n) { return little_endian(is_long ? 0xFFFFFFFF : n, 4); };
    const std::string extra =
        is_long ? little_endian(1, 2) + little_endian(24, 2) + little_endian(bytes.size(), 8) +
                      little_endian(packed.size(), 8) + little_endian(offset, 8)
                : "";
    const std::string sums = little_endian(crc, 4) + size32(packed.size()) + size32(bytes.size());
    const std::string common = little_endian(45, 2) + little_endian(0, 2) + method +
                               little_endian(0, 4) + sums + little_endian(name.size(), 2) +
                               little_endian(extra.size(), 2);
    out += "PK\x03\x04" + common + name + extra + packed;
    directory += "PK\x01\x02" + little_endian(45, 2) + common + little_endian(0, 2) +
                 little_endian(0, 2) + little_endian(0, 2) + little_endian(0, 4) + size32(offset) +
                 name + extra;
  }
  const std::uint64_t begin = out.size();
  const std::uint64_t count = members.size();
  out += directory;
  if (is_long) {
    const std::uint64_t end = out.size();
    out += "PK\x06\x06" + little_endian(44, 8) + little_endian(45, 2) + little_endian(45, 2) +
           little_endian(0, 8) + little_endian(count, 8) + little_endian(count, 8) +
           little_endian(directory.size(), 8) + little_endian(begin, 8);
    out += "PK\x06\x07" + little_endian(0, 4) + little_endian(end, 8) + little_endian(1, 4);
  }
  const auto in_end = [&](std::uint64_t n, int bytes) {
    return little_endian(is_long ? ~std::uint64_t{0} : n, bytes);
  };
  out += "PK\x05\x06" + little_endian(0, 4) + in_end(count, 2) + in_end(count, 2) +
         in_end(directory.size(), 4) + in_end(begin, 4) + little_endian(0, 2);
  return out;
}

template <class T>
std::string npy_of(const std::string& descr, const std::vector<T>& values) {
  return gpu::io::make_npy_header("'" + descr + "'", {static_cast<gpu::index_t>(values.size())}) +
         std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}

inline std::string npy_of_text(const std::string& text) {
  return gpu::io::make_npy_header("'|S" + std::to_string(text.size()) + "'", {}) + text;
}

}  // namespace gpu_test
