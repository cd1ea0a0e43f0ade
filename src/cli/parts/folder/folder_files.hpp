#pragma once
// The one way to the files of a folder of parts. No link is followed in it, and only regular files
// of the user who runs the command are read: others may be able to write there too.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "io/write/output_target.hpp"

namespace gpu::cli {

class open_file {
 public:
  explicit open_file(int descriptor) noexcept : descriptor_(descriptor) {}
  ~open_file();
  open_file(open_file&& other) noexcept;
  open_file& operator=(open_file&&) = delete;
  open_file(const open_file&) = delete;
  open_file& operator=(const open_file&) = delete;
  [[nodiscard]] int descriptor() const noexcept { return descriptor_; }
  /// The descriptor, which the caller closes.
  [[nodiscard]] int release() noexcept { return std::exchange(descriptor_, -1); }

 private:
  int descriptor_;
};

/// What stands under a name.
struct found_file {
  bool is_there = false;               ///< Whether anything is.
  std::string fault = {};              ///< Why it is not taken; "" where it is.
  std::optional<open_file> file = {};  ///< Of one that is taken.
  std::uint64_t bytes = 0;
};

enum class folder_kind {
  named,  ///< By the user, who vouches for it; links on the way to it are followed.
  hidden  ///< Beside an output, under a name that others can guess: the user's own, and private.
};

enum class lock_kind { shared, exclusive };
enum class lock_state { held, refused, not_offered };

/// The folder is opened by the first call that needs it, and stays that one, whatever becomes of
/// its name.
class folder_files {
 public:
  folder_files(std::string path, folder_kind kind);

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] folder_kind kind() const noexcept { return kind_; }
  [[nodiscard]] std::string path_of(std::string_view name) const {
    return path_ + "/" + std::string(name);
  }

  /// Makes the folder where it is not there.
  /// @throw io::output_error; parts_error where a hidden one is a link or another user's.
  void create() const;

  /// Names of everything in it, unordered.
  /// @throw parts_error where it cannot be read.
  [[nodiscard]] std::vector<std::string> names() const;
  /// @throw parts_error where the folder cannot be opened.
  [[nodiscard]] found_file find(std::string_view name) const;
  /// All of a file; nothing where it is not taken or has more than `most_bytes`.
  [[nodiscard]] std::optional<std::string> read(std::string_view name,
                                                std::uint64_t most_bytes) const;
  /// Where output_file is to write that file: links in the folder are replaced, not followed.
  [[nodiscard]] io::output_target target_of(std::string_view name) const;
  /// Writes a small file so that it appears whole or not at all.
  /// @throw io::output_error
  void write(std::string_view name, std::string_view text) const;
  /// A file to lock, made where it is not there; less than 0 where there is none to be had.
  [[nodiscard]] int open_lock(std::string_view name) const noexcept;
  void remove_if_empty(std::string_view name) const;
  void remove(std::string_view name) const noexcept;
  /// Removes the folder itself where it is empty.
  void remove_empty() const noexcept;

  /// Locks the folder until the object that holds `lock` is gone.
  [[nodiscard]] lock_state lock(lock_kind kind, std::optional<open_file>& lock) const;

 private:
  [[nodiscard]] int descriptor() const;

  std::string path_;
  folder_kind kind_;
  mutable std::shared_ptr<open_file> folder_;
};

}  // namespace gpu::cli
