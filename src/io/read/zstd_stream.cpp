#include "io/read/zstd_stream.hpp"

#include <fmt/format.h>

#include <new>
#include <utility>

#include "io/io_error.hpp"

#if defined(GPU_SIMILARITY_HAS_ZSTD)
#include <zstd.h>
#include <zstd_errors.h>
#endif

namespace gpu::io {

#if defined(GPU_SIMILARITY_HAS_ZSTD)
namespace {

class zstd_stream final : public byte_stream {
 public:
  zstd_stream(std::unique_ptr<byte_stream> compressed, std::string name, std::uint64_t max_bytes)
      : compressed_(std::move(compressed)),
        name_(std::move(name)),
        left_(max_bytes),
        max_bytes_(max_bytes),
        state_(ZSTD_createDStream(), &ZSTD_freeDStream),
        buffer_(std::make_unique_for_overwrite<char[]>(buffer_bytes)) {
    if (!state_) throw std::bad_alloc();
    // As zstd(1) does with --long=31: a window needs memory only as far as it is filled.
    const int longest = ZSTD_dParam_getBounds(ZSTD_d_windowLogMax).upperBound;
    (void)ZSTD_DCtx_setParameter(state_.get(), ZSTD_d_windowLogMax, longest);
  }

  std::size_t read(std::span<char> out) override {
    ZSTD_outBuffer filled{out.data(), out.size(), 0};
    while (filled.pos < filled.size) {
      if (in_.pos == in_.size && !refill()) {
        // What the decoder still holds comes without further input.
        const std::size_t before = filled.pos;
        if (is_in_frame_) decode(filled);
        if (filled.pos > before) continue;
        if (is_in_frame_) fail("the compressed data ends too early: it is truncated");
        break;
      }
      decode(filled);
    }
    if (filled.pos > left_) {
      fail(
          fmt::format("the compressed data unpacks to more than the {} bytes that are allowed "
                      "(max_bytes, --max-input)",
                      max_bytes_));
    }
    left_ -= filled.pos;
    return filled.pos;
  }
  [[nodiscard]] std::uint64_t most_bytes() const override { return left_; }

 private:
  static constexpr std::size_t buffer_bytes = std::size_t{1} << 18;

  bool refill() {
    in_ = {buffer_.get(), compressed_->read({buffer_.get(), buffer_bytes}), 0};
    return in_.size > 0;
  }

  void decode(ZSTD_outBuffer& filled) {
    const std::size_t status = ZSTD_decompressStream(state_.get(), &filled, &in_);
    if (ZSTD_isError(status) != 0) {
      const ZSTD_ErrorCode code = ZSTD_getErrorCode(status);
      if (code == ZSTD_error_memory_allocation) throw std::bad_alloc();
      if (code == ZSTD_error_frameParameter_windowTooLarge) {
        fail(
            "is compressed by zstd with a window of more than 2 GiB, expected one that --long=31 "
            "makes "
            "at most: compress it again with zstd");
      }
      fail(fmt::format("the compressed data is damaged: {}", ZSTD_getErrorName(status)));
    }
    is_in_frame_ = status != 0;
  }

  [[noreturn]] void fail(const std::string& what) const { throw input_error(name_, {}, what); }

  std::unique_ptr<byte_stream> compressed_;
  std::string name_;
  std::uint64_t left_;
  std::uint64_t max_bytes_;
  std::unique_ptr<ZSTD_DStream, decltype(&ZSTD_freeDStream)> state_;
  std::unique_ptr<char[]> buffer_;
  ZSTD_inBuffer in_{nullptr, 0, 0};
  bool is_in_frame_ = true;
};

}  // namespace
#endif

std::unique_ptr<byte_stream> make_zstd_stream(std::unique_ptr<byte_stream> compressed,
                                              std::string name, std::uint64_t max_bytes) {
#if defined(GPU_SIMILARITY_HAS_ZSTD)
  return std::make_unique<zstd_stream>(std::move(compressed), std::move(name), max_bytes);
#else
  static_cast<void>(compressed);
  static_cast<void>(max_bytes);
  throw input_error(name, {},
                    "is compressed by zstd, which this build cannot read, expected text, .npy, or "
                    "either with gzip: zstd -dc FILE | gpu-similarity ... -");
#endif
}

}  // namespace gpu::io
