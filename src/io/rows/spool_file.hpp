#pragma once
// Bytes that are written later, because a header that is known last comes before them.

#include <string_view>

namespace gpu::io {

class output_file;

/// A file without a name in the folder for temporary files (TMPDIR, or /tmp). It goes away with the
/// object, or with the process.
class spool_file {
 public:
  /// @throw output_error where it cannot be created.
  spool_file();
  ~spool_file();
  spool_file(const spool_file&) = delete;
  spool_file& operator=(const spool_file&) = delete;
  /// @throw output_error
  void write(std::string_view bytes);
  /// Writes everything to `out`.
  /// @throw output_error, and what output_file::write throws.
  void copy_to(output_file& out) const;

 private:
  [[noreturn]] void fail(const char* what) const;
  int descriptor_ = -1;
};

}  // namespace gpu::io
