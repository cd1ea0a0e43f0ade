#include "io/read/input.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <future>
#include <limits>
#include <system_error>
#include <utility>

#include "base/parallel.hpp"
#include "io/io_error.hpp"
#include "io/read/file_stream.hpp"
#include "io/read/gzip_stream.hpp"
#include "io/read/other_formats.hpp"
#include "io/read/zstd_stream.hpp"
#include "io/text/value_arena.hpp"

namespace gpu::io {
namespace {

constexpr std::size_t head_bytes = 8;                       // longest magic that is asked for
constexpr std::size_t block_bytes = std::size_t{16} << 20;  // of text

/// Gives back bytes that were taken from a stream to look at them.
class rejoined_stream final : public byte_stream {
 public:
  rejoined_stream(std::string head, std::unique_ptr<byte_stream> rest)
      : head_(std::move(head)), rest_(std::move(rest)) {}

  std::size_t read(std::span<char> out) override {
    const std::size_t from_head = std::min(out.size(), head_.size() - used_);
    std::memcpy(out.data(), head_.data() + used_, from_head);
    used_ += from_head;
    if (from_head == out.size()) return from_head;
    return from_head + rest_->read(out.subspan(from_head));
  }

  [[nodiscard]] std::uint64_t most_bytes() const override {
    const std::uint64_t from_head = head_.size() - used_;
    const std::uint64_t rest = rest_->most_bytes();
    return rest + std::min(from_head, byte_stream::most_bytes() - rest);
  }

 private:
  std::string head_;
  std::size_t used_ = 0;
  std::unique_ptr<byte_stream> rest_;
};

/// Counts the bytes that pass.
class counted_stream final : public byte_stream {
 public:
  counted_stream(std::unique_ptr<byte_stream> stream,
                 std::shared_ptr<std::atomic<std::uint64_t>> count)
      : stream_(std::move(stream)), count_(std::move(count)) {}
  std::size_t read(std::span<char> out) override {
    const std::size_t got = stream_->read(out);
    count_->fetch_add(got, std::memory_order_relaxed);
    return got;
  }
  [[nodiscard]] std::uint64_t most_bytes() const override { return stream_->most_bytes(); }

 private:
  std::unique_ptr<byte_stream> stream_;
  std::shared_ptr<std::atomic<std::uint64_t>> count_;
};

/// Room for text, not initialised.
class text_buffer {
 public:
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] char* data() noexcept { return bytes_.get(); }
  [[nodiscard]] std::span<char> from(std::size_t begin) {
    return std::span(bytes_.get(), size_).subspan(begin);
  }
  /// Makes room for `size` bytes, keeping the first `kept`.
  void grow(std::size_t size, std::size_t kept) {
    if (size <= size_) return;
    auto larger = std::make_unique_for_overwrite<char[]>(size);
    prefer_large_pages(larger.get(), size);
    if (kept > 0) std::memcpy(larger.get(), bytes_.get(), kept);
    bytes_ = std::move(larger);
    size_ = size;
  }

 private:
  std::unique_ptr<char[]> bytes_;
  std::size_t size_ = 0;
};

/// Blocks of a stream, read one ahead in another thread where there is one.
class streamed_lines final : public line_source {
 public:
  streamed_lines(std::unique_ptr<byte_stream> stream, int threads)
      : stream_(std::move(stream)),
        policy_(threads > 1 ? std::launch::async : std::launch::deferred) {
    read_ahead();
  }

  std::string_view next() override {
    if (!ahead_.valid()) return {};
    ahead_.get();
    std::swap(current_, coming_);
    if (!current_.at_end) read_ahead();
    return {current_.bytes.data(), current_.whole_lines};
  }

 private:
  struct block {
    text_buffer bytes;
    std::size_t filled = 0;
    std::size_t whole_lines = 0;  // bytes up to the last newline, all of them at the end
    bool at_end = false;
  };

