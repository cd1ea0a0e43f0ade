#include "io/read/file_stream.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>
#include <vector>

#include "base/parallel.hpp"
#include "io/io_error.hpp"

namespace gpu::io {
namespace {

constexpr std::size_t most_bytes_of_a_read = std::size_t{16} << 20;

void check_stop(const stop_request& stop) {
  if (stop && stop()) throw interrupted{};
}

class owned_descriptor {
 public:
  explicit owned_descriptor(int number) : number_(number) {}
  ~owned_descriptor() { ::close(number_); }
  owned_descriptor(const owned_descriptor&) = delete;
  owned_descriptor& operator=(const owned_descriptor&) = delete;
  [[nodiscard]] int number() const noexcept { return number_; }

 private:
  int number_;
};

[[noreturn]] void fail_to_read(const std::string& name) {
  throw input_error(name, {}, "cannot be read: " + system_message(errno));
}

/// A pipe or a device. Waits with a timeout, so that a stop request ends the wait for a silent one.
class pipe_stream final : public byte_stream {
 public:
  pipe_stream(int descriptor, std::string name, stop_request stop,
              std::shared_ptr<file_digest> digest)
      : descriptor_(descriptor),
        name_(std::move(name)),
        stop_(std::move(stop)),
        digest_(std::move(digest)) {}

  std::size_t read(std::span<char> out) override {
    std::size_t filled = 0;
    while (filled < out.size()) {
      wait_for_bytes();
      const std::size_t wanted = std::min(out.size() - filled, most_bytes_of_a_read);
      const ssize_t got = ::read(descriptor_.number(), out.data() + filled, wanted);
      if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
      if (got < 0) fail_to_read(name_);
      if (got == 0) break;
      filled += static_cast<std::size_t>(got);
    }
    if (digest_) digest_->add({out.data(), filled});
    return filled;
  }

 private:
  void wait_for_bytes() {
    constexpr int milliseconds = 100;
    pollfd waited{.fd = descriptor_.number(), .events = POLLIN, .revents = 0};
    int ready = 0;
    do {
      check_stop(stop_);
      ready = ::poll(&waited, 1, milliseconds);
    } while (ready == 0 || (ready < 0 && errno == EINTR));
  }

  owned_descriptor descriptor_;
  std::string name_;
  stop_request stop_;
  std::shared_ptr<file_digest> digest_;
};

/// Reads until `out` is full or the file ends.
std::size_t read_file_at(int descriptor, const std::string& name, std::uint64_t position,
                         std::span<char> out) {
  std::size_t filled = 0;
  while (filled < out.size()) {
    const std::size_t wanted = std::min(out.size() - filled, most_bytes_of_a_read);
    const ssize_t got =
        ::pread(descriptor, out.data() + filled, wanted, static_cast<off_t>(position + filled));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail_to_read(name);
    if (got == 0) break;
    filled += static_cast<std::size_t>(got);
  }
  return filled;
}

/// A regular file.
class regular_file_stream final : public byte_stream {
 public:
  regular_file_stream(int descriptor, std::string name, stop_request stop, std::uint64_t begin,
                      std::uint64_t size, int threads, std::shared_ptr<file_digest> digest)
      : descriptor_(descriptor),
        name_(std::move(name)),
        stop_(std::move(stop)),
        position_(begin),
        size_(size),
        threads_(threads),
        digest_(std::move(digest)) {}

  std::size_t read(std::span<char> out) override {
    check_stop(stop_);
    std::size_t filled = read_by_threads(out);
    // A file that grows is read to its end.
    filled += take(read_piece(out.subspan(filled), position_ + filled));
    position_ += filled;
    if (filled < out.size() && position_ < size_) {
      throw input_error(
          name_, {},
          fmt::format("was cut short while it was read: got {} of its {} bytes", position_, size_));
    }
    return filled;
  }

  /// Files of /proc say nothing of their size.
  [[nodiscard]] std::uint64_t most_bytes() const override {
    return size_ == 0 ? byte_stream::most_bytes() : size_ - std::min(position_, size_);
  }

