#include "io/write/output_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <utility>

namespace gpu::io {
namespace {

constexpr mode_t new_file_mode = 0666;      // less the umask
constexpr mode_t private_file_mode = 0600;  // until it has the mode of the file that it replaces
constexpr int wait_milliseconds = 100;      // between two questions whether to stop
// A signal is noticed between two writes.
constexpr std::size_t file_block_bytes = std::size_t{4} << 20;
// Space that is asked for ahead: as much again as there is, within these.
constexpr std::uint64_t least_extent = std::uint64_t{4} << 20;
constexpr std::uint64_t most_extent = std::uint64_t{64} << 20;

/// Six characters that no other process guesses.
std::string random_word() {
  constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyz012345";
  std::array<unsigned char, 6> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) return {};
  std::string word;
  for (const unsigned char byte : bytes) word += letters[byte % letters.size()];
  return word;
}

/// `path`.<random>.partial, in the same folder; its last part stays within the system's 255 bytes.
std::string partial_name_for(const std::string& path) {
  constexpr std::size_t longest_name = 200;
  const std::size_t name_at = path.rfind('/') + 1;
  return path.substr(0, name_at + longest_name) + "." + random_word() + ".partial";
}

/// The file's bytes are on the disk, where the file system can say so.
bool sync_file(int descriptor) {
  while (::fsync(descriptor) != 0) {
    if (errno == EINTR) continue;
    return errno == EINVAL || errno == ENOTSUP || errno == EROFS;
  }
  return true;
}

/// The folder's entry is on the disk. The file is complete whether or not that can be had.
void sync_folder_of(const std::string& path) {
  const std::string folder = path.substr(0, path.rfind('/') + 1);
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  (void)sync_file(descriptor);
  ::close(descriptor);
}

/// The largest write that a wait for room makes sure not to block, or that is short of a second.
std::size_t largest_write_to(int descriptor) {
  struct stat status{};
  if (::fstat(descriptor, &status) != 0) return file_block_bytes;
  const bool can_wait =
      S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode) || ::isatty(descriptor) == 1;
  return can_wait ? std::size_t{PIPE_BUF} : file_block_bytes;
}

}  // namespace

void byte_budget::take(const std::string& name, std::uint64_t bytes) {
  if (bytes > left_) {
    throw output_limit_reached(
        name, fmt::format("the result has more than the {} bytes of --max-output", limit_));
  }
  left_ -= bytes;
}

output_file::output_file(const std::string& path, output_settings settings)
    : output_file(resolve_output(path), std::move(settings)) {}

output_file::output_file(output_target target, output_settings settings)
    : target_(std::move(target)), settings_(std::move(settings)) {
  if (target_.kind == output_kind::replaced) create_partial();
  if (target_.kind == output_kind::descriptor) {
    descriptor_ = target_.descriptor;
    largest_write_ = largest_write_to(descriptor_);
    is_open_ = true;
  }
}

output_file::~output_file() {
  if (descriptor_ >= 0 && target_.kind != output_kind::descriptor) ::close(descriptor_);
  if (!is_kept_ && !partial_path_.empty()) ::unlinkat(folder(), partial_path_.c_str(), 0);
}

int output_file::folder() const noexcept {
  return target_.folder >= 0 ? target_.folder : AT_FDCWD;
}

/// For messages, and for who knows no folder that is open here.
std::string output_file::full_partial_path() const {
  if (target_.folder < 0) return partial_path_;
  return target_.name.substr(0, target_.name.size() - target_.path.size()) + partial_path_;
}

