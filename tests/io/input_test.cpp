// Where bytes come from: compressed files, pipes, files that cannot be read.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "io/compression.hpp"
#include "io/npy_header.hpp"
#include "io/read/gzip_stream.hpp"
#include "io/read/read_table.hpp"
#include "support/catch.hpp"
#include "support/gzip_files.hpp"
#include "support/refusals.hpp"
#include "support/temporary_file.hpp"

namespace {

using gpu_test::write_gzip;

std::string numbered_lines(int count) {
  std::string text;
  for (int i = 0; i < count; ++i)
    text += std::to_string(i / 2) + " " + std::to_string(i % 7) + " 3\n";
  return text;
}

std::string refusal_of_file(const std::string& path, const gpu::io::read_options& options = {}) {
  return gpu_test::refusal_of<gpu::io::input_error>(
      [&] { (void)gpu::io::read_table(path, options); });
}

}  // namespace

TEST_CASE("Gzipped text and .npy are decompressed", "[io][gzip]") {
  const gpu_test::temporary_folder folder;
  SECTION("Text, longer than one block") {
    constexpr int rows = 1500000;
    write_gzip(folder.path("in.gz"), numbered_lines(rows));
    const auto table =
        gpu::io::read_table(folder.path("in.gz"), {.text = {.row_names = gpu::io::choice::no}});
    REQUIRE(table.rows() == rows);
    const auto& m = std::get<gpu::matrix<std::int32_t>>(table.values);
    bool all_equal = true;
    for (int i = 0; i < rows; ++i) all_equal = all_equal && m(i, 0) == i / 2 && m(i, 1) == i % 7;
    CHECK(all_equal);
  }
  SECTION("Two members") {
    write_gzip(folder.path("in.gz"), "1 2 3\n");
    write_gzip(folder.path("in.gz"), "4 5 6\n", "ab");
    CHECK(gpu::io::read_table(folder.path("in.gz")).rows() == 2);
  }
  SECTION("A name without .gz") {
    write_gzip(folder.path("in.txt"), "1 2 3\n");
    CHECK(gpu::io::read_table(folder.path("in.txt")).rows() == 1);
  }
  SECTION(".npy inside") {
    write_gzip(folder.path("in.npy.gz"), gpu::io::make_npy_header("'|u1'", {2, 2}) + "abcd");
    CHECK(gpu::io::read_table(folder.path("in.npy.gz")).element_name() == "uint8");
  }
}

TEST_CASE("Damaged gzip is refused", "[io][gzip]") {
  const gpu_test::temporary_folder folder;
  write_gzip(folder.path("in.gz"), numbered_lines(10000));
  const std::string whole = gpu_test::read_file(folder.path("in.gz"));
  const auto message_of = [&](const std::string& bytes) {
    return refusal_of_file(folder.write("bad.gz", bytes));
  };
  CHECK(message_of(whole.substr(0, whole.size() / 2)).find("truncated") != std::string::npos);
  CHECK(message_of(whole.substr(0, whole.size() - 1)).find("truncated") != std::string::npos);
  CHECK(message_of(whole.substr(0, 2)).find("truncated") != std::string::npos);
  std::string damaged = whole;
  damaged[damaged.size() / 2] = static_cast<char>(damaged[damaged.size() / 2] ^ 0x55);
  CHECK(message_of(damaged).find("damaged") != std::string::npos);
}

TEST_CASE("Zeros behind gzip are padding, anything else is damage", "[io][gzip]") {
  const gpu_test::temporary_folder folder;
  write_gzip(folder.path("in.gz"), numbered_lines(1000));
  const std::string whole = gpu_test::read_file(folder.path("in.gz"));
  const auto rows_of = [&](const std::string& bytes) {
    return gpu::io::read_table(folder.write("padded.gz", bytes)).rows();
  };
  // More padding than one buffer of compressed data, too.
  for (const std::size_t zeros : {1UL, 511UL, 300000UL}) {
    CHECK(rows_of(whole + std::string(zeros, '\0')) == 1000);
  }
  CHECK(rows_of(whole + whole + std::string(7, '\0')) == 2000);
  for (const std::string& rest :
       {std::string("garbage"), std::string("\0\0x", 3), std::string(300000, '\0') + "x",
        std::string(1, '\0') + whole, std::string("\x1f"), std::string("\x1f\x8b")}) {
    CHECK_THROWS_AS(rows_of(whole + rest), gpu::io::input_error);
  }
}