  void read_ahead() {
    // The line that the current block cuts starts the next.
    const std::size_t rest = current_.filled - current_.whole_lines;
    // One byte more than there can be shows the end.
    const std::uint64_t left = stream_->most_bytes();
    const std::size_t more = left < block_bytes ? static_cast<std::size_t>(left) + 1 : block_bytes;
    coming_.bytes.grow(rest + more, 0);
    if (rest > 0) {
      std::memcpy(coming_.bytes.data(), current_.bytes.data() + current_.whole_lines, rest);
    }
    coming_.filled = rest;
    try {
      ahead_ = std::async(policy_, [this] { fill(coming_); });
    } catch (const std::system_error&) {  // no thread to be had: nothing is read ahead
      ahead_ = std::async(std::launch::deferred, [this] { fill(coming_); });
    }
  }

  void fill(block& b) {
    for (;;) {
      const std::size_t got = stream_->read(b.bytes.from(b.filled));
      b.filled += got;
      b.at_end = b.filled < b.bytes.size();
      const std::string_view text(b.bytes.data(), b.filled);
      const std::size_t last = text.rfind('\n');
      b.whole_lines = b.at_end ? b.filled : last == std::string_view::npos ? 0 : last + 1;
      if (b.at_end || b.whole_lines > 0) return;
      b.bytes.grow(b.bytes.size() * 2, b.filled);
    }
  }

  std::unique_ptr<byte_stream> stream_;
  std::launch policy_;
  block current_;
  block coming_;
  std::future<void> ahead_;  // last: its destructor waits for a thread that uses the others
};

}  // namespace

input::input(const std::string& path, stop_request stop, std::uint64_t max_bytes,
             std::shared_ptr<file_digest> digest, int threads)
    : name_(path == "-" ? "standard input" : path),
      stop_(std::move(stop)),
      max_bytes_(max_bytes),
      threads_(detail::thread_count(threads)),
      bytes_read_(std::make_shared<std::atomic<std::uint64_t>>(0)) {
  // Opening a FIFO does not wait for its writer: reading does, and a stop request ends that.
  const int descriptor =
      path == "-" ? ::dup(STDIN_FILENO) : ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (descriptor < 0) throw input_error(name_, {}, "cannot be opened: " + system_message(errno));
  stream_ = make_file_stream(descriptor, name_, stop_, threads_, std::move(digest));
  const std::uint64_t most = stream_->most_bytes();
  if (most != std::numeric_limits<std::uint64_t>::max()) file_bytes_ = most;
  stream_ = std::make_unique<counted_stream>(std::move(stream_), bytes_read_);
  take_head();
  // Some files are compressed twice by mistake; each layer unpacks to `max_bytes` at most.
  constexpr int most_layers = 4;
  for (int layer = 0; layer < most_layers; ++layer) {
    if (begins_with(gzip_magic)) {
      stream_ = std::make_unique<gzip_stream>(bytes(), name_, max_bytes);
    } else if (begins_with(zstd_magic)) {
      stream_ = make_zstd_stream(bytes(), name_, max_bytes);
    } else {
      break;
    }
    take_head();
  }
  const std::string other = other_format(head_, name_);
  if (!other.empty()) throw input_error(name_, {}, other);
}

std::optional<double> input::share_read() const {
  if (file_bytes_ == 0) return std::nullopt;
  return std::min(1.0, static_cast<double>(bytes_read_->load(std::memory_order_relaxed)) /
                           static_cast<double>(file_bytes_));
}

void input::take_head() {
  head_.resize(head_bytes);
  head_.resize(stream_->read(head_));
}

bool input::begins_with(std::string_view magic) const {
  return head_.starts_with(magic);
}

std::unique_ptr<byte_stream> input::bytes() {
  return std::make_unique<rejoined_stream>(head_, std::move(stream_));
}

void input::check_stop() const {
  if (stop_ && stop_()) throw interrupted{};
}

std::unique_ptr<line_source> input::lines() {
  return std::make_unique<streamed_lines>(bytes(), threads_);
}

}  // namespace gpu::io
