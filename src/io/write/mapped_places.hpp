#pragma once
// Bytes of a file that lies in memory (tmpfs), stored through mappings. Threads that call write()
// on such a file wait for each other; those that store to its pages do not.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string_view>

namespace gpu::io {

/// Places of a file that grows. Each piece of it is mapped from when its first place is taken until
/// all of its bytes are stored, so that few pages are mapped at a time. Space is had before
/// anything is stored: what does not fit is refused, and is no fault of the memory.
class mapped_places {
 public:
  /// Null where the file does not lie in memory, cannot be read and written, or may not grow as
  /// it likes.
  [[nodiscard]] static std::unique_ptr<mapped_places> of(int descriptor);

  /// The next place is [begin, end), behind all others. By one thread.
  void take(std::uint64_t begin, std::uint64_t end);
  /// Stores bytes, once, at a place. Several threads may. Where it returns false some of them may
  /// not be there: a write of them tells why.
  [[nodiscard]] bool store(std::uint64_t position, std::string_view bytes);

 private:
  struct piece;

  explicit mapped_places(int descriptor) : descriptor_(descriptor) {}
  [[nodiscard]] std::shared_ptr<piece> piece_at(std::uint64_t number);
  void map_piece(std::uint64_t number, std::uint64_t first_byte);

  int descriptor_;
  std::uint64_t begin_ = 0;  // of the first place
  std::uint64_t end_ = 0;    // of the pieces
  std::atomic<bool> is_refused_ = false;
  std::mutex mutex_;
  std::map<std::uint64_t, std::shared_ptr<piece>> pieces_;
};

}  // namespace gpu::io