TEST_CASE("A .npy.gz without its last bytes is refused", "[io][gzip]") {
  const gpu_test::temporary_folder folder;
  write_gzip(folder.path("in.npy.gz"), gpu::io::make_npy_header("'|u1'", {2, 2}) + "abcd");
  const std::string whole = gpu_test::read_file(folder.path("in.npy.gz"));
  for (const std::size_t missing : {1UL, 4UL, 8UL}) {
    const std::string path = folder.write("cut.npy.gz", whole.substr(0, whole.size() - missing));
    CHECK_THROWS_AS(gpu::io::read_table(path), gpu::io::input_error);
  }
  std::string damaged = whole;
  damaged[damaged.size() - 6] = static_cast<char>(damaged[damaged.size() - 6] ^ 1);  // the CRC
  CHECK_THROWS_AS(gpu::io::read_table(folder.write("bad.npy.gz", damaged)), gpu::io::input_error);
}

TEST_CASE("What compressed input unpacks to has a limit", "[io][gzip]") {
  const gpu_test::temporary_folder folder;
  const std::string text = numbered_lines(1000);
  write_gzip(folder.path("in.gz"), text);
  const auto read = [&](std::uint64_t most) {
    return gpu::io::read_table(folder.path("in.gz"), {.max_bytes = most}).rows();
  };
  CHECK(read(text.size()) == 1000);
  for (const std::uint64_t most : {std::uint64_t{0}, std::uint64_t{1}, text.size() - 1}) {
    CHECK(refusal_of_file(folder.path("in.gz"), {.max_bytes = most})
              .find(std::to_string(most) + " bytes") != std::string::npos);
  }
  // What is not compressed is as large as it is.
  CHECK(gpu::io::read_table(folder.write("in.txt", text), {.max_bytes = 1}).rows() == 1000);
  // A .npy is refused by its header, before memory is taken.
  write_gzip(folder.path("in.npy.gz"),
             gpu::io::make_npy_header("'|u1'", {gpu::index_t{1} << 30, gpu::index_t{1} << 10}));
  CHECK_THROWS_AS(gpu::io::read_table(folder.path("in.npy.gz")), gpu::io::input_error);
}

TEST_CASE("Where zlib gets no memory, nothing is said to be damaged", "[io][gzip]") {
  class bytes_of_string final : public gpu::io::byte_stream {
   public:
    explicit bytes_of_string(std::string bytes) : bytes_(std::move(bytes)) {}
    std::size_t read(std::span<char> out) override {
      const std::size_t count = std::min(out.size(), bytes_.size() - used_);
      std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(used_), count, out.begin());
      used_ += count;
      return count;
    }

   private:
    std::string bytes_;
    std::size_t used_ = 0;
  };
  const gpu_test::temporary_folder folder;
  const std::string text = numbered_lines(10000);
  write_gzip(folder.path("in.gz"), text);
  static int allowed = 0;
  const gpu::io::zlib_memory memory{[](voidpf, uInt items, uInt size) -> voidpf {
                                      return allowed-- > 0 ? std::calloc(items, size) : nullptr;
                                    },
                                    [](voidpf, voidpf address) { std::free(address); }};
  const auto unpack = [&](int most_allocations) {
    allowed = most_allocations;
    gpu::io::gzip_stream stream(
        std::make_unique<bytes_of_string>(gpu_test::read_file(folder.path("in.gz"))), "in.gz",
        text.size(), memory);
    std::string out(1000, ' ');
    std::string all;
    // In small pieces: only then does zlib keep a window.
    while (const std::size_t got = stream.read(out)) all += out.substr(0, got);
    return all;
  };
  int failures = 0;
  for (int most = 0; most < 10; ++most) {
    try {
      const bool is_whole = unpack(most) == text;
      CHECK(is_whole);
    } catch (const std::bad_alloc&) {
      ++failures;
      CHECK(failures == most + 1);
    }
  }
  CHECK(failures >= 2);
}

