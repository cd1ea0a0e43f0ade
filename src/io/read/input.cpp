#include "io/read/input.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <future>
#include <new>
#include <utility>
#include <vector>

#include "io/io_error.hpp"

namespace gpu::io {
namespace {

constexpr std::size_t head_bytes = 8;                        // longest magic that is asked for
constexpr std::size_t window_bytes = std::size_t{64} << 20;  // of a mapped file
constexpr std::size_t block_bytes = std::size_t{16} << 20;   // of a stream
constexpr std::size_t gzip_buffer_bytes = std::size_t{1} << 18;

void check_stop(const stop_request& stop) {
  if (stop && stop()) throw interrupted{};
}

/// A descriptor. Waits with a timeout, so that a stop request ends the wait for a silent pipe.
class descriptor_stream final : public byte_stream {
 public:
  descriptor_stream(int descriptor, std::string name, stop_request stop)
      : descriptor_(descriptor), name_(std::move(name)), stop_(std::move(stop)) {}
  ~descriptor_stream() override { ::close(descriptor_); }
  descriptor_stream(const descriptor_stream&) = delete;
  descriptor_stream& operator=(const descriptor_stream&) = delete;

  std::size_t read(std::span<char> out) override {
    std::size_t filled = 0;
    while (filled < out.size()) {
      wait_for_bytes();
      const std::size_t wanted = std::min(out.size() - filled, block_bytes);
      const ssize_t got = ::read(descriptor_, out.data() + filled, wanted);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) throw input_error(name_, {}, "cannot be read: " + system_message(errno));
      if (got == 0) break;
      filled += static_cast<std::size_t>(got);
    }
    return filled;
  }

 private:
  void wait_for_bytes() {
    constexpr int milliseconds = 100;
    pollfd waited{.fd = descriptor_, .events = POLLIN, .revents = 0};
    int ready = 0;
    do {
      check_stop(stop_);
      ready = ::poll(&waited, 1, milliseconds);
    } while (ready == 0 || (ready < 0 && errno == EINTR));
  }

  int descriptor_;
  std::string name_;
  stop_request stop_;
};

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

 private:
  std::string head_;
  std::size_t used_ = 0;
  std::unique_ptr<byte_stream> rest_;
};

/// Decompresses gzip: one member or several, one behind the other.
class gzip_stream final : public byte_stream {
 public:
  gzip_stream(std::unique_ptr<byte_stream> compressed, std::string name)
      : compressed_(std::move(compressed)), name_(std::move(name)), buffer_(gzip_buffer_bytes) {
    constexpr int window_bits = 15;
    constexpr int gzip_header = 16;
    if (inflateInit2(&state_, window_bits + gzip_header) != Z_OK) throw std::bad_alloc();
  }
  ~gzip_stream() override { inflateEnd(&state_); }
  gzip_stream(const gzip_stream&) = delete;
  gzip_stream& operator=(const gzip_stream&) = delete;

  std::size_t read(std::span<char> out) override {
    std::size_t filled = 0;
    while (filled < out.size()) {
      if (state_.avail_in == 0 && !refill()) break;
      const std::size_t room = std::min(out.size() - filled, block_bytes);
      state_.next_out = reinterpret_cast<Bytef*>(out.data() + filled);
      state_.avail_out = static_cast<uInt>(room);
      const int status = inflate(&state_, Z_NO_FLUSH);
      filled += room - state_.avail_out;
      in_member_ = status != Z_STREAM_END;
      if (status == Z_STREAM_END) {
        inflateReset(&state_);
      } else if (status != Z_OK && status != Z_BUF_ERROR) {
        throw input_error(name_, {},
                          fmt::format("the compressed data is damaged: {}",
                                      state_.msg == nullptr ? "unknown code" : state_.msg));
      }
    }
    return filled;
  }

 private:
  /// Whether there is more compressed data.
  bool refill() {
    const std::size_t got = compressed_->read(buffer_);
    if (got == 0 && in_member_) {
      throw input_error(name_, {}, "the compressed data ends too early: the file is truncated");
    }
    state_.next_in = reinterpret_cast<Bytef*>(buffer_.data());
    state_.avail_in = static_cast<uInt>(got);
    return got > 0;
  }

  std::unique_ptr<byte_stream> compressed_;
  std::string name_;
  std::vector<char> buffer_;
  z_stream state_ = {};
  bool in_member_ = true;
};

