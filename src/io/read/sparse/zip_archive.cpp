#include "io/read/sparse/zip_archive.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <new>
#include <optional>
#include <span>
#include <utility>

#include "io/io_error.hpp"

namespace gpu::io {
namespace {

constexpr std::uint32_t local_signature = 0x04034b50;
constexpr std::uint32_t entry_signature = 0x02014b50;
constexpr std::uint32_t end_signature = 0x06054b50;
constexpr std::uint32_t long_end_signature = 0x06064b50;
constexpr std::uint32_t locator_signature = 0x07064b50;
constexpr std::size_t local_bytes = 30;
constexpr std::size_t entry_bytes = 46;
constexpr std::size_t end_bytes = 22;
constexpr std::size_t long_end_bytes = 56;
constexpr std::size_t locator_bytes = 20;
constexpr std::uint32_t in_long_form = 0xffffffff;
constexpr std::uint64_t most_directory_bytes = std::uint64_t{1} << 20;

// A little-endian number of `bytes` bytes.
std::uint64_t number_at(std::string_view text, std::size_t at, std::size_t bytes) {
  std::uint64_t out = 0;
  for (std::size_t k = bytes; k-- > 0;) out = out << 8 | static_cast<unsigned char>(text[at + k]);
  return out;
}

// Deflate makes 1032 bytes of one at most.
bool can_unpack_to(std::uint64_t compressed, std::uint64_t size) {
  constexpr std::uint64_t most_ratio = 1032;
  return size / most_ratio <= compressed;
}

// The bytes of a member, unpacked and checked.
class member_stream final : public byte_stream {
 public:
  member_stream(const seekable_bytes& bytes, std::string file, const zip_member& member,
                std::uint64_t begin)
      : bytes_(bytes), file_(std::move(file)), member_(member), position_(begin) {
    left_packed_ = member.compressed;
    constexpr int raw = -15;
    if (member.is_deflated && inflateInit2(&state_, raw) != Z_OK) throw std::bad_alloc();
  }
  ~member_stream() override {
    if (member_.is_deflated) inflateEnd(&state_);
  }
  member_stream(const member_stream&) = delete;
  member_stream& operator=(const member_stream&) = delete;

  std::size_t read(std::span<char> out) override {
    const std::size_t got = member_.is_deflated ? unpack(out) : copy(out);
    add_to_sum(out.first(got));
    done_ += got;
    if (done_ == member_.size) check_end();
    return got;
  }
  [[nodiscard]] std::uint64_t most_bytes() const override { return member_.size - done_; }

 private:
  [[noreturn]] void fail(const char* what) const {
    throw input_error(
        file_, {},
        fmt::format("member {} of the archive is damaged: {}", io::quoted(member_.name), what));
  }

  std::size_t copy(std::span<char> out) {
    const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(out.size(), left_packed_));
    const std::size_t got = bytes_.read_at(position_, out.first(count));
    if (got < count) fail("it is cut short");
    position_ += got;
    left_packed_ -= got;
    return got;
  }

  void refill() {
    const auto count =
        static_cast<std::size_t>(std::min<std::uint64_t>(buffer_.size(), left_packed_));
    const std::size_t got = bytes_.read_at(position_, std::span(buffer_).first(count));
    if (got < count) fail("it is cut short");
    position_ += got;
    left_packed_ -= got;
    state_.next_in = reinterpret_cast<unsigned char*>(buffer_.data());
    state_.avail_in = static_cast<uInt>(got);
  }

  // Up to `out.size()` bytes; zlib counts in 32 bits.
  std::size_t unpack(std::span<char> out) {
    constexpr std::size_t piece_bytes = std::size_t{1} << 30;
    const std::size_t wanted =
        static_cast<std::size_t>(std::min<std::uint64_t>(out.size(), member_.size - done_));
    std::size_t filled = 0;
    while (filled < wanted && !is_ended_) {
      state_.next_out = reinterpret_cast<unsigned char*>(out.data() + filled);
      const std::size_t room = std::min(piece_bytes, wanted - filled);
      state_.avail_out = static_cast<uInt>(room);
      // Without more input zlib may still have output.
      if (state_.avail_in == 0 && left_packed_ > 0) refill();
      step();
      filled += room - state_.avail_out;
    }
    if (filled < wanted) fail("it unpacks to less than the directory says");
    return filled;
  }

  void step() {
    const int code = inflate(&state_, Z_NO_FLUSH);
    if (code == Z_MEM_ERROR) throw std::bad_alloc();
    is_ended_ = code == Z_STREAM_END;
    if (!is_ended_ && code != Z_OK && code != Z_BUF_ERROR) fail("it cannot be unpacked");
    // No input was left, and nothing came of what there was.
    if (code == Z_BUF_ERROR && left_packed_ == 0) fail("it ends early");
  }