TEST_CASE("Blank lines behind a first line longer than a block hide nothing", "[io][text]") {
  const gpu_test::temporary_folder folder;
  std::string text;
  constexpr int columns = 3000000;
  for (int i = 0; i < columns; ++i) text += "name,x";
  text.pop_back();
  text += "\n\n \r\n";
  // The second line tells the separator, and that there are numbers.
  text += std::string(20000000, '\n') + "7 8\n9 10\n";
  const auto table = gpu::io::read_table(
      folder.write("in.txt", text),
      {.text = {.header = gpu::io::choice::yes, .row_names = gpu::io::choice::yes}});
  CHECK(table.rows() == 2);
}

TEST_CASE("A file that is cut short while it is read is refused", "[io]") {
  const gpu_test::temporary_folder folder;
  const std::string block = numbered_lines(1000000);
  std::string text;
  for (int i = 0; i < 6; ++i) text += block;  // about 75 MB: several blocks
  for (const int call : {1, 3, 4}) {
    const std::string path = folder.write("in.txt", text);
    int calls = 0;
    const auto cut = [&] {
      if (++calls == call) std::filesystem::resize_file(path, 4096);
      return false;
    };
    CHECK(refusal_of_file(path, {.stop = cut}).find("cut short") != std::string::npos);
  }
}

TEST_CASE("A pipe is read like a file", "[io][pipe]") {
  const gpu_test::temporary_folder folder;
  const std::string path = folder.path("pipe");
  REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
  const pid_t writer = ::fork();
  if (writer == 0) {
    std::ofstream(path) << numbered_lines(1000);
    ::_exit(0);
  }
  CHECK(gpu::io::read_table(path).rows() == 1000);
}

TEST_CASE("A stop request ends the wait for a pipe that nobody writes to", "[io][pipe]") {
  const gpu_test::temporary_folder folder;
  const std::string path = folder.path("pipe");
  REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
  int calls = 0;
  CHECK_THROWS_AS(gpu::io::read_table(path, {.stop = [&] { return ++calls == 3; }}),
                  gpu::io::interrupted);
}

TEST_CASE("A file that cannot be read is refused", "[io]") {
  const gpu_test::temporary_folder folder;
  CHECK_THROWS_AS(gpu::io::read_table(folder.path("absent")), gpu::io::input_error);
  CHECK_THROWS_AS(gpu::io::read_table(folder.path(".")), gpu::io::input_error);
  CHECK_THROWS_AS(gpu::io::read_table(folder.write("empty", "")), gpu::io::input_error);
  if (::geteuid() != 0) {
    const std::string path = folder.write("locked", "1 2 3\n");
    REQUIRE(::chmod(path.c_str(), 0) == 0);
    CHECK_THROWS_AS(gpu::io::read_table(path), gpu::io::input_error);
  }
}

TEST_CASE("Formats that are not read are named", "[io]") {
  const gpu_test::temporary_folder folder;
  const auto has = [&](const std::string& bytes, const std::string& part) {
    INFO(part);
    CHECK(refusal_of_file(folder.write("in.dat", bytes)).find(part) != std::string::npos);
  };
  has(std::string("\xFD"
                  "7zXZ\0\0\4",
                  8),
      "compressed by xz");
  has("BZh91AY&SY", "compressed by bzip2");
  has("PAR1\x15\x04\x15", "Parquet");
  has("\x89HDF\r\n\x1A\n", "HDF5");
  has("PK\x03\x04\x14", "zip archive");
  has(std::string("\xFF\xFE"
                  "1\0 \0",
                  6),
      "is UTF-16");
  has(std::string("\xFF\xFE\0\0"
                  "1\0\0\0",
                  8),
      "is UTF-32");
  has(std::string("\0\0\xFE\xFF\0\0\0"
                  "1",
                  8),
      "is UTF-32");
  has(std::string("1\0\0\0"
                  "2\0\0\0",
                  8),
      "looks like UTF-32");
  has(std::string("\xFE\xFF\0"
                  "1\0 ",
                  6),
      "is UTF-16");
  has(std::string("1\0 \0"
                  "2\0",
                  6),
      "looks like UTF-16");
  // Inside gzip too.
  write_gzip(folder.path("in.gz"), "PAR1\x15\x04\x15");
  CHECK_THROWS_AS(gpu::io::read_table(folder.path("in.gz")), gpu::io::input_error);
}