/// Windows of a mapped file. Pages of a window are given back with it, so that the resident size
/// stays bounded.
class mapped_lines final : public line_source {
 public:
  mapped_lines(int descriptor, std::size_t bytes, const std::string& name, stop_request stop)
      : bytes_(bytes), stop_(std::move(stop)) {
    void* const start = ::mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, descriptor, 0);
    if (start == MAP_FAILED) {
      throw input_error(name, {}, "cannot be mapped: " + system_message(errno));
    }
    start_ = static_cast<char*>(start);
    ::madvise(start_, bytes_, MADV_SEQUENTIAL);
  }
  ~mapped_lines() override { ::munmap(start_, bytes_); }
  mapped_lines(const mapped_lines&) = delete;
  mapped_lines& operator=(const mapped_lines&) = delete;

  std::string_view next() override {
    check_stop(stop_);
    const bool is_first = end_ == 0;
    release(begin_, end_);
    begin_ = end_;
    end_ = end_of_line(std::min(bytes_, begin_ + window_bytes));
    if (is_first) end_ = end_of_line(std::min(bytes_, end_ + 1));
    return {start_ + begin_, end_ - begin_};
  }

 private:
  /// The position behind the newline at or after `position - 1`.
  [[nodiscard]] std::size_t end_of_line(std::size_t position) const {
    if (position == bytes_) return bytes_;
    const void* found = std::memchr(start_ + position - 1, '\n', bytes_ - position + 1);
    return found == nullptr
               ? bytes_
               : static_cast<std::size_t>(static_cast<const char*>(found) - start_) + 1;
  }
  void release(std::size_t begin, std::size_t end) const {
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    begin -= begin % page;
    end -= end % page;
    if (begin < end) ::madvise(start_ + begin, end - begin, MADV_DONTNEED);
  }

  std::size_t bytes_;
  stop_request stop_;
  char* start_ = nullptr;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

/// Blocks of a stream, read one ahead in another thread.
class streamed_lines final : public line_source {
 public:
  explicit streamed_lines(std::unique_ptr<byte_stream> stream) : stream_(std::move(stream)) {
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
    std::vector<char> bytes;
    std::size_t filled = 0;
    std::size_t whole_lines = 0;  // bytes up to the last newline, all of them at the end
    bool at_end = false;
  };

  void read_ahead() {
    // The line that the current block cuts starts the next.
    const std::size_t rest = current_.filled - current_.whole_lines;
    if (coming_.bytes.size() < rest + block_bytes) coming_.bytes.resize(rest + block_bytes);
    if (rest > 0) {
      std::memcpy(coming_.bytes.data(), current_.bytes.data() + current_.whole_lines, rest);
    }
    coming_.filled = rest;
    ahead_ = std::async(std::launch::async, [this] { fill(coming_); });
  }

  void fill(block& b) {
    const std::ptrdiff_t lines_wanted = std::exchange(is_first_, false) ? 2 : 1;
    for (;;) {
      const std::size_t got = stream_->read(std::span(b.bytes).subspan(b.filled));
      b.filled += got;
      b.at_end = b.filled < b.bytes.size();
      const std::string_view text(b.bytes.data(), b.filled);
      const std::size_t last = text.rfind('\n');
      b.whole_lines = b.at_end ? b.filled : last == std::string_view::npos ? 0 : last + 1;
      if (b.at_end) return;
      if (lines_wanted == 1 && b.whole_lines > 0) return;
      if (std::count(text.begin(), text.end(), '\n') >= lines_wanted) return;
      b.bytes.resize(b.bytes.size() * 2);
    }
  }

  std::unique_ptr<byte_stream> stream_;
  block current_;
  block coming_;
  bool is_first_ = true;
  std::future<void> ahead_;  // last: its destructor waits for a thread that uses the others
};

}  // namespace

input::input(const std::string& path, stop_request stop)
    : name_(path == "-" ? "standard input" : path), stop_(std::move(stop)) {
  const int descriptor =
      path == "-" ? ::dup(STDIN_FILENO) : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) throw input_error(name_, {}, "cannot be opened: " + system_message(errno));
  stream_ = std::make_unique<descriptor_stream>(descriptor, name_, stop_);
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) {
    throw input_error(name_, {}, "cannot be opened: " + system_message(errno));
  }
  if (S_ISDIR(status.st_mode)) throw input_error(name_, {}, "is a directory, expected a file");
  const bool is_regular = S_ISREG(status.st_mode) && ::lseek(descriptor, 0, SEEK_CUR) == 0;
  take_head();
  if (begins_with("\x1f\x8b")) {
    stream_ = std::make_unique<gzip_stream>(bytes(), name_);
    take_head();
  } else if (is_regular) {
    descriptor_ = descriptor;
    mapped_bytes_ = static_cast<std::size_t>(status.st_size);
  }
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

std::unique_ptr<line_source> input::lines() {
  if (mapped_bytes_ == 0) return std::make_unique<streamed_lines>(bytes());
  return std::make_unique<mapped_lines>(descriptor_, mapped_bytes_, name_, stop_);
}

}  // namespace gpu::io
