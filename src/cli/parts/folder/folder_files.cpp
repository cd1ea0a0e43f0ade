#include "cli/parts/folder/folder_files.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <system_error>

#include "cli/process/exit_code.hpp"
#include "io/io_error.hpp"
#include "io/write/output_file.hpp"

namespace gpu::cli {
namespace {

namespace fs = std::filesystem;

constexpr mode_t private_mode = 0700;

std::string owner_fault(const struct stat& status) {
  if (status.st_uid == ::geteuid()) return "";
  return fmt::format("belongs to user {}, expected user {}, who runs this", status.st_uid,
                     ::geteuid());
}

/// A hidden folder under `path`, made or found; it is private then.
int open_hidden(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (descriptor < 0) {
    const bool is_other = errno == ELOOP || errno == ENOTDIR;
    throw parts_error(fmt::format("{}: {}", path,
                                  is_other ? "is not a folder, expected none or the user's own"
                                           : "cannot be opened: " + io::system_message(errno)));
  }
  open_file folder(descriptor);
  struct stat status{};
  if (::fstat(descriptor, &status) != 0) {
    throw parts_error(path + ": cannot be opened: " + io::system_message(errno));
  }
  const std::string fault = owner_fault(status);
  if (!fault.empty()) {
    throw parts_error(fmt::format("{}: {}: --output-dir DIR names another folder", path, fault));
  }
  constexpr mode_t of_others = 0077;
  if ((status.st_mode & of_others) != 0) (void)::fchmod(descriptor, private_mode);
  return ::fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
}

std::uint64_t bytes_of(const struct stat& status) {
  return static_cast<std::uint64_t>(status.st_size);
}

}  // namespace

open_file::~open_file() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

open_file::open_file(open_file&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)) {}

folder_files::folder_files(std::string path, folder_kind kind)
    : path_(std::move(path)), kind_(kind) {}

void folder_files::create() const {
  if (kind_ == folder_kind::hidden) {
    if (::mkdir(path_.c_str(), private_mode) != 0 && errno != EEXIST) {
      throw io::output_error(path_, "cannot be created: " + io::system_message(errno));
    }
  } else {
    std::error_code failed;
    fs::create_directories(path_, failed);
    if (failed) throw io::output_error(path_, "cannot be created: " + failed.message());
    if (!fs::is_directory(path_, failed)) throw io::output_error(path_, "is not a folder");
  }
  (void)descriptor();
}

int folder_files::descriptor() const {
  if (folder_) return folder_->descriptor();
  const int found = kind_ == folder_kind::hidden
                        ? open_hidden(path_)
                        : ::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (found < 0) throw parts_error(path_ + ": cannot be read: " + io::system_message(errno));
  folder_ = std::make_shared<open_file>(found);
  return found;
}

std::vector<std::string> folder_files::names() const {
  const auto fail = [&](int error_number) {
    throw parts_error(path_ + ": cannot be read: " + io::system_message(error_number));
  };
  // A description of its own: each listing begins at the beginning.
  const int listed = ::openat(descriptor(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (listed < 0) fail(errno);
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(::fdopendir(listed), &::closedir);
  if (!entries) {
    const int error_number = errno;
    ::close(listed);
    fail(error_number);
  }
  std::vector<std::string> out;
  for (;;) {
    errno = 0;
    const dirent* const entry = ::readdir(entries.get());
    if (entry == nullptr && errno != 0) fail(errno);
    if (entry == nullptr) return out;
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") out.emplace_back(name);
  }
}

found_file folder_files::find(std::string_view name) const {
  const std::string text(name);
  // Without O_NONBLOCK a FIFO would hold the process until someone writes to it.
  const int found = ::openat(descriptor(), text.c_str(),
                             O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (found < 0) {
    if (errno == ENOENT) return {};
    const std::string fault = errno == ELOOP ? "is a link, expected a regular file"
                                             : "cannot be read: " + io::system_message(errno);
    return {.is_there = true, .fault = fault};
  }
  found_file out{.is_there = true, .file = open_file(found)};
  struct stat status{};
  if (::fstat(found, &status) != 0) {
    out.fault = "cannot be read: " + io::system_message(errno);
  } else if (!S_ISREG(status.st_mode)) {
    out.fault = "is not a regular file";
  } else {
    out.fault = owner_fault(status);
    out.bytes = bytes_of(status);
  }
  return out;
}

std::optional<std::string> folder_files::read(std::string_view name,
                                              std::uint64_t most_bytes) const {
  const found_file found = find(name);
  if (!found.is_there || !found.fault.empty() || found.bytes > most_bytes) return {};
  std::string text;
  std::array<char, std::size_t{1} << 16> block;
  for (;;) {
    const ssize_t got = ::read(found.file->descriptor(), block.data(), block.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return {};
    if (got == 0) return text;
    text.append(block.data(), static_cast<std::size_t>(got));
    if (text.size() > most_bytes) return {};
  }
}

io::output_target folder_files::target_of(std::string_view name) const {
  return {.name = path_of(name), .path = std::string(name), .folder = descriptor()};
}

void folder_files::write(std::string_view name, std::string_view text) const {
  io::output_file out(target_of(name));
  out.write(text);
  out.commit();
}

int folder_files::open_lock(std::string_view name) const noexcept {
  if (!folder_) return -1;
  constexpr mode_t mode = 0600;
  return ::openat(folder_->descriptor(), std::string(name).c_str(),
                  O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, mode);
}

void folder_files::remove_if_empty(std::string_view name) const {
  const found_file found = find(name);
  if (found.is_there && found.fault.empty() && found.bytes == 0) remove(name);
}

void folder_files::remove(std::string_view name) const noexcept {
  if (folder_) ::unlinkat(folder_->descriptor(), std::string(name).c_str(), 0);
}

void folder_files::remove_empty() const noexcept {
  ::rmdir(path_.c_str());
}

lock_state folder_files::lock(lock_kind kind, std::optional<open_file>& lock) const {
  const int opened = ::openat(descriptor(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (opened < 0) return lock_state::not_offered;
  lock.emplace(opened);
  const int operation = kind == lock_kind::shared ? LOCK_SH : LOCK_EX;
  if (::flock(opened, operation | LOCK_NB) == 0) return lock_state::held;
  const bool is_refused = errno == EWOULDBLOCK;
  lock.reset();
  return is_refused ? lock_state::refused : lock_state::not_offered;
}

}  // namespace gpu::cli
