#include "io/write/output_target.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <memory>

#include "base/parsed.hpp"
#include "io/io_error.hpp"

namespace gpu::io {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const std::string& name, const std::string& why) {
  throw output_error(name, "cannot be written: " + why);
}

/// The folder of `path` with every link followed.
fs::path real_folder(const std::string& name, const fs::path& path) {
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  const std::unique_ptr<char, decltype(&std::free)> real(::realpath(folder.c_str(), nullptr),
                                                         &std::free);
  if (!real) {
    throw output_error(name, "cannot be created: the folder " + io::quoted(folder.native()) + ": " +
                                 system_message(errno));
  }
  return real.get();
}

/// N where `path`, whose folder has no links, is /proc/<this process>/fd/N.
std::optional<int> own_descriptor(const fs::path& path) {
  const std::string own = "/proc/" + std::to_string(::getpid()) + "/fd";
  if (path.parent_path() != own) return {};
  return gpu::detail::parsed<int>(path.filename().native());
}

output_target open_descriptor(const std::string& name, int descriptor) {
  const int flags = ::fcntl(descriptor, F_GETFL);
  if (flags < 0) refuse(name, system_message(errno));
  if ((flags & O_ACCMODE) == O_RDONLY) refuse(name, "it is not open for writing");
  return {.name = name,
          .path = {},
          .kind = output_kind::descriptor,
          .descriptor = descriptor,
          .exists = true,
          .is_terminal = ::isatty(descriptor) == 1};
}

std::optional<struct stat> status_of(const output_target& target) {
  struct stat status{};
  const int failed = target.kind == output_kind::descriptor ? ::fstat(target.descriptor, &status)
                                                            : ::stat(target.path.c_str(), &status);
  if (failed != 0) return {};
  return status;
}

bool is_one_file(const struct stat& a, const struct stat& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/// What stands at `path`, which is not a link.
output_target check_target(const std::string& name, const fs::path& path) {
  if (!path.has_filename()) refuse(name, system_message(EISDIR));
  output_target target{.name = name, .path = path};
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0) {
    if (errno != ENOENT) refuse(name, system_message(errno));
    return target;
  }
  if (S_ISDIR(status.st_mode)) refuse(name, system_message(EISDIR));
  if (::access(path.c_str(), W_OK) != 0) refuse(name, system_message(errno));
  target.exists = true;
  if (!S_ISREG(status.st_mode)) target.kind = output_kind::in_place;
  // Files of other processes and of the kernel: nothing may be created beside them.
  if (path.native().starts_with("/proc/")) target.kind = output_kind::in_place;
  if (S_ISCHR(status.st_mode)) {
    const int descriptor = ::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    target.is_terminal = descriptor >= 0 && ::isatty(descriptor) == 1;
    if (descriptor >= 0) ::close(descriptor);
  }
  return target;
}

}  // namespace

output_target resolve_output(const std::string& path) {
  if (path == "-") {
    return open_descriptor("standard output", STDOUT_FILENO);
  }
  constexpr int most_links = 40;  // as the kernel
  fs::path at = path;
  for (int links = 0; links <= most_links; ++links) {
    const fs::path folder = real_folder(path, at);
    at = folder / at.filename();
    if (const auto descriptor = own_descriptor(at)) return open_descriptor(path, *descriptor);
    std::error_code failed;
    if (!fs::is_symlink(fs::symlink_status(at, failed)) || folder.native().starts_with("/proc/")) {
      return check_target(path, at);  // which says why its status cannot be had
    }
    const fs::path next = fs::read_symlink(at, failed);
    if (failed) refuse(path, failed.message());
    at = folder / next;  // an absolute link replaces the folder
  }
  refuse(path, system_message(ELOOP));
}

bool is_same_output(const output_target& a, const output_target& b) {
  const auto first = status_of(a);
  const auto second = status_of(b);
  // Two names that are free: a folder has one real path.
  if (!first && !second) return a.path == b.path;
  if (!first || !second) return false;
  const bool is_descriptor_twice =
      a.kind == output_kind::descriptor && b.kind == a.kind && a.descriptor == b.descriptor;
  if (S_ISCHR(first->st_mode)) return is_descriptor_twice;
  return is_descriptor_twice || is_one_file(*first, *second);
}

bool is_same_file(const output_target& output, const std::string& input) {
  const auto written = status_of(output);
  if (!written || !(S_ISREG(written->st_mode) || S_ISBLK(written->st_mode))) return false;
  struct stat read{};
  const int failed = input == "-" ? ::fstat(STDIN_FILENO, &read) : ::stat(input.c_str(), &read);
  return failed == 0 && is_one_file(*written, read);
}

}  // namespace gpu::io
