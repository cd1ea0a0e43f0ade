#include "io/read/input.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <future>
#include <limits>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/parallel.hpp"
#include "io/io_error.hpp"
#include "io/read/file_stream.hpp"
#include "io/read/gzip_stream.hpp"
#include "io/read/zstd_stream.hpp"
#include "io/text/value_arena.hpp"

namespace gpu::io {
namespace {

struct known_format {
  std::string_view magic;
  std::string_view what;
};

constexpr std::string_view utf32 =
    "is UTF-32 text, expected UTF-8: iconv -f UTF-32 -t UTF-8 FILE | gpu-similarity ... -";

// What is left behind the layers that are taken off.
constexpr std::string_view compressed_again =
    "is compressed more than four times, expected text or .npy, or either with gzip or zstd once";

constexpr std::array<known_format, 11> formats{{
    {{"\xFD"
      "7zXZ\0",
      6},
     "is compressed by xz, expected text, .npy, or either with gzip or zstd: xz -dc FILE | "
     "gpu-similarity ... -"},
    {"BZh91AY&",
     "is compressed by bzip2, expected text, .npy, or either with gzip or zstd: bzip2 -dc FILE | "
     "gpu-similarity ... -"},
    {"PAR1",
     "is a Parquet file, expected text or .npy: in Python, gpu_similarity takes "
     "pandas.read_parquet(FILE)"},
    {{"ARROW1\0\0", 8},
     "is an Arrow file, expected text or .npy: in Python, gpu_similarity takes pandas, Polars and "
     "pyarrow tables"},
    {"RDX3\nX\n", "is an R data file, expected text or .npy: write.table() writes text"},
    // Before UTF-16, whose mark is the first half of this one.
    {{"\xFF\xFE\0\0", 4}, utf32},
    {{"\0\0\xFE\xFF", 4}, utf32},
    {"\x1F\x8B", compressed_again},
    {"\x28\xB5\x2F\xFD", compressed_again},
    {"\xFF\xFE",
     "is UTF-16 text, expected UTF-8: iconv -f UTF-16 -t UTF-8 FILE | gpu-similarity ... -"},
    {"\xFE\xFF",
     "is UTF-16 text, expected UTF-8: iconv -f UTF-16 -t UTF-8 FILE | gpu-similarity ... -"},
}};

constexpr std::string_view unmarked_utf16 =
    "looks like UTF-16 text, expected UTF-8: iconv -f UTF-16LE -t UTF-8 FILE | gpu-similarity ... "
    "- "
    "(UTF-16BE where the most significant byte comes first)";

constexpr std::string_view unmarked_utf32 =
    "looks like UTF-32 text, expected UTF-8: iconv -f UTF-32LE -t UTF-8 FILE | gpu-similarity ... "
    "- "
    "(UTF-32BE where the most significant byte comes first)";

constexpr std::string_view hdf5_magic = "\x89HDF\r\n\x1A\n";

/// What `what` says of a file that Python writes as one that is read: `{}` in it is its name.
std::string python_text(std::string_view what, const std::string& name) {
  // Standard input has no name, and others do not stand in both kinds of quotes.
  const bool is_plain =
      name != "standard input" && name.find_first_of("'\"\\$`!\n") == std::string::npos;
  return fmt::format(fmt::runtime(what), is_plain ? name : "FILE");
}

constexpr std::string_view zip_text =
    "is a zip archive, which is not read here. Write a sparse matrix of scipy.sparse.save_npz as "
    ".mtx: python3 -c \"import scipy.io as o, scipy.sparse as s; o.mmwrite('{0}.mtx', "
    "s.load_npz('{0}'))\". An .xlsx is read as CSV, a dense array as .npy";

constexpr std::string_view anndata_text =
    "is an HDF5 file of AnnData, which is not read here. Write its genes as a sparse file: python3 "
    "-c \"import anndata, scipy.io as o, scipy.sparse as s; a = anndata.read_h5ad('{0}'); "
    "o.mmwrite('{0}.mtx', s.coo_array(a.X.T)); open('{0}.names', "
    "'w').write('\\n'.join(a.var_names))\" then gpu-similarity ... {0}.mtx --names {0}.names";

constexpr std::string_view hdf5_text =
    "is an HDF5 file, which is not read here. Write its genes as a sparse file: python3 -c "
    "\"import "
    "h5py, scipy.io as o, scipy.sparse as s; m = h5py.File('{0}')['matrix']; o.mmwrite('{0}.mtx', "
    "s.csc_array((m['data'][:], m['indices'][:], m['indptr'][:]), shape=m['shape'][:])); "
    "open('{0}.names', 'w').write('\\n'.join(m['features/name'].asstr()))\" then gpu-similarity "
    "... {0}.mtx --names {0}.names";

/// What a file called `name` is that begins with `head`, and what to do with it; "" where nothing
/// is known.
std::string other_format(std::string_view head, const std::string& name) {
  if (head.starts_with(hdf5_magic)) {
    return python_text(name.ends_with(".h5ad") ? anndata_text : hdf5_text, name);
  }
  if (head.starts_with("PK\x03\x04")) return python_text(zip_text, name);
  for (const known_format& format : formats) {
    if (head.starts_with(format.magic)) return std::string(format.what);
  }
  // Of each letter of ASCII text one byte is not 0.
  if (head.size() < 4) return {};
  const auto has_text_at = [&](bool first, bool second, bool third, bool fourth) {
    return (head[0] != 0) == first && (head[1] != 0) == second && (head[2] != 0) == third &&
           (head[3] != 0) == fourth;
  };
  if (has_text_at(true, false, true, false) || has_text_at(false, true, false, true)) {
    return std::string(unmarked_utf16);
  }
  if (has_text_at(true, false, false, false) || has_text_at(false, false, false, true)) {
    return std::string(unmarked_utf32);
  }
  return {};
}

constexpr std::size_t head_bytes = 8;                       // longest magic that is asked for
constexpr std::size_t block_bytes = std::size_t{16} << 20;  // of text

/// Gives back bytes that were taken from a stream to look at them.
class rejoined_stream final : public byte_stream {
 public:
  rejoined_stream(std::string head, std::unique_ptr<byte_stream> rest)
      : head_(std::move(head)), rest_(std::move(rest)) {}