TEST_CASE("zstd is read where the build has it", "[io][zstd]") {
  const gpu_test::temporary_folder folder;
  const std::string text = numbered_lines(100000);
  namespace io = gpu::io;
  if (!io::is_available(io::compression::zstd)) {
    const std::string path = folder.write("in.zst",
                                          "\x28\xB5\x2F\xFD"
                                          "abcdef");
    CHECK(refusal_of_file(path).find("compressed by zstd") != std::string::npos);
    return;
  }
  std::string packed(io::compressed_bound(io::compression::zstd, text.size()), ' ');
  packed.resize(io::compress(io::compression::zstd, text, packed.data()));
  const io::read_options plain{.text = {.row_names = io::choice::no}};
  CHECK(io::read_table(folder.write("one.zst", packed), plain).rows() == 100000);
  CHECK(io::read_table(folder.write("two.zst", packed + packed), plain).rows() == 200000);
  CHECK_THROWS_AS(io::read_table(folder.write("cut.zst", packed.substr(0, packed.size() / 2))),
                  io::input_error);
  std::string damaged = packed;
  damaged[packed.size() / 2] = static_cast<char>(damaged[packed.size() / 2] ^ 0x55);
  CHECK_THROWS_AS(io::read_table(folder.write("bad.zst", damaged)), io::input_error);
  CHECK_THROWS_AS(io::read_table(folder.path("one.zst"), {.max_bytes = text.size() - 1}),
                  io::input_error);
  CHECK(io::read_table(folder.path("one.zst"), {.text = plain.text, .max_bytes = text.size()})
            .rows() == 100000);

  // A frame of one block as it is, whose window has 2^log bytes: zstd --long=31 says so too.
  const auto frame = [](unsigned log, const std::string& bytes) {
    std::string out("\x28\xB5\x2F\xFD\0", 5);
    out += static_cast<char>((log - 10) << 3U);
    const std::size_t head = bytes.size() << 3U | 1U;
    for (const unsigned shift : {0U, 8U, 16U}) out += static_cast<char>(head >> shift & 0xFFU);
    return out + bytes;
  };
  for (const unsigned log : {10U, 27U, 28U, 31U}) {
    INFO(log);
    CHECK(io::read_table(folder.write("long.zst", frame(log, "1 2 3\n3 1 2\n"))).rows() == 2);
  }
  const std::string longer = folder.write("longer.zst", frame(32, "1 2 3\n3 1 2\n"));
  CHECK(refusal_of_file(longer).find("window of more than 2 GiB") != std::string::npos);
}

TEST_CASE("Layers of compression are taken off, some of them", "[io]") {
  const gpu_test::temporary_folder folder;
  std::string bytes = numbered_lines(1000);
  for (int layers = 1; layers <= 5; ++layers) {
    INFO(layers);
    write_gzip(folder.path("in.gz"), bytes);
    bytes = gpu_test::read_file(folder.path("in.gz"));
    const gpu::io::read_options plain{.text = {.row_names = gpu::io::choice::no}};
    if (layers <= 4) {
      CHECK(gpu::io::read_table(folder.path("in.gz"), plain).rows() == 1000);
      // The innermost is held to what the whole may unpack to.
      gpu::io::read_options little = plain;
      little.max_bytes = numbered_lines(1000).size() - 1;
      CHECK_THROWS_AS(gpu::io::read_table(folder.path("in.gz"), little), gpu::io::input_error);
    } else {
      CHECK_THROWS_AS(gpu::io::read_table(folder.path("in.gz"), plain), gpu::io::input_error);
    }
  }
}

