#include "io/npy_header.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <stdexcept>

namespace gpu::io {
namespace {

constexpr std::size_t preamble_bytes = 10;  // magic, version 1.0, two bytes of length

/// What stands behind `key` and its colon.
std::optional<std::string_view> value_of(std::string_view text, std::string_view key) {
  const std::size_t at = text.find(key);
  if (at == std::string_view::npos) return std::nullopt;
  const std::size_t colon = text.find(':', at + key.size());
  if (colon == std::string_view::npos) return std::nullopt;
  const std::size_t begin = text.find_first_not_of(' ', colon + 1);
  if (begin == std::string_view::npos) return std::nullopt;
  return text.substr(begin);
}

std::optional<std::vector<index_t>> parse_shape(std::string_view text) {
  const std::size_t end = text.find(')');
  if (!text.starts_with('(') || end == std::string_view::npos) return std::nullopt;
  std::vector<index_t> shape;
  const char* p = text.data() + 1;
  const char* const last = text.data() + end;
  while (p != last) {
    if (*p == ' ' || *p == ',' || *p == 'L') {
      ++p;
      continue;
    }
    index_t extent = 0;
    const auto [stopped, status] = std::from_chars(p, last, extent);
    if (status != std::errc{} || extent < 0) return std::nullopt;
    shape.push_back(extent);
    p = stopped;
  }
  return shape;
}

}  // namespace

std::optional<npy_header> parse_npy_header(std::string_view text) {
  const auto descr = value_of(text, "'descr'");
  const auto order = value_of(text, "'fortran_order'");
  const auto shape_text = value_of(text, "'shape'");
  if (!descr || !order || !shape_text) return std::nullopt;
  const auto shape = parse_shape(*shape_text);
  if (!shape || !(order->starts_with("True") || order->starts_with("False"))) return std::nullopt;

  npy_header header;
  header.fortran_order = order->starts_with("True");
  header.shape = *shape;
  if (descr->starts_with('\'')) {
    const std::size_t end = descr->find('\'', 1);
    if (end == std::string_view::npos) return std::nullopt;
    header.descr = std::string(descr->substr(1, end - 1));
  }
  return header;
}

std::string make_npy_header(std::string_view descr, const std::vector<index_t>& shape,
                            std::size_t bytes) {
  const std::string extents = shape.size() == 1 ? fmt::format("{},", shape.front())
                                                : fmt::format("{}", fmt::join(shape, ", "));
  const std::string dictionary =
      fmt::format("{{'descr': {}, 'fortran_order': False, 'shape': ({}), }}", descr, extents);
  const std::size_t length = bytes - preamble_bytes;
  if (dictionary.size() + 1 > length) {
    throw std::logic_error("make_npy_header: the header needs more room");
  }
  std::string out = "\x93NUMPY";
  out += '\x01';
  out += '\x00';
  out += static_cast<char>(length & 0xFF);
  out += static_cast<char>(length >> 8);
  out += dictionary;
  out.append(length - dictionary.size() - 1, ' ');
  out += '\n';
  return out;
}

}  // namespace gpu::io
