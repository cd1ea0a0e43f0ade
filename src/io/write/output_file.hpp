#pragma once
// Where results go. A file appears under its name only when it is complete.

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "io/compression.hpp"
#include "io/file_digest.hpp"
#include "io/io_error.hpp"
#include "io/stop_request.hpp"
#include "io/write/output_target.hpp"
#include "io/write/temporary_files.hpp"

namespace gpu::io {

class closed_pipe : public output_error {
 public:
  using output_error::output_error;
};

/// More bytes than the outputs of a run may have together.
class output_limit_reached : public output_error {
 public:
  using output_error::output_error;
};

/// A budget that --force leaves open.
inline constexpr std::uint64_t no_byte_limit = ~std::uint64_t{0};

/// Bytes that several outputs may have together.
class byte_budget {
 public:
  explicit byte_budget(std::uint64_t limit) noexcept : limit_(limit), left_(limit) {}
  /// @throw output_limit_reached where fewer than `bytes` are left; none of them may be written.
  void take(const std::string& name, std::uint64_t bytes);

 private:
  std::uint64_t limit_;
  std::uint64_t left_;
};

struct output_settings {
  stop_request stop = {};  ///< Asked while something is written in place: a pipe can be full.
  byte_budget* budget = nullptr;  ///< Outlives the output; null: no limit.
  bool takes_digest = false;      ///< Whether digest() is asked for; then replace() is not.
  compression packed =
      compression::none;  ///< Of what write() takes; else replace() is not asked for.
  bool clobbers = true;   ///< Whether commit() may replace a file that came meanwhile.
};

/// Bytes to a file, a pipe or a device. Every failure is an output_error, a short write too.
///
/// A regular file is written under a new name in its folder, `<path>.<random>.partial`; commit()
/// writes it through to the disk and renames it over the target. An existing file keeps its mode.
/// Without commit() the new file is removed. Anything else is written in place; a FIFO is opened by
/// the first write, because that waits for a reader. One thread at a time.
class output_file {
 public:
  /// @throw output_error where it cannot be created.
  explicit output_file(output_target target, output_settings settings = {});
  /// As output_file(resolve_output(path), settings).
  explicit output_file(const std::string& path, output_settings settings = {});
  ~output_file();
  output_file(const output_file&) = delete;
  output_file& operator=(const output_file&) = delete;

  /// @throw output_error, closed_pipe, output_limit_reached before any of `bytes` is written,
  ///   interrupted where settings.stop asked for it.
  void write(std::string_view bytes);
  /// As write(), of bytes that are compressed already, as packed() says: whole blocks.
  void write_packed(std::string_view bytes);
  [[nodiscard]] compression packed() const noexcept { return settings_.packed; }
  [[nodiscard]] bool can_replace() const noexcept { return !partial_path_.empty(); }
  /// Writes bytes at a position: over some that were written before, or at a place of take_place().
  /// Several threads may, at places of their own.
  void replace(std::uint64_t position, std::string_view bytes) const;

  /// Whether several threads can write, each at places of its own: a regular file without digest.
  [[nodiscard]] bool has_places() const noexcept {
    return can_replace() && !settings_.takes_digest && packed() == compression::none;
  }
  /// More threads that write at places wait for each other (docs/experiments.md).
  static constexpr std::size_t most_place_threads = 2;
  /// The place of the next `bytes`, behind all before, for replace(); write() is not used any more.
  /// Asks the file system for space ahead, so that threads do not wait for each other to get it.
  /// @throw output_limit_reached
  [[nodiscard]] std::uint64_t take_place(std::uint64_t bytes);
  /// The next `bytes` stand at their place, and so do all before them.
  void count_placed(std::uint64_t bytes) noexcept { bytes_written_ += bytes; }
  /// Everything that was written is on the disk, or with the reader of a pipe. Nothing may be
  /// written afterwards.
  void sync();
  /// sync(), and the file gets its name.
  /// @throw output_error; where the file is complete but cannot be renamed, it stays and the
  /// message
  ///   says under which name.
  void commit();

  [[nodiscard]] std::uint64_t bytes_written() const noexcept { return bytes_written_; }
  /// Of what was written, where settings.takes_digest.
  [[nodiscard]] const file_digest& digest() const noexcept { return digest_; }
  [[nodiscard]] const std::string& name() const noexcept { return target_.name; }
  [[nodiscard]] const output_target& target() const noexcept { return target_; }

 private:
  void create_partial();
  [[nodiscard]] int folder() const noexcept;
  [[nodiscard]] std::string full_partial_path() const;
  void take_attributes_of_target() const;
  void open_in_place();
  void open_if_needed();
  void write_bytes(std::string_view bytes);
  void pack_waiting();
  void pack_rest();
  [[nodiscard]] bool take_name() const;
  void wait_for_room() const;
  void check_stop() const;
  void reserve_space(std::uint64_t end);
  void give_back_space();
  void close();
  [[noreturn]] void fail_to_write(int error_number) const;

  output_target target_;
  output_settings settings_;
  std::string partial_path_;  // empty: written in place
  std::optional<temporary_file_entry> entry_;
  int descriptor_ = -1;
  std::size_t largest_write_ = 0;  // bytes
  bool is_open_ = false;
  bool is_synced_ = false;
  bool is_kept_ = false;
  std::uint64_t bytes_written_ = 0;
  std::uint64_t places_end_ = 0;    // of those that were taken; 0: none was
  std::uint64_t reserved_end_ = 0;  // up to which the file system was asked for space
  bool is_space_refused_ = false;   // it is not asked again
  file_digest digest_;
  std::string waiting_;  // to be compressed as one block
};

}  // namespace gpu::io
