// Decompression: of any bytes beside zlib in one call, and of members that are made here.
#include <fuzzer/FuzzedDataProvider.h>
#include <zlib.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "fuzz/expect.hpp"
#include "fuzz/memory_stream.hpp"
#include "io/io_error.hpp"
#include "io/read/gzip_stream.hpp"

namespace {

using gpu_test::expect;

constexpr int gzip_window = 15 + 16;
constexpr std::uint64_t most_bytes = 1 << 16;

/// All that `bytes` unpack to, or nothing where they are refused.
std::optional<std::string> unpack(const std::string& bytes, std::size_t piece,
                                  std::uint64_t limit = most_bytes) {
  try {
    gpu::io::gzip_stream stream(std::make_unique<gpu_test::memory_stream>(bytes), "gzip", limit);
    std::string out;
    std::string part(piece, '\0');
    for (;;) {
      const std::size_t got = stream.read(part);
      expect(got <= part.size(), "more than there is room for");
      out.append(part, 0, got);
      if (got < part.size()) return out;
    }
  } catch (const gpu::io::input_error&) {
    return std::nullopt;
  }
}

/// A decompressor in its first state. It is kept, because making one takes longer than most inputs.
z_stream& fresh_inflater() {
  static z_stream state = {};
  static const int made = inflateInit2(&state, gzip_window);
  expect(made == Z_OK && inflateReset(&state) == Z_OK, "zlib");
  return state;
}

/// One member from its beginning, by zlib in one call; moves behind it. False where it is refused.
bool take_member(std::string& bytes, std::string& out) {
  z_stream& state = fresh_inflater();
  static std::string part(most_bytes + 1, '\0');
  state.next_in = reinterpret_cast<Bytef*>(bytes.data());
  state.avail_in = static_cast<uInt>(bytes.size());
  state.next_out = reinterpret_cast<Bytef*>(part.data());
  state.avail_out = static_cast<uInt>(part.size());
  const bool is_whole = inflate(&state, Z_FINISH) == Z_STREAM_END;
  out.append(part, 0, part.size() - state.avail_out);
  bytes.erase(0, bytes.size() - state.avail_in);
  return is_whole;
}

/// What gzip(1) makes of `bytes`, or nothing where it complains.
std::optional<std::string> reference_unpack(std::string bytes) {
  std::string out;
  do {
    if (!take_member(bytes, out) || out.size() > most_bytes) return std::nullopt;
  } while (!bytes.empty() && bytes.front() == '\x1f');
  if (bytes.find_first_not_of('\0') != std::string::npos) return std::nullopt;
  return out;
}

std::string packed(const std::string& text, int level) {
  z_stream state = {};
  // Small, for speed.
  constexpr int small_window = 9 + 16;
  constexpr int memory_level = 1;
  expect(deflateInit2(&state, level, Z_DEFLATED, small_window, memory_level, Z_DEFAULT_STRATEGY) ==
             Z_OK,
         "zlib");
  std::string out(deflateBound(&state, text.size()), '\0');
  std::string input = text;
  state.next_in = reinterpret_cast<Bytef*>(input.data());
  state.avail_in = static_cast<uInt>(input.size());
  state.next_out = reinterpret_cast<Bytef*>(out.data());
  state.avail_out = static_cast<uInt>(out.size());
  expect(deflate(&state, Z_FINISH) == Z_STREAM_END, "zlib");
  out.resize(out.size() - state.avail_out);
  deflateEnd(&state);
  return out;
}

/// Members of known text: whole, padded, cut, too long.
void unpack_members(FuzzedDataProvider& input, std::size_t piece) {
  std::string text;
  std::string bytes;
  const int members = input.ConsumeIntegralInRange<int>(1, 3);
  // 3 members of 300 bytes, 50 times: below the limit.
  for (int k = 0; k < members; ++k) {
    std::string part = input.ConsumeRandomLengthString(300);
    const auto repeats = input.ConsumeIntegralInRange<int>(1, 50);
    std::string whole;
    for (int r = 0; r < repeats; ++r) whole += part;
    text += whole;
    bytes += packed(whole, input.ConsumeIntegralInRange<int>(0, 9));
  }
  const std::string padding(input.ConsumeIntegralInRange<std::size_t>(0, 600), '\0');
  expect(unpack(bytes + padding, piece) == text, "what was packed");
  expect(unpack(bytes, piece, text.size()) == text, "what was packed, at its limit");
  if (!text.empty()) {
    expect(!unpack(bytes, piece, text.size() - 1), "more than the limit is taken");
  }
  const std::size_t kept = input.ConsumeIntegralInRange<std::size_t>(0, bytes.size() - 1);
  const std::string cut = bytes.substr(0, kept);
  // Cut between members, it is whole.
  expect(unpack(cut, piece) == reference_unpack(cut), "what was cut");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  FuzzedDataProvider input(data, size);
  const bool makes_members = input.ConsumeBool();
  const auto piece = input.ConsumeIntegralInRange<std::size_t>(1, 5000);
  if (makes_members) {
    unpack_members(input, piece);
  } else {
    std::string bytes = input.ConsumeRemainingBytesAsString();
    if (!bytes.starts_with("\x1f")) bytes = packed(bytes, 1) + bytes;
    expect(unpack(bytes, piece) == reference_unpack(bytes), "beside zlib");
  }
  return 0;
}
