#pragma once
// Where results go. A file appears under its name only when it is complete.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace gpu::io {

/// Bytes to a file or standard output; every failure is an output_error, a short write too.
///
/// A regular file is written as `<path>.partial` and renamed by commit(). Without commit() it is
/// removed, unless keep_partial() says that what is there is worth keeping. Anything else
/// (standard output, a pipe, a device) is written in place.
class output_file {
 public:
  /// @param path a file, or "-" for standard output.
  /// @throw output_error where it cannot be created.
  explicit output_file(const std::string& path);
  ~output_file();
  output_file(const output_file&) = delete;
  output_file& operator=(const output_file&) = delete;

  void write(std::string_view bytes);
  /// Whether replace() is possible.
  [[nodiscard]] bool can_replace() const noexcept { return !partial_path_.empty(); }
  /// Overwrites bytes that were written before.
  void replace(std::uint64_t position, std::string_view bytes);
  /// Gives the file its name. Nothing may be written afterwards.
  void commit();
  /// Keeps what was written; returns the name it is under, or that of the stream.
  std::string keep_partial();

  [[nodiscard]] std::uint64_t bytes_written() const noexcept { return bytes_written_; }
  [[nodiscard]] const std::string& name() const noexcept { return name_; }

 private:
  void close();

  std::string name_;
  std::string path_;
  std::string partial_path_;  // empty: written in place
  int descriptor_ = -1;
  bool is_kept_ = false;
  std::uint64_t bytes_written_ = 0;
};

}  // namespace gpu::io
