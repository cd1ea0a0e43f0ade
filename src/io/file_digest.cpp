#include "io/file_digest.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "base/parallel.hpp"

namespace gpu::io {
namespace {

constexpr std::size_t block_bytes = std::size_t{1} << 20;
constexpr std::uint64_t to_the_end = ~std::uint64_t{0};

/// The digest of at most `most` bytes from `begin` on.
std::optional<file_digest> digest_of(int descriptor, std::uint64_t begin, std::uint64_t most) {
  file_digest digest;
  std::vector<unsigned char> block(block_bytes);
  for (;;) {
    const auto wanted =
        static_cast<std::size_t>(std::min<std::uint64_t>(block.size(), most - digest.bytes));
    const ssize_t got = wanted == 0 ? 0
                                    : ::pread(descriptor, block.data(), wanted,
                                              static_cast<off_t>(begin + digest.bytes));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return {};
    if (got == 0) return digest;
    digest.add({reinterpret_cast<const char*>(block.data()), static_cast<std::size_t>(got)});
  }
}

/// The digest of a file of about `size` bytes, by `threads` at most: zlib's checksum takes one of
/// them as long as the reading takes four.
std::optional<file_digest> digest_by_threads(int descriptor, std::uint64_t size, int threads) {
  constexpr std::uint64_t worth_a_thread = std::uint64_t{4} << 20;
  constexpr std::uint64_t most_threads = 16;
  const std::uint64_t count = std::clamp<std::uint64_t>(
      std::min(size / worth_a_thread, static_cast<std::uint64_t>(threads)), 1, most_threads);
  const std::uint64_t share = size / count;
  std::vector<std::optional<file_digest>> pieces(count);
  detail::parallel_for(static_cast<index_t>(count), threads, [&](index_t number, int) {
    const auto k = static_cast<std::uint64_t>(number);
    // The last one goes on where the file grew.
    pieces[k] = digest_of(descriptor, k * share, k + 1 == count ? to_the_end : share);
  });
  std::optional<file_digest> whole = file_digest{};
  for (std::size_t k = 0; k < pieces.size(); ++k) {
    const std::optional<file_digest>& piece = pieces[k];
    const bool is_cut_short = k + 1 < pieces.size() && piece && piece->bytes < share;
    if (!piece || is_cut_short) whole.reset();
    if (whole) whole->append(*piece);
  }
  return whole;
}

}  // namespace

void file_digest::add(std::string_view more) noexcept {
  if (more.empty()) return;  // a null pointer starts zlib's checksum anew
  crc32 = static_cast<std::uint32_t>(
      ::crc32_z(crc32, reinterpret_cast<const unsigned char*>(more.data()), more.size()));
  bytes += more.size();
}

void file_digest::append(const file_digest& more) noexcept {
  crc32 = static_cast<std::uint32_t>(
      ::crc32_combine(crc32, more.crc32, static_cast<z_off_t>(more.bytes)));
  bytes += more.bytes;
}

std::optional<file_digest> digest_of_file(int descriptor, int threads) {
  struct stat status{};
  if (::fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) return {};
  return digest_by_threads(descriptor, static_cast<std::uint64_t>(status.st_size),
                           detail::thread_count(threads));
}

std::optional<file_digest> digest_of_file(const std::string& path, int threads) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (descriptor < 0) return {};
  const std::optional<file_digest> digest = digest_of_file(descriptor, threads);
  ::close(descriptor);
  return digest;
}

}  // namespace gpu::io
