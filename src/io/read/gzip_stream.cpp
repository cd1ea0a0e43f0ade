#include "io/read/gzip_stream.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <utility>

#include "io/io_error.hpp"

namespace gpu::io {
namespace {

constexpr std::uint64_t most_buffered = std::uint64_t{1} << 18;
constexpr std::uint64_t least_buffered = std::uint64_t{1} << 12;  // a file may grow
constexpr std::size_t most_bytes_of_a_call = std::size_t{16} << 20;

}  // namespace

gzip_stream::gzip_stream(std::unique_ptr<byte_stream> compressed, std::string name,
                         std::uint64_t max_bytes, zlib_memory memory)
    : compressed_(std::move(compressed)),
      name_(std::move(name)),
      max_bytes_(max_bytes),
      buffer_bytes_(static_cast<std::size_t>(
          std::clamp(compressed_->most_bytes(), least_buffered, most_buffered))),
      buffer_(std::make_unique_for_overwrite<char[]>(buffer_bytes_)) {
  state_.zalloc = memory.take;
  state_.zfree = memory.give_back;
  constexpr int window_bits = 15;
  constexpr int gzip_header = 16;
  if (inflateInit2(&state_, window_bits + gzip_header) != Z_OK) throw std::bad_alloc();
}

gzip_stream::~gzip_stream() {
  inflateEnd(&state_);
}

std::size_t gzip_stream::read(std::span<char> out) {
  std::size_t filled = 0;
  while (filled < out.size() && place_ != place::at_end) {
    if (state_.avail_in == 0 && !refill()) {
      if (place_ == place::in_member) fail("the compressed data ends too early: it is truncated");
      place_ = place::at_end;
    } else if (place_ == place::behind_member) {
      look_behind_member();
    } else {
      inflate_to(out, filled);
    }
  }
  return filled;
}

/// Whether there is more compressed data.
bool gzip_stream::refill() {
  const std::size_t got = compressed_->read({buffer_.get(), buffer_bytes_});
  state_.next_in = reinterpret_cast<Bytef*>(buffer_.get());
  state_.avail_in = static_cast<uInt>(got);
  return got > 0;
}

void gzip_stream::inflate_to(std::span<char> out, std::size_t& filled) {
  // One byte beyond the limit tells a table of just that size from a larger one.
  const std::uint64_t allowed = std::max(max_bytes_ - unpacked_bytes_, std::uint64_t{1});
  const std::size_t room = static_cast<std::size_t>(
      std::min<std::uint64_t>({out.size() - filled, most_bytes_of_a_call, allowed}));
  state_.next_out = reinterpret_cast<Bytef*>(out.data() + filled);
  state_.avail_out = static_cast<uInt>(room);
  const int status = inflate(&state_, Z_NO_FLUSH);
  const std::size_t got = room - state_.avail_out;
  if (got > max_bytes_ - unpacked_bytes_) {
    fail(
        fmt::format("the compressed data unpacks to more than the {} bytes that are allowed "
                    "(max_bytes, --max-input)",
                    max_bytes_));
  }
  filled += got;
  unpacked_bytes_ += got;
  if (status == Z_STREAM_END) {
    place_ = place::behind_member;
  } else if (status == Z_MEM_ERROR) {
    throw std::bad_alloc();
  } else if (status != Z_OK && status != Z_BUF_ERROR) {
    fail(fmt::format("the compressed data is damaged: {}",
                     state_.msg == nullptr ? "unknown code" : state_.msg));
  }
}

/// Another member, or zeros to the end.
void gzip_stream::look_behind_member() {
  if (*state_.next_in == static_cast<Bytef>(gzip_magic.front())) {
    inflateReset(&state_);
    place_ = place::in_member;
    return;
  }
  do {
    const Bytef* const end = state_.next_in + state_.avail_in;
    const auto is_zero = [](Bytef byte) { return byte == 0; };
    if (!std::all_of(static_cast<const Bytef*>(state_.next_in), end, is_zero)) {
      fail("the compressed data is damaged: bytes that are not gzip follow its end");
    }
  } while (refill());
  place_ = place::at_end;
}

void gzip_stream::fail(const std::string& what) const {
  throw input_error(name_, {}, what);
}

}  // namespace gpu::io
