#pragma once
// Size and checksum of an input, computed while it is read.

#include <atomic>
#include <cstdint>
#include <future>
#include <optional>
#include <string>
#include <string_view>

namespace gpu::io {

struct file_digest {
  std::uint64_t bytes = 0;
  std::uint32_t crc32 = 0;  ///< Of all bytes as they are in the file, as gzip and zlib compute it.

  /// The digest with `more` bytes behind those it is of.
  void add(std::string_view more) noexcept;
  /// The same with the bytes that `more` is of.
  void append(const file_digest& more) noexcept;
  friend bool operator==(const file_digest&, const file_digest&) = default;
};

/// Reads the file at `path`, in several threads; nothing where it is no regular file, cannot be
/// read, or is cut short meanwhile.
[[nodiscard]] std::optional<file_digest> digest_of_file(const std::string& path);

/// The same of an open file, whose position stays where it is.
[[nodiscard]] std::optional<file_digest> digest_of_file(int descriptor);

/// Computes the digest of a file in a thread of its own. Ends early with the object.
class digest_task {
 public:
  /// @param path "-": standard input. A pipe or a device has no digest: its bytes pass once.
  explicit digest_task(const std::string& path);
  ~digest_task();
  digest_task(const digest_task&) = delete;
  digest_task& operator=(const digest_task&) = delete;
  /// Waits for it. Nothing where there is none, or the file could not be read.
  [[nodiscard]] std::optional<file_digest> get();
  /// The digest if it is there by now.
  [[nodiscard]] std::optional<file_digest> get_if_ready();

 private:
  std::atomic<bool> is_stopped_ = false;
  std::future<std::optional<file_digest>> result_;
};

}  // namespace gpu::io
