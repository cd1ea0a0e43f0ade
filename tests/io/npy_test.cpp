#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "io/npy_header.hpp"
#include "io/read/read_table.hpp"
#include "support/catch.hpp"
#include "support/temporary_file.hpp"

namespace {

template <class T>
std::string npy(const std::string& descr, std::vector<gpu::index_t> shape,
                const std::vector<T>& values) {
  std::string bytes = gpu::io::make_npy_header("'" + descr + "'", shape);
  bytes.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
  return bytes;
}

gpu::io::table read(const std::string& bytes) {
  const gpu_test::temporary_folder folder;
  return gpu::io::read_table(folder.write("in.npy", bytes));
}

template <class T>
void check_type(const std::string& descr, const std::string& name) {
  const std::vector<T> values{static_cast<T>(0),
                              std::numeric_limits<T>::max(),
                              std::numeric_limits<T>::lowest(),
                              static_cast<T>(3),
                              static_cast<T>(5),
                              static_cast<T>(7)};
  const auto table = read(npy(descr, {2, 3}, values));
  INFO(descr);
  CHECK(table.element_name() == name);
  const auto& m = std::get<gpu::matrix<T>>(table.values);
  REQUIRE(m.rows() == 2);
  REQUIRE(m.cols() == 3);
  CHECK(std::vector<T>(m.data(), m.data() + 6) == values);
}

void check_refused(const std::string& bytes, const std::string& part) {
  INFO(part);
  try {
    (void)read(bytes);
    FAIL("not refused");
  } catch (const gpu::io::input_error& error) {
    INFO(error.what());
    CHECK(std::string(error.what()).find(part) != std::string::npos);
  }
}

}  // namespace

TEST_CASE("Every element type of the library is read from .npy", "[io][npy]") {
  check_type<std::int8_t>("|i1", "int8");
  check_type<std::int16_t>("<i2", "int16");
  check_type<std::int32_t>("<i4", "int32");
  check_type<std::uint8_t>("|u1", "uint8");
  check_type<std::uint16_t>("<u2", "uint16");
  check_type<float>("<f4", "float32");
  check_type<double>("<f8", "float64");
}

TEST_CASE("Wide integers are taken where they fit", "[io][npy]") {
  const auto table = read(npy<std::int64_t>("<i8", {1, 3}, {-2147483648LL, 0, 2147483647LL}));
  CHECK(std::get<gpu::matrix<std::int32_t>>(table.values)(0, 0) == -2147483648LL);
  check_refused(npy<std::int64_t>("<i8", {2, 2}, {1, 2, 3, 2147483648LL}),
                "row 1, column 1: got 2147483648");
  check_refused(npy<std::uint32_t>("<u4", {1, 1}, {4000000000U}), "got 4000000000");
}

TEST_CASE("Versions 2 and 3 of .npy are read", "[io][npy]") {
  const std::string dictionary = "{'descr': '<i4', 'fortran_order': False, 'shape': (1, 2), }\n";
  for (const char version : {'\x02', '\x03'}) {
    std::string bytes = "\x93NUMPY";
    bytes += version;
    bytes += '\0';
    bytes += static_cast<char>(dictionary.size());
    bytes += std::string(3, '\0') + dictionary + std::string("\1\0\0\0\2\0\0\0", 8);
    CHECK(std::get<gpu::matrix<std::int32_t>>(read(bytes).values)(0, 1) == 2);
  }
}

TEST_CASE("A .npy that cannot be taken is refused", "[io][npy]") {
  const std::vector<std::int32_t> four{1, 2, 3, 4};
  const std::string good = npy("<i4", {2, 2}, four);
  check_refused(good.substr(0, good.size() - 1), "truncated");
  check_refused(good.substr(0, 60), "truncated");
  check_refused(good.substr(0, 7), "truncated");
  check_refused("1 2 3\n", "does not begin like one");
  check_refused(npy("<i4", {4}, four), "two dimensions");
  check_refused(npy("<i4", {1, 2, 2}, four), "two dimensions");
  check_refused(npy(">i4", {2, 2}, four), "big-endian");
  check_refused(npy("<c8", {1, 2}, four), "'<c8'");
  check_refused(npy("|b1", {4, 4}, four), "'|b1'");
  std::string fortran = good;
  fortran.replace(fortran.find("False, "), 7, "True,  ");
  check_refused(fortran, "Fortran order");
  std::string version = good;
  version[6] = '\x07';
  check_refused(version, "version 7");
  std::string broken = good;
  broken.replace(broken.find("shape"), 5, "shade");
  check_refused(broken, "dictionary");
}
