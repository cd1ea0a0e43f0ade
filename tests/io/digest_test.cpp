// Digests of files, compared with a CRC-32 that is computed bit by bit.
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "io/file_digest.hpp"
#include "io/npy_header.hpp"
#include "io/read/file_stream.hpp"
#include "io/read/read_table.hpp"
#include "support/catch.hpp"
#include "support/temporary_file.hpp"

namespace {

std::uint32_t plain_crc32(const std::string& bytes) {
  std::uint32_t crc = 0xffffffff;
  for (const char c : bytes) {
    crc ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ~crc;
}

std::string some_bytes(std::size_t count) {
  std::string out(count, '\0');
  std::uint32_t state = 1;
  for (char& c : out) {
    state = state * 1664525 + 1013904223;
    c = static_cast<char>(state >> 24);
  }
  return out;
}

}  // namespace

TEST_CASE("A digest by several threads is that of the bytes in order", "[io][digest]") {
  const gpu_test::temporary_folder folder;
  // Sizes for one thread and for several, with shares that do not divide the file.
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{1}, (std::size_t{8} << 20) - 1, (std::size_t{13} << 20) + 7}) {
    const std::string bytes = some_bytes(size);
    const std::string path = folder.write("file", bytes);
    const auto digest = gpu::io::digest_of_file(path);
    REQUIRE(digest);
    CHECK(digest->bytes == size);
    CHECK(digest->crc32 == plain_crc32(bytes));
  }
  CHECK(!gpu::io::digest_of_file(folder.path("nothing")));
  CHECK(!gpu::io::digest_of_file("/dev/zero"));
}

TEST_CASE("Digests of neighbours join", "[io][digest]") {
  const std::string bytes = some_bytes(1000);
  for (const std::size_t cut : {std::size_t{0}, std::size_t{1}, std::size_t{999}, bytes.size()}) {
    gpu::io::file_digest first;
    gpu::io::file_digest second;
    first.add(bytes.substr(0, cut));
    second.add(bytes.substr(cut));
    first.append(second);
    CHECK(first.crc32 == plain_crc32(bytes));
    CHECK(first.bytes == bytes.size());
  }
}

TEST_CASE("A table comes with the digest of the bytes it was read from", "[io][digest]") {
  const gpu_test::temporary_folder folder;
  std::string text;
  // More than a block, and small.
  for (const int rows : {3, 700'000}) {
    text.clear();
    for (int i = 0; i < rows; ++i)
      text += std::to_string(i * 7 % 9) + "\t1234567\t7654321\t1111111\n";
    const std::string plain = folder.write("in.tsv", text);
    REQUIRE(std::system(("gzip -fk " + plain).c_str()) == 0);
    const std::vector<double> values(static_cast<std::size_t>(rows) * 3, 0.5);
    std::string npy = gpu::io::make_npy_header("'<f8'", {rows, 3});
    npy.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(double));
    for (const std::string& path : {plain, plain + ".gz", folder.write("in.npy", npy)}) {
      INFO(path);
      gpu::io::file_digest digest{.bytes = 5, .crc32 = 5};
      CHECK(gpu::io::read_table(path, {.digest = &digest}).rows() == rows);
      CHECK(gpu::io::digest_of_file(path) == digest);
    }
  }
}
