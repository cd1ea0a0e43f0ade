#include "io/read/sparse/npz_arrays.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "io/io_error.hpp"
#include "io/npy_header.hpp"
#include "io/read/npy_reader.hpp"

namespace gpu::io {
struct npz_arrays::opened {
  std::unique_ptr<byte_stream> bytes;
  npy_header header;
  std::string name;

  // The next values to all of `out`.
  template <class T>
  void read(std::span<T> out, const npz_arrays& arrays) const {
    const std::size_t got = bytes->read({reinterpret_cast<char*>(out.data()), out.size_bytes()});
    if (got < out.size_bytes()) arrays.fail(name, "has fewer bytes than its shape says");
  }
  // Nothing may follow; this reads the sum of an array without elements, too.
  void end(const npz_arrays& arrays) const {
    char extra = 0;
    if (bytes->read({&extra, 1}) != 0) arrays.fail(name, "has more bytes than its shape says");
  }
};

void npz_arrays::fail(std::string_view name, const std::string& what) const {
  throw input_error(file_, {}, fmt::format("array {} {}", io::quoted(name), what));
}

bool npz_arrays::holds(std::string_view name) const {
  return archive_.find(std::string(name) + ".npy") != nullptr;
}

npz_arrays::opened npz_arrays::open(std::string_view name) const {
  const zip_member* const member = archive_.find(std::string(name) + ".npy");
  if (member == nullptr) fail(name, "is not there");
  opened out{.bytes = archive_.open(*member), .header = {}, .name = std::string(name)};
  out.header = read_npy_header(*out.bytes, file_ + ": " + std::string(name));
  return out;
}

npz_arrays::opened npz_arrays::open_vector(std::string_view name, index_t count) const {
  opened out = open(name);
  if (out.header.shape.size() != 1) {
    fail(name, fmt::format("has {} dimensions, expected 1", out.header.shape.size()));
  }
  if (count >= 0 && out.header.shape[0] != count) {
    fail(name, fmt::format("has {} elements, expected {}", out.header.shape[0], count));
  }
  // Before memory is taken: a header may promise anything.
  if (static_cast<std::uint64_t>(out.header.shape[0]) > out.bytes->most_bytes()) {
    fail(name,
         fmt::format("has {} elements in {} bytes", out.header.shape[0], out.bytes->most_bytes()));
  }
  return out;
}

std::string npz_arrays::text(std::string_view name) const {
  const opened from = open(name);
  constexpr std::size_t longest = 64;
  const std::string& descr = from.header.descr;
  const std::uint64_t bytes = from.bytes->most_bytes();
  const bool is_text = descr.starts_with("|S") || descr.starts_with("<U");
  if (!from.header.shape.empty() || !is_text || bytes > longest) fail(name, "is not a short text");
  std::string all(static_cast<std::size_t>(bytes), '\0');
  from.read(std::span(all), *this);
  from.end(*this);
  // Four bytes a letter, or one.
  std::erase(all, '\0');
  return all;
}

index_t npz_arrays::length(std::string_view name) const {
  return open_vector(name, -1).header.shape[0];
}

template <class Index>
array<Index> npz_arrays::integers(std::string_view name, index_t count, index_t least,
                                  index_t most) const {
  const opened from = open_vector(name, count);
  array<Index> out(static_cast<std::size_t>(count));
  constexpr std::size_t piece_values = std::size_t{1} << 16;
  const auto read = [&]<class T>(T) {
    if constexpr (!std::is_integral_v<T>) {
      fail(name, fmt::format("is of type {}, expected integers", io::quoted(from.header.descr)));
    } else {
      std::vector<T> piece;
      for (std::size_t done = 0; done < out.size(); done += piece.size()) {
        piece.resize(std::min(piece_values, out.size() - done));
        from.read(std::span<T>(piece), *this);
        for (std::size_t k = 0; k < piece.size(); ++k) {
          if (std::cmp_less(piece[k], least) || std::cmp_greater(piece[k], most)) {
            fail(name,
                 fmt::format("has {} at {}, expected {} to {}", piece[k], done + k, least, most));
          }
          out[done + k] = static_cast<Index>(piece[k]);
        }
      }
    }
  };
  if (!with_npy_type<std::int8_t>(from.header.descr, read)) {
    fail(name, fmt::format("is of type {}, expected integers", io::quoted(from.header.descr)));
  }
  from.end(*this);
  return out;
}

template array<std::int32_t> npz_arrays::integers(std::string_view, index_t, index_t,
                                                  index_t) const;
template array<std::int64_t> npz_arrays::integers(std::string_view, index_t, index_t,
                                                  index_t) const;

template <class T>
void npz_arrays::check_bools(std::string_view name, const array<T>& values) const {
  const auto wrong = std::find_if(values.begin(), values.end(),
                                  [](T value) { return value != T{0} && value != T{1}; });
  if (wrong == values.end()) return;
  fail(name, fmt::format("is of bool and has the byte {} at {}, expected 0 or 1",
                         static_cast<int>(*wrong) & 0xFF, wrong - values.begin()));
}

any_sparse_values npz_arrays::values(std::string_view name, index_t count) const {
  const opened from = open_vector(name, count);
  any_sparse_values out;
  const auto read = [&]<class T>(T) {
    constexpr bool is_narrowed =
        std::is_integral_v<T> && (sizeof(T) > 4 || std::is_same_v<T, std::uint32_t>);
    if constexpr (!is_narrowed) {
      if (static_cast<std::uint64_t>(count) > from.bytes->most_bytes() / sizeof(T)) {
        fail(name, "has fewer bytes than its shape says");
      }
      array<T> values(static_cast<std::size_t>(count));
      from.read(std::span<T>(values.data(), values.size()), *this);
      if (from.header.descr.ends_with("b1")) check_bools(name, values);
      out = std::move(values);
    }
  };
  const std::string_view descr = from.header.descr;
  const bool is_wide = descr == "<i8" || descr == "<u8" || descr == "<u4";
  if (is_wide) {
    return integers<std::int32_t>(name, count, std::numeric_limits<std::int32_t>::min(),
                                  std::numeric_limits<std::int32_t>::max());
  }
  if (!with_npy_type<std::int8_t>(from.header.descr, read)) {
    fail(name,
         fmt::format("is of type {}, expected {}, little endian", io::quoted(descr), npy_types));
  }
  from.end(*this);
  return out;
}

}  // namespace gpu::io
