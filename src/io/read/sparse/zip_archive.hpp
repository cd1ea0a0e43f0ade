#pragma once
// Zip archives as numpy.savez writes them: stored or deflated members, of any size.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "io/read/byte_stream.hpp"

namespace gpu::io {

inline constexpr std::string_view zip_magic = "PK\x03\x04";

struct zip_member {
  std::string name;
  std::uint64_t offset = 0;      ///< Of its own header.
  std::uint64_t compressed = 0;  ///< Bytes in the archive.
  std::uint64_t size = 0;        ///< Bytes when unpacked.
  std::uint32_t crc = 0;         ///< Of these.
  bool is_deflated = false;
};

class zip_archive {
 public:
  /// Reads the directory at the end. No memory is taken for what it promises.
  /// @param max_bytes what all members may unpack to.
  /// @throw input_error where it is damaged, promises more than its bytes can unpack to or more
  ///   than `max_bytes`, or has members that are encrypted or compressed in other ways
  zip_archive(std::unique_ptr<seekable_bytes> bytes, std::string file, std::uint64_t max_bytes);

  [[nodiscard]] const std::vector<zip_member>& members() const { return members_; }
  /// Null where there is none of that name.
  [[nodiscard]] const zip_member* find(std::string_view name) const;
  /// What a member holds; the archive outlives the stream. Reading its last byte checks the sum.
  /// @throw input_error, also while the stream is read
  [[nodiscard]] std::unique_ptr<byte_stream> open(const zip_member& member) const;

 private:
  void read_directory(std::uint64_t max_bytes);
  [[nodiscard]] zip_member take_entry(const std::string& text, std::size_t& at) const;
  [[noreturn]] void fail(const std::string& what) const;

  std::unique_ptr<seekable_bytes> bytes_;
  std::string file_;
  std::vector<zip_member> members_;
  std::uint64_t directory_begin_ = 0;
};

}  // namespace gpu::io