 private:
  /// Reads what the file is known to hold in equal parts; returns the bytes in front of a gap.
  std::size_t read_by_threads(std::span<char> out) {
    constexpr int enough_threads = 4;
    constexpr std::size_t worth_a_thread = std::size_t{2} << 20;
    const std::uint64_t left = size_ - std::min(position_, size_);
    const auto known = static_cast<std::size_t>(std::min<std::uint64_t>(out.size(), left));
    const std::size_t count = std::min<std::size_t>(
        static_cast<std::size_t>(std::min(threads_, enough_threads)), known / worth_a_thread);
    if (count < 2) return 0;
    const std::size_t part = known / count;
    std::vector<piece> parts(count);
    detail::parallel_for(static_cast<index_t>(count), threads_, [&](index_t number, int) {
      const auto k = static_cast<std::size_t>(number);
      const std::size_t bytes = k + 1 == count ? known - k * part : part;
      parts[k] = read_piece(out.subspan(k * part, bytes), position_ + k * part);
    });
    std::size_t filled = 0;
    bool has_gap = false;
    for (std::size_t k = 0; k < count; ++k) {
      if (!has_gap) filled += take(parts[k]);
      has_gap = has_gap || filled < std::min(known, (k + 1) * part);
    }
    return filled;
  }

  struct piece {
    std::size_t bytes = 0;
    file_digest digest = {};
  };

  /// Reads as read_file_at() does; the thread that read the bytes computes their digest.
  [[nodiscard]] piece read_piece(std::span<char> out, std::uint64_t position) const {
    piece got{.bytes = read_file_at(descriptor_.number(), name_, position, out)};
    if (digest_) got.digest.add({out.data(), got.bytes});
    return got;
  }
  /// Counts a piece, the next in the order of the file.
  std::size_t take(const piece& got) {
    if (digest_) digest_->append(got.digest);
    return got.bytes;
  }

  owned_descriptor descriptor_;
  std::string name_;
  stop_request stop_;
  std::uint64_t position_;
  std::uint64_t size_;
  int threads_;
  std::shared_ptr<file_digest> digest_;
};

}  // namespace

std::unique_ptr<byte_stream> make_file_stream(int descriptor, std::string name, stop_request stop,
                                              int threads, std::shared_ptr<file_digest> digest) {
  struct stat status{};
  const bool is_known = ::fstat(descriptor, &status) == 0;
  const int status_error = errno;
  if (!is_known || S_ISDIR(status.st_mode)) {
    ::close(descriptor);
    throw input_error(name, {},
                      is_known ? "is a directory without matrix.mtx[.gz], expected a file"
                               : "cannot be opened: " + system_message(status_error));
  }
  const off_t begin = S_ISREG(status.st_mode) ? ::lseek(descriptor, 0, SEEK_CUR) : -1;
  if (begin < 0) {
    return std::make_unique<pipe_stream>(descriptor, std::move(name), std::move(stop),
                                         std::move(digest));
  }
  return std::make_unique<regular_file_stream>(
      descriptor, std::move(name), std::move(stop), static_cast<std::uint64_t>(begin),
      static_cast<std::uint64_t>(status.st_size), threads, std::move(digest));
}

std::optional<file_digest> digest_of_file(int descriptor, int threads) {
  struct stat status{};
  const bool is_regular = ::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode);
  if (!is_regular && descriptor >= 0) ::close(descriptor);
  if (!is_regular) return {};
  const auto digest = std::make_shared<file_digest>();
  try {
    const auto bytes = make_file_stream(descriptor, "", {}, detail::thread_count(threads), digest);
    std::vector<char> block(static_cast<std::size_t>(
        std::min<std::uint64_t>(bytes->most_bytes(), most_bytes_of_a_read - 1) + 1));
    while (bytes->read(block) == block.size()) {
    }
  } catch (const input_error&) {
    return {};
  }
  return *digest;
}

std::optional<file_digest> digest_of_file(const std::string& path, int threads) {
  return digest_of_file(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC), threads);
}

}  // namespace gpu::io
