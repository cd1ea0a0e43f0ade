#include "io/write/output_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <utility>

#include "io/io_error.hpp"

namespace gpu::io {
namespace {

constexpr mode_t new_file_mode = 0666;  // less the umask

/// Whether `path` is there and no regular file: a device or a pipe, to be written in place.
bool is_special(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode);
}

}  // namespace

output_file::output_file(const std::string& path)
    : name_(path == "-" ? "standard output" : path), path_(path) {
  if (path == "-") {
    descriptor_ = STDOUT_FILENO;
    return;
  }
  if (!is_special(path)) partial_path_ = path + ".partial";
  const std::string& opened = partial_path_.empty() ? path_ : partial_path_;
  descriptor_ = ::open(opened.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, new_file_mode);
  if (descriptor_ < 0) throw output_error(opened, "cannot be created: " + system_message(errno));
}

output_file::~output_file() {
  if (descriptor_ >= 0 && path_ != "-") ::close(descriptor_);
  if (!is_kept_ && !partial_path_.empty()) ::unlink(partial_path_.c_str());
}

void output_file::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t done = ::write(descriptor_, bytes.data(), bytes.size());
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) {
      throw output_error(name_, "cannot be written: " + system_message(errno));
    }
    bytes.remove_prefix(static_cast<std::size_t>(done));
    bytes_written_ += static_cast<std::uint64_t>(done);
  }
}

void output_file::replace(std::uint64_t position, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t done =
        ::pwrite(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(position));
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) {
      throw output_error(name_, "cannot be written: " + system_message(errno));
    }
    bytes.remove_prefix(static_cast<std::size_t>(done));
    position += static_cast<std::uint64_t>(done);
  }
}

void output_file::commit() {
  close();
  if (!partial_path_.empty() && std::rename(partial_path_.c_str(), path_.c_str()) != 0) {
    throw output_error(name_, "cannot be renamed to: " + system_message(errno));
  }
  is_kept_ = true;
}

std::string output_file::keep_partial() {
  is_kept_ = true;
  close();
  return partial_path_.empty() ? name_ : partial_path_;
}

void output_file::close() {
  if (descriptor_ < 0 || path_ == "-") return;
  // Some file systems tell only now that the disk is full.
  if (::close(std::exchange(descriptor_, -1)) != 0) {
    throw output_error(name_, "cannot be written: " + system_message(errno));
  }
}

}  // namespace gpu::io