void output_file::create_partial() {
  constexpr int most_attempts = 100;
  const mode_t mode = target_.exists ? private_file_mode : new_file_mode;
  for (int attempt = 0; attempt < most_attempts && descriptor_ < 0; ++attempt) {
    const std::string path = partial_name_for(target_.path);
    descriptor_ = ::openat(folder(), path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (descriptor_ >= 0) partial_path_ = path;
    if (descriptor_ < 0 && errno != EEXIST && errno != EINTR) break;
  }
  if (descriptor_ < 0) {
    throw output_error(target_.name, "cannot be created: " + system_message(errno));
  }
  entry_.emplace(full_partial_path());
  if (target_.exists) take_attributes_of_target();
  largest_write_ = file_block_bytes;
  is_open_ = true;
}

void output_file::take_attributes_of_target() const {
  struct stat status{};
  if (::stat(target_.path.c_str(), &status) != 0) return;
  // Only a privileged process can give a file away; then the new file belongs to whoever runs this.
  [[maybe_unused]] const int given = ::fchown(descriptor_, status.st_uid, status.st_gid);
  // Without the bits that run a program as another user: they were given to the old bytes.
  constexpr mode_t permissions = 0777;
  [[maybe_unused]] const int changed = ::fchmod(descriptor_, status.st_mode & permissions);
}

void output_file::open_in_place() {
  for (;;) {
    check_stop();
    // Without O_NONBLOCK a FIFO without a reader would hold the process.
    descriptor_ =
        ::open(target_.path.c_str(), O_WRONLY | O_TRUNC | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (descriptor_ >= 0) break;
    struct stat status{};
    const bool waits_for_reader =
        errno == ENXIO && ::stat(target_.path.c_str(), &status) == 0 && S_ISFIFO(status.st_mode);
    if (errno != EINTR && !waits_for_reader) {
      throw output_error(target_.name, "cannot be opened: " + system_message(errno));
    }
    ::poll(nullptr, 0, wait_milliseconds);
  }
  largest_write_ = largest_write_to(descriptor_);
  is_open_ = true;
}

void output_file::open_if_needed() {
  if (!is_open_) open_in_place();
}

void output_file::check_stop() const {
  if (settings_.stop && settings_.stop()) throw interrupted{};
}

void output_file::wait_for_room() const {
  pollfd waited{.fd = descriptor_, .events = POLLOUT, .revents = 0};
  for (;;) {
    check_stop();
    const int ready = ::poll(&waited, 1, wait_milliseconds);
    if (ready > 0 || (ready < 0 && errno != EINTR)) return;  // the write tells what is wrong
  }
}

void output_file::write(std::string_view bytes) {
  if (packed() == compression::none) return write_bytes(bytes);
  constexpr std::size_t block = std::size_t{1} << 20;
  while (!bytes.empty()) {
    const std::string_view taken = bytes.substr(0, block - waiting_.size());
    waiting_ += taken;
    bytes.remove_prefix(taken.size());
    if (waiting_.size() == block) pack_waiting();
  }
}

void output_file::write_packed(std::string_view bytes) {
  if (!waiting_.empty()) pack_waiting();
  write_bytes(bytes);
}

void output_file::pack_waiting() {
  std::string block(compressed_bound(packed(), waiting_.size()), '\0');
  block.resize(compress(packed(), waiting_, block.data()));
  waiting_.clear();
  write_bytes(block);
}

/// No bytes at all are no compressed file: nothing becomes a block of nothing.
void output_file::pack_rest() {
  if (packed() == compression::none) return;
  if (!waiting_.empty() || bytes_written_ == 0) pack_waiting();
}

void output_file::write_bytes(std::string_view bytes) {
  if (settings_.budget != nullptr) settings_.budget->take(target_.name, bytes.size());
  open_if_needed();
  if (settings_.takes_digest) digest_.add(bytes);
  while (!bytes.empty()) {
    if (!can_replace()) wait_for_room();
    const ssize_t done = ::write(descriptor_, bytes.data(), std::min(bytes.size(), largest_write_));
    if (done < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (done < 0) fail_to_write(errno);
    bytes.remove_prefix(static_cast<std::size_t>(done));
    bytes_written_ += static_cast<std::uint64_t>(done);
  }
}

void output_file::fail_to_write(int error_number) const {
  const std::string what = "cannot be written: " + system_message(error_number);
  if (error_number == EPIPE) throw closed_pipe(target_.name, what);
  throw output_error(target_.name, what);
}

void output_file::replace(std::uint64_t position, std::string_view bytes) const {
  while (!bytes.empty()) {
    const ssize_t done =
        ::pwrite(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(position));
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) fail_to_write(errno);
    bytes.remove_prefix(static_cast<std::size_t>(done));
    position += static_cast<std::uint64_t>(done);
  }
}

std::uint64_t output_file::take_place(std::uint64_t bytes) {
  if (settings_.budget != nullptr) settings_.budget->take(target_.name, bytes);
  const std::uint64_t place = places_end_ == 0 ? bytes_written_ : places_end_;
  places_end_ = place + bytes;
  reserve_space(places_end_);
  return place;
}

/// A refusal is none of the file: what does not fit is told by the write of it.
void output_file::reserve_space([[maybe_unused]] std::uint64_t end) {
#if defined(__linux__)
  while (!is_space_refused_ && reserved_end_ < end) {
    const std::uint64_t extent = std::clamp(end, least_extent, most_extent);
    is_space_refused_ =
        ::fallocate(descriptor_, FALLOC_FL_KEEP_SIZE, static_cast<off_t>(reserved_end_),
                    static_cast<off_t>(extent)) != 0;
    reserved_end_ += extent;
  }
#endif
}

/// What is behind the bytes that count: space that was not needed, and places behind a failure.
void output_file::give_back_space() {
  if (places_end_ == 0) return;
  while (::ftruncate(descriptor_, static_cast<off_t>(bytes_written_)) != 0) {
    if (errno != EINTR) fail_to_write(errno);
  }
}

void output_file::sync() {
  if (is_synced_) return;
  pack_rest();
  open_if_needed();  // the reader of a FIFO waits for its end
  give_back_space();
  if (can_replace() && !sync_file(descriptor_)) fail_to_write(errno);
  close();
  is_synced_ = true;
}

/// Renames the file; errno tells why it could not.
bool output_file::take_name() const {
  const char* const from = partial_path_.c_str();
  const char* const to = target_.path.c_str();
  if (settings_.clobbers) return ::renameat(folder(), from, folder(), to) == 0;
#if defined(__linux__)
  constexpr unsigned no_replace = 1;  // RENAME_NOREPLACE
  if (::syscall(SYS_renameat2, folder(), from, folder(), to, no_replace) == 0) return true;
  if (errno != EINVAL && errno != ENOSYS) return false;  // those: the file system cannot
#endif
  if (::linkat(folder(), from, folder(), to, 0) != 0) return false;
  ::unlinkat(folder(), from, 0);
  return true;
}

void output_file::commit() {
  sync();
  is_kept_ = true;
  if (!can_replace()) return;
  if (!take_name()) {
    const int error_number = errno;
    entry_.reset();
    const bool is_there = ::faccessat(folder(), partial_path_.c_str(), F_OK, 0) == 0;
    throw output_error(target_.name, fmt::format("cannot be replaced: {}; the result is {}{}",
                                                 system_message(error_number),
                                                 is_there ? "in " : "gone with its folder",
                                                 is_there ? full_partial_path() : std::string()));
  }
  entry_.reset();
  if (target_.folder >= 0) {
    (void)sync_file(target_.folder);
  } else {
    sync_folder_of(target_.path);
  }
}

void output_file::close() {
  if (descriptor_ < 0) return;
  // Some file systems tell only now that the disk is full. A descriptor of the caller stays open:
  // closing a copy of it asks the same question.
  const bool is_lent = target_.kind == output_kind::descriptor;
  const int closed = is_lent ? ::dup(descriptor_) : std::exchange(descriptor_, -1);
  if (closed >= 0 && ::close(closed) != 0 && errno != EINTR) fail_to_write(errno);
}

}  // namespace gpu::io