  std::size_t read(std::span<char> out) override {
    const std::size_t from_head = std::min(out.size(), head_.size() - used_);
    std::memcpy(out.data(), head_.data() + used_, from_head);
    used_ += from_head;
    if (from_head == out.size()) return from_head;
    return from_head + rest_->read(out.subspan(from_head));
  }

  [[nodiscard]] std::uint64_t most_bytes() const override {
    const std::uint64_t from_head = head_.size() - used_;
    const std::uint64_t rest = rest_->most_bytes();
    return rest + std::min(from_head, byte_stream::most_bytes() - rest);
  }

 private:
  std::string head_;
  std::size_t used_ = 0;
  std::unique_ptr<byte_stream> rest_;
};

/// Counts the bytes that pass.
class counted_stream final : public byte_stream {
 public:
  counted_stream(std::unique_ptr<byte_stream> stream,
                 std::shared_ptr<std::atomic<std::uint64_t>> count)
      : stream_(std::move(stream)), count_(std::move(count)) {}
  std::size_t read(std::span<char> out) override {
    const std::size_t got = stream_->read(out);
    count_->fetch_add(got, std::memory_order_relaxed);
    return got;
  }
  [[nodiscard]] std::uint64_t most_bytes() const override { return stream_->most_bytes(); }

 private:
  std::unique_ptr<byte_stream> stream_;
  std::shared_ptr<std::atomic<std::uint64_t>> count_;
};

/// Room for text, not initialised.
class text_buffer {
 public:
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] char* data() noexcept { return bytes_.get(); }
  [[nodiscard]] std::span<char> from(std::size_t begin) {
    return std::span(bytes_.get(), size_).subspan(begin);
  }
  /// Makes room for `size` bytes, keeping the first `kept`.
  void grow(std::size_t size, std::size_t kept) {
    if (size <= size_) return;
    auto larger = std::make_unique_for_overwrite<char[]>(size);
    prefer_large_pages(larger.get(), size);
    if (kept > 0) std::memcpy(larger.get(), bytes_.get(), kept);
    bytes_ = std::move(larger);
    size_ = size;
  }

 private:
  std::unique_ptr<char[]> bytes_;
  std::size_t size_ = 0;
};

/// Blocks of a stream, read one ahead in another thread where there is one.
class streamed_lines final : public line_source {
 public:
  streamed_lines(std::unique_ptr<byte_stream> stream, int threads)
      : stream_(std::move(stream)),
        policy_(threads > 1 ? std::launch::async : std::launch::deferred) {
    read_ahead();
  }