TEST_CASE("Many blank lines change no row and no number of a line", "[io]") {
  const gpu_test::temporary_folder folder;
  // More than a block of the reader, and not.
  for (const std::size_t count : {std::size_t{3}, std::size_t{2} << 20, std::size_t{20} << 20}) {
    for (const std::string_view blank : {"\n", "\r\n", " \n"}) {
      const std::size_t lines = count / blank.size();
      std::string many;
      for (std::size_t i = 0; i < lines; ++i) many += blank;
      for (const unsigned places : {1U, 2U, 4U, 7U}) {
        const bool is_long = count > std::size_t{4} << 20;
        if (is_long && (places != 7 || blank.size() > 1)) continue;
        if (count > 3 && (places == 1 || blank.front() == ' ')) continue;
        INFO(lines << " lines of " << blank.size() << " at " << places);
        std::string text = "\xEF\xBB\xBF";
        text += (places & 1U) != 0 ? many : "";
        text += "id,a,b,c\n";
        text += (places & 2U) != 0 ? many : "";
        text += "\"g\n1\",1,2,3\n";
        text += (places & 4U) != 0 ? many : "";
        const std::size_t gaps = (places & 1U) + (places >> 1U & 1U) + (places >> 2U & 1U);
        const auto before = static_cast<gpu::index_t>(gaps * lines) + 3;
        const std::string path = folder.write("in.csv", text + "g2,4,NA,6\n");
        const gpu::io::table table = gpu::io::read_table(path);
        CHECK(table.rows() == 2);
        CHECK(table.names[0] == "g 1");
        CHECK(table.columns.names == std::vector<std::string>{"a", "b", "c"});
        REQUIRE(table.first_nan);
        CHECK(table.first_nan->line == before + 1);
        for (const char* wrong : {"g2,4,x,6\n", "g2,4,6\n"}) {
          try {
            (void)gpu::io::read_table(folder.write("in.csv", text + wrong));
            FAIL("not refused");
          } catch (const gpu::io::input_error& error) {
            CHECK(error.where().line == before + 1);
          }
        }
      }
    }
  }
}

TEST_CASE("What a terminal obeys is shown in no message", "[io]") {
  using gpu::io::visible;
  CHECK(visible("plain caf\xC3\xA9 \xC4\x9B \xE2\x82\xAC \xF0\x9F\x8C\x8D") ==
        "plain caf\xC3\xA9 \xC4\x9B \xE2\x82\xAC \xF0\x9F\x8C\x8D");
  CHECK(visible("\x1B[1m\x7F\t\n") == "?[1m???");
  CHECK(visible("\x9B"
                "1m \xC2\x9B"
                "1m \xC2\x85") == "?1m ?1m ?");
  // U+061C, U+200E, U+200F, U+2028, U+2029, U+202A to U+202E, U+2066 to U+2069.
  for (const char* hidden :
       {"\xD8\x9C", "\xE2\x80\x8E", "\xE2\x80\x8F", "\xE2\x80\xA8", "\xE2\x80\xA9", "\xE2\x80\xAA",
        "\xE2\x80\xAE", "\xE2\x81\xA6", "\xE2\x81\xA9"}) {
    CHECK(visible(std::string("a") + hidden + "b") == "a?b");
  }
  // Their neighbours stay, and so do bytes that are not UTF-8 and that no terminal obeys.
  CHECK(visible("\xE2\x80\x8D\xE2\x80\xAF\xE2\x81\xAA") == "\xE2\x80\x8D\xE2\x80\xAF\xE2\x81\xAA");
  CHECK(visible("\xE2\x80") == "\xE2?");
  CHECK(visible("\xFF\xE9") == "\xFF\xE9");
}