  void add_to_sum(std::span<const char> bytes) {
    sum_ = static_cast<std::uint32_t>(
        crc32_z(sum_, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()));
  }

  void check_end() {
    if (std::exchange(is_checked_, true)) return;
    while (member_.is_deflated && !is_ended_) {
      unsigned char more = 0;
      state_.next_out = &more;
      state_.avail_out = 1;
      if (state_.avail_in == 0 && left_packed_ > 0) refill();
      step();
      if (state_.avail_out == 0) fail("it unpacks to more than the directory says");
    }
    if (state_.avail_in > 0 || left_packed_ > 0) fail("it has more bytes than it unpacks");
    if (sum_ != member_.crc) fail("its sum (CRC-32) is another one than the directory says");
  }

  const seekable_bytes& bytes_;
  std::string file_;
  zip_member member_;
  std::uint64_t position_;
  std::uint64_t left_packed_ = 0;
  std::uint64_t done_ = 0;
  std::uint32_t sum_ = 0;
  bool is_ended_ = false;
  bool is_checked_ = false;
  std::array<char, std::size_t{64} << 10> buffer_{};
  z_stream state_ = {};
};

// Where the directory stands.
struct directory_place {
  std::uint64_t begin = 0;
  std::uint64_t bytes = 0;
  std::uint64_t members = 0;
  std::uint64_t end = 0;  ///< The least that may follow it.
};

std::string bytes_at(const seekable_bytes& bytes, std::uint64_t at, std::size_t count) {
  std::string out(count, '\0');
  out.resize(bytes.read_at(at, out));
  return out;
}

// The 64-bit form of what the last record says, where there is one in front of it.
bool take_long_end(const seekable_bytes& bytes, std::uint64_t end_at, directory_place& out) {
  if (end_at < locator_bytes) return true;
  const std::string locator = bytes_at(bytes, end_at - locator_bytes, locator_bytes);
  if (locator.size() < locator_bytes || number_at(locator, 0, 4) != locator_signature) return true;
  const std::uint64_t at = number_at(locator, 8, 8);
  if (at > end_at - locator_bytes || end_at - locator_bytes - at < long_end_bytes) return false;
  const std::string record = bytes_at(bytes, at, long_end_bytes);
  if (record.size() < long_end_bytes || number_at(record, 0, 4) != long_end_signature) return false;
  out = {.begin = number_at(record, 48, 8),
         .bytes = number_at(record, 40, 8),
         .members = number_at(record, 32, 8),
         .end = at};
  return true;
}

std::optional<directory_place> find_directory(const seekable_bytes& bytes) {
  constexpr std::uint64_t longest_comment = 0xffff;
  const std::uint64_t size = bytes.size();
  const std::uint64_t from = size - std::min(size, longest_comment + end_bytes);
  const std::string tail = bytes_at(bytes, from, static_cast<std::size_t>(size - from));
  if (tail.size() < end_bytes) return std::nullopt;
  for (std::size_t at = tail.size() - end_bytes + 1; at-- > 0;) {
    if (number_at(tail, at, 4) != end_signature) continue;
    if (at + end_bytes + number_at(tail, at + 20, 2) != tail.size()) continue;
    directory_place out{.begin = number_at(tail, at + 16, 4),
                        .bytes = number_at(tail, at + 12, 4),
                        .members = number_at(tail, at + 10, 2),
                        .end = from + at};
    if (!take_long_end(bytes, from + at, out)) return std::nullopt;
    if (out.begin > out.end || out.bytes > out.end - out.begin) return std::nullopt;
    return out;
  }
  return std::nullopt;
}

// The sizes that an entry has in 64 bits: in the order in which its own fields lack them.
bool take_long_sizes(std::string_view extra, zip_member& out) {
  while (extra.size() >= 4) {
    const std::uint64_t kind = number_at(extra, 0, 2);
    const auto length = static_cast<std::size_t>(number_at(extra, 2, 2));
    if (extra.size() - 4 < length) return false;
    std::string_view body = extra.substr(4, length);
    extra.remove_prefix(4 + length);
    if (kind != 1) continue;
    for (std::uint64_t* const value : {&out.size, &out.compressed, &out.offset}) {
      if (*value != in_long_form) continue;
      if (body.size() < 8) return false;
      *value = number_at(body, 0, 8);
      body.remove_prefix(8);
    }
    return true;
  }
  return true;
}

}  // namespace

zip_archive::zip_archive(std::unique_ptr<seekable_bytes> bytes, std::string file,
                         std::uint64_t max_bytes)
    : bytes_(std::move(bytes)), file_(std::move(file)) {
  read_directory(max_bytes);
}

