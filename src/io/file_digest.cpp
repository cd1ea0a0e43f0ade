#include "io/file_digest.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <cerrno>
#include <chrono>
#include <vector>

namespace gpu::io {
namespace {

constexpr std::size_t block_bytes = std::size_t{1} << 20;

std::optional<file_digest> digest_of(int descriptor, const std::atomic<bool>& is_stopped) {
  file_digest digest;
  std::vector<unsigned char> block(block_bytes);
  while (!is_stopped) {
    const ssize_t got =
        ::pread(descriptor, block.data(), block.size(), static_cast<off_t>(digest.bytes));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return {};
    if (got == 0) return digest;
    digest.add({reinterpret_cast<const char*>(block.data()), static_cast<std::size_t>(got)});
  }
  return {};
}

/// A descriptor of the file, or -1: pipes and devices give their bytes once.
int open_regular(const std::string& path) {
  const int descriptor = path == "-" ? ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
                                     : ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  struct stat status {};
  if (descriptor >= 0 && ::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) &&
      ::lseek(descriptor, 0, SEEK_CUR) == 0) {
    return descriptor;
  }
  if (descriptor >= 0) ::close(descriptor);
  return -1;
}

}  // namespace

void file_digest::add(std::string_view more) noexcept {
  if (more.empty()) return;  // a null pointer starts zlib's checksum anew
  crc32 = static_cast<std::uint32_t>(
      ::crc32_z(crc32, reinterpret_cast<const unsigned char*>(more.data()), more.size()));
  bytes += more.size();
}

std::optional<file_digest> digest_of_file(const std::string& path) {
  const int descriptor = open_regular(path);
  if (descriptor < 0) return {};
  const std::atomic<bool> never = false;
  const std::optional<file_digest> digest = digest_of(descriptor, never);
  ::close(descriptor);
  return digest;
}

digest_task::digest_task(const std::string& path) {
  const int descriptor = open_regular(path);
  if (descriptor < 0) return;
  result_ = std::async(std::launch::async, [this, descriptor] {
    const auto digest = digest_of(descriptor, is_stopped_);
    ::close(descriptor);
    return digest;
  });
}

digest_task::~digest_task() {
  is_stopped_ = true;  // the future waits for the thread
}

std::optional<file_digest> digest_task::get() {
  if (!result_.valid()) return {};
  return result_.get();
}

std::optional<file_digest> digest_task::get_if_ready() {
  const bool is_ready =
      result_.valid() && result_.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
  return is_ready ? result_.get() : std::optional<file_digest>();
}

}  // namespace gpu::io