  std::string_view next() override {
    if (!ahead_.valid()) return {};
    ahead_.get();
    std::swap(current_, coming_);
    if (!current_.at_end) read_ahead();
    return {current_.bytes.data(), current_.whole_lines};
  }

 private:
  struct block {
    text_buffer bytes;
    std::size_t filled = 0;
    std::size_t whole_lines = 0;  // bytes up to the last newline, all of them at the end
    bool at_end = false;
  };

  void read_ahead() {
    // The line that the current block cuts starts the next.
    const std::size_t rest = current_.filled - current_.whole_lines;
    // One byte more than there can be shows the end.
    const std::uint64_t left = stream_->most_bytes();
    const std::size_t more = left < block_bytes ? static_cast<std::size_t>(left) + 1 : block_bytes;
    coming_.bytes.grow(rest + more, 0);
    if (rest > 0) {
      std::memcpy(coming_.bytes.data(), current_.bytes.data() + current_.whole_lines, rest);
    }
    coming_.filled = rest;
    try {
      ahead_ = std::async(policy_, [this] { fill(coming_); });
    } catch (const std::system_error&) {  // no thread to be had: nothing is read ahead
      ahead_ = std::async(std::launch::deferred, [this] { fill(coming_); });
    }
  }

  void fill(block& b) {
    for (;;) {
      const std::size_t got = stream_->read(b.bytes.from(b.filled));
      b.filled += got;
      b.at_end = b.filled < b.bytes.size();
      const std::string_view text(b.bytes.data(), b.filled);
      const std::size_t last = text.rfind('\n');
      b.whole_lines = b.at_end ? b.filled : last == std::string_view::npos ? 0 : last + 1;
      if (b.at_end || b.whole_lines > 0) return;
      b.bytes.grow(b.bytes.size() * 2, b.filled);
    }
  }

  std::unique_ptr<byte_stream> stream_;
  std::launch policy_;
  block current_;
  block coming_;
  std::future<void> ahead_;  // last: its destructor waits for a thread that uses the others
};

}  // namespace

input::input(const std::string& path, stop_request stop, std::uint64_t max_bytes,
             std::shared_ptr<file_digest> digest, int threads)
    : name_(path == "-" ? "standard input" : path),
      stop_(std::move(stop)),
      max_bytes_(max_bytes),
      threads_(detail::thread_count(threads)),
      bytes_read_(std::make_shared<std::atomic<std::uint64_t>>(0)) {
  // Opening a FIFO does not wait for its writer: reading does, and a stop request ends that.
  const int descriptor =
      path == "-" ? ::dup(STDIN_FILENO) : ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (descriptor < 0) throw input_error(name_, {}, "cannot be opened: " + system_message(errno));
  stream_ = make_file_stream(descriptor, name_, stop_, threads_, std::move(digest));
  const std::uint64_t most = stream_->most_bytes();
  if (most != std::numeric_limits<std::uint64_t>::max()) file_bytes_ = most;
  stream_ = std::make_unique<counted_stream>(std::move(stream_), bytes_read_);
  take_head();
  // Some files are compressed twice by mistake; each layer unpacks to `max_bytes` at most.
  constexpr int most_layers = 4;
  for (int layer = 0; layer < most_layers; ++layer) {
    if (begins_with(gzip_magic)) {
      stream_ = std::make_unique<gzip_stream>(bytes(), name_, max_bytes);
    } else if (begins_with(zstd_magic)) {
      stream_ = make_zstd_stream(bytes(), name_, max_bytes);
    } else {
      break;
    }
    take_head();
  }
  const std::string other = other_format(head_, name_);
  if (!other.empty()) throw input_error(name_, {}, other);
}

std::optional<double> input::share_read() const {
  if (file_bytes_ == 0) return std::nullopt;
  return std::min(1.0, static_cast<double>(bytes_read_->load(std::memory_order_relaxed)) /
                           static_cast<double>(file_bytes_));
}

void input::take_head() {
  head_.resize(head_bytes);
  head_.resize(stream_->read(head_));
}

bool input::begins_with(std::string_view magic) const {
  return head_.starts_with(magic);
}

std::unique_ptr<byte_stream> input::bytes() {
  return std::make_unique<rejoined_stream>(head_, std::move(stream_));
}

void input::check_stop() const {
  if (stop_ && stop_()) throw interrupted{};
}

std::unique_ptr<line_source> input::lines() {
  return std::make_unique<streamed_lines>(bytes(), threads_);
}

}  // namespace gpu::io