void zip_archive::fail(const std::string& what) const {
  throw input_error(file_, {}, "the zip archive is damaged: " + what);
}

// The entry at byte `at` of the directory, which is that of the next one then.
zip_member zip_archive::take_entry(const std::string& text, std::size_t& at) const {
  if (text.size() - at < entry_bytes || number_at(text, at, 4) != entry_signature) {
    fail(fmt::format("its directory has no entry at byte {}", at));
  }
  const auto name_bytes = static_cast<std::size_t>(number_at(text, at + 28, 2));
  const auto extra_bytes = static_cast<std::size_t>(number_at(text, at + 30, 2));
  const auto comment_bytes = static_cast<std::size_t>(number_at(text, at + 32, 2));
  const std::size_t all = entry_bytes + name_bytes + extra_bytes + comment_bytes;
  if (text.size() - at < all) fail("its directory is cut short");
  zip_member member{.name = text.substr(at + entry_bytes, name_bytes),
                    .offset = number_at(text, at + 42, 4),
                    .compressed = number_at(text, at + 20, 4),
                    .size = number_at(text, at + 24, 4),
                    .crc = static_cast<std::uint32_t>(number_at(text, at + 16, 4))};
  const std::string_view extra =
      std::string_view(text).substr(at + entry_bytes + name_bytes, extra_bytes);
  if (!take_long_sizes(extra, member)) fail("the sizes of " + io::quoted(member.name));
  const std::uint64_t method = number_at(text, at + 10, 2);
  if ((number_at(text, at + 8, 2) & 1U) != 0) fail(io::quoted(member.name) + " is encrypted");
  if (method != 0 && method != 8) {
    fail(fmt::format("{} is compressed by method {}, expected 0 (stored) or 8 (deflate)",
                     io::quoted(member.name), method));
  }
  member.is_deflated = method == 8;
  const bool is_possible = member.is_deflated ? can_unpack_to(member.compressed, member.size)
                                              : member.compressed == member.size;
  if (!is_possible || member.offset > directory_begin_ ||
      member.compressed > directory_begin_ - member.offset) {
    fail(fmt::format("{} is said to have {} bytes, {} in the archive", io::quoted(member.name),
                     member.size, member.compressed));
  }
  at += all;
  return member;
}

void zip_archive::read_directory(std::uint64_t max_bytes) {
  const auto place = find_directory(*bytes_);
  if (!place) fail("it has no directory at its end");
  if (place->bytes > most_directory_bytes) {
    fail(fmt::format("got a directory of {} bytes, expected at most {}", place->bytes,
                     most_directory_bytes));
  }
  directory_begin_ = place->begin;
  const std::string text = bytes_at(*bytes_, place->begin, static_cast<std::size_t>(place->bytes));
  std::uint64_t unpacked = 0;
  for (std::size_t at = 0; at < text.size();) {
    zip_member member = take_entry(text, at);
    if (find(member.name) != nullptr) fail(io::quoted(member.name) + " is there twice");
    if (member.size > max_bytes - unpacked) {
      throw input_error(file_, {},
                        fmt::format("unpacks to more than the {} bytes that are allowed "
                                    "(max_bytes, --max-input)",
                                    max_bytes));
    }
    unpacked += member.size;
    members_.push_back(std::move(member));
  }
  if (members_.size() != place->members) {
    fail(fmt::format("got {} members, expected the {} that its end says", members_.size(),
                     place->members));
  }
}

const zip_member* zip_archive::find(std::string_view name) const {
  const auto found = std::find_if(members_.begin(), members_.end(),
                                  [&](const zip_member& m) { return m.name == name; });
  return found == members_.end() ? nullptr : &*found;
}

std::unique_ptr<byte_stream> zip_archive::open(const zip_member& member) const {
  const std::string header = bytes_at(*bytes_, member.offset, local_bytes);
  if (header.size() < local_bytes || number_at(header, 0, 4) != local_signature) {
    fail(io::quoted(member.name) + " does not begin where the directory says");
  }
  const std::uint64_t begin =
      member.offset + local_bytes + number_at(header, 26, 2) + number_at(header, 28, 2);
  const auto name_bytes = static_cast<std::size_t>(number_at(header, 26, 2));
  if (bytes_at(*bytes_, member.offset + local_bytes, name_bytes) != member.name) {
    fail(io::quoted(member.name) + " has another name where it begins");
  }
  if (begin > directory_begin_ || member.compressed > directory_begin_ - begin) {
    fail(io::quoted(member.name) + " reaches into the directory");
  }
  return std::make_unique<member_stream>(*bytes_, file_, member, begin);
}

}  // namespace gpu::io
