// Where bytes come from: compressed files, pipes, files that cannot be read.
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <string>

#include "io/npy_header.hpp"
#include "io/read/read_table.hpp"
#include "support/catch.hpp"
#include "support/temporary_file.hpp"

namespace {

void write_gzip(const std::string& path, const std::string& content, const char* mode = "wb") {
  gzFile file = gzopen(path.c_str(), mode);
  REQUIRE(file != nullptr);
  REQUIRE(gzwrite(file, content.data(), static_cast<unsigned>(content.size())) ==
          static_cast<int>(content.size()));
  REQUIRE(gzclose(file) == Z_OK);
}

std::string numbered_lines(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += std::to_string(i) + " " + std::to_string(i % 7) + " 3\n";
  return text;
}

}  // namespace

TEST_CASE("Gzipped text and .npy are decompressed", "[io][gzip]") {
  const gpu_test::temporary_folder folder;
  SECTION("Text, longer than one block") {
    constexpr int rows = 1500000;
    write_gzip(folder.path("in.gz"), numbered_lines(rows));
    const auto table = gpu::io::read_table(folder.path("in.gz"));
    REQUIRE(table.rows() == rows);
    const auto& m = std::get<gpu::matrix<std::int32_t>>(table.values);
    bool all_equal = true;
    for (int i = 0; i < rows; ++i) all_equal = all_equal && m(i, 0) == i && m(i, 1) == i % 7;
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
  const auto message_of = [&](const std::string& bytes) -> std::string {
    try {
      (void)gpu::io::read_table(folder.write("bad.gz", bytes));
    } catch (const gpu::io::input_error& error) {
      return error.what();
    }
    return "not refused";
  };
  CHECK(message_of(whole.substr(0, whole.size() / 2)).find("truncated") != std::string::npos);
  CHECK(message_of(whole.substr(0, whole.size() - 1)).find("truncated") != std::string::npos);
  CHECK(message_of(whole.substr(0, 2)).find("truncated") != std::string::npos);
  std::string damaged = whole;
  damaged[damaged.size() / 2] = static_cast<char>(damaged[damaged.size() / 2] ^ 0x55);
  CHECK(message_of(damaged).find("damaged") != std::string::npos);
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
