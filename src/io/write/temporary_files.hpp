#pragma once
// The names of files that are to go away where the process ends without unwinding.

#include <cstddef>
#include <string>

namespace gpu::io {

/// Registers one path for the life of the object, or until release().
class temporary_file_entry {
 public:
  /// A path longer than the system takes, or one too many, is not registered.
  explicit temporary_file_entry(const std::string& path) noexcept;
  ~temporary_file_entry();
  temporary_file_entry(const temporary_file_entry&) = delete;
  temporary_file_entry& operator=(const temporary_file_entry&) = delete;
  /// Forgets the path: the file has its name now, or is to stay.
  void release() noexcept;

 private:
  static constexpr std::size_t none = ~std::size_t{0};
  std::size_t slot_ = none;
};

/// Removes every registered file. May be called from a signal handler.
void remove_temporary_files() noexcept;

}  // namespace gpu::io
