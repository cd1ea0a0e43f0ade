#include "io/write/mapped_places.hpp"

#if defined(__linux__)
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/statfs.h>
#include <unistd.h>
#endif

#include <algorithm>
#include <cstring>

namespace gpu::io {

#if defined(__linux__) && defined(MADV_POPULATE_WRITE)

namespace {

constexpr std::uint64_t piece_bytes = std::uint64_t{16} << 20;

// The pages of [begin, end) are there, and are this file's, or it is refused.
bool have_pages(char* begin, char* end) {
  static const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  char* const first = begin - reinterpret_cast<std::uintptr_t>(begin) % page;
  return ::madvise(first, static_cast<std::size_t>(end - first), MADV_POPULATE_WRITE) == 0;
}

}  // namespace

struct mapped_places::piece {
  char* bytes = nullptr;
  std::atomic<std::uint64_t> left = 0;  // that are not stored yet

  piece() = default;
  ~piece() { ::munmap(bytes, piece_bytes); }
  piece(const piece&) = delete;
  piece& operator=(const piece&) = delete;
};

std::unique_ptr<mapped_places> mapped_places::of(int descriptor) {
  struct statfs status{};
  rlimit limit{};
  const bool may_grow = ::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur == RLIM_INFINITY;
  if (!may_grow || ::fstatfs(descriptor, &status) != 0 || status.f_type != TMPFS_MAGIC) return {};
  return std::unique_ptr<mapped_places>(new mapped_places(descriptor));
}

void mapped_places::take(std::uint64_t begin, std::uint64_t end) {
  if (end_ == 0) {
    begin_ = begin;
    end_ = begin / piece_bytes * piece_bytes;
  }
  for (; !is_refused_ && end_ < end; end_ += piece_bytes) {
    map_piece(end_ / piece_bytes, std::max(begin, end_));
  }
}

void mapped_places::map_piece(std::uint64_t number, std::uint64_t first_byte) {
  const auto begin = static_cast<off_t>(number * piece_bytes);
  const auto end = static_cast<off_t>((number + 1) * piece_bytes);
  void* const mapped =
      ::ftruncate(descriptor_, end) == 0
          ? ::mmap(nullptr, piece_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_, begin)
          : MAP_FAILED;
  if (mapped == MAP_FAILED) {
    is_refused_ = true;
    return;
  }
  auto made = std::make_shared<piece>();
  made->bytes = static_cast<char*>(mapped);
  made->left = (number + 1) * piece_bytes - first_byte;
  const std::scoped_lock lock(mutex_);
  pieces_.emplace(number, std::move(made));
}

std::shared_ptr<mapped_places::piece> mapped_places::piece_at(std::uint64_t number) {
  const std::scoped_lock lock(mutex_);
  const auto found = pieces_.find(number);
  return found == pieces_.end() ? nullptr : found->second;
}

bool mapped_places::store(std::uint64_t position, std::string_view bytes) {
  if (position < begin_) return false;
  while (!bytes.empty() && !is_refused_) {
    const std::uint64_t number = position / piece_bytes;
    const std::uint64_t at = position % piece_bytes;
    const auto count =
        static_cast<std::size_t>(std::min<std::uint64_t>(bytes.size(), piece_bytes - at));
    const std::shared_ptr<piece> to = piece_at(number);
    if (!to) return false;
    if (!have_pages(to->bytes + at, to->bytes + at + count)) {
      is_refused_ = true;  // full, or a kernel before 5.14: writes from now on
      return false;
    }
    std::memcpy(to->bytes + at, bytes.data(), count);
    if (to->left.fetch_sub(count) == count) {
      const std::scoped_lock lock(mutex_);
      pieces_.erase(number);
    }
    bytes.remove_prefix(count);
    position += count;
  }
  return bytes.empty();
}

#else

struct mapped_places::piece {};
std::unique_ptr<mapped_places> mapped_places::of(int) {
  return {};
}
void mapped_places::take(std::uint64_t, std::uint64_t) {}
bool mapped_places::store(std::uint64_t, std::string_view) {
  return false;
}

#endif

}  // namespace gpu::io
