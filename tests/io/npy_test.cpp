#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "io/npy_header.hpp"
#include "io/read/read_table.hpp"
#include "support/catch.hpp"
#include "support/refusals.hpp"
#include "support/temporary_file.hpp"

namespace {

template <class T>
std::string npy(const std::string& descr, std::vector<gpu::index_t> shape,
                const std::vector<T>& values) {
  std::string bytes = gpu::io::make_npy_header("'" + descr + "'", shape);
  bytes.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
  return bytes;
}

gpu::io::table read_npy(const std::string& bytes) {
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
  const auto table = read_npy(npy(descr, {2, 3}, values));
  INFO(descr);
  CHECK(table.element_name() == name);
  const auto& m = std::get<gpu::matrix<T>>(table.values);
  REQUIRE(m.rows() == 2);
  REQUIRE(m.cols() == 3);
  CHECK(std::vector<T>(m.data(), m.data() + 6) == values);
}

void check_refused(const std::string& bytes, const std::string& part) {
  INFO(part);
  const std::string said =
      gpu_test::refusal_of<gpu::io::input_error>([&] { (void)read_npy(bytes); });
  INFO(said);
  CHECK(said.find(part) != std::string::npos);
}

/// Where the first NaN is said to stand, as an error names it.
template <class T>
std::string nan_place(const std::string& descr, gpu::index_t rows, gpu::index_t cols,
                      gpu::index_t at) {
  std::vector<T> values(static_cast<std::size_t>(rows * cols), T{1});
  values[static_cast<std::size_t>(at)] = std::numeric_limits<T>::quiet_NaN();
  values.back() = std::numeric_limits<T>::quiet_NaN();
  const auto table = read_npy(npy(descr, {rows, cols}, values));
  REQUIRE(table.first_nan.has_value());
  return gpu::io::input_error("in.npy", *table.first_nan, "got NaN").what();
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
  const auto table = read_npy(npy<std::int64_t>("<i8", {1, 3}, {-2147483648LL, 0, 2147483647LL}));
  CHECK(std::get<gpu::matrix<std::int32_t>>(table.values)(0, 0) == -2147483648LL);
  check_refused(npy<std::int64_t>("<i8", {2, 2}, {1, 2, 3, 2147483648LL}),
                "in.npy: row 1, column 1: got 2147483648");
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
    CHECK(std::get<gpu::matrix<std::int32_t>>(read_npy(bytes).values)(0, 1) == 2);
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
  check_refused(npy("|V1", {4, 4}, four), "'|V1'");
  std::string version = good;
  version[6] = '\x07';
  check_refused(version, "version 7");
  std::string broken = good;
  broken.replace(broken.find("shape"), 5, "shade");
  check_refused(broken, "dictionary");
}

TEST_CASE("A .npy in Fortran order is the same array", "[io][npy]") {
  const auto in_fortran_order = [](std::string bytes) {
    bytes.replace(bytes.find("False, "), 7, "True,  ");
    return bytes;
  };
  // [[1, 2, 3], [4, 5, 6]] by columns.
  const auto bytes = in_fortran_order(npy<double>("<f8", {2, 3}, {1, 4, 2, 5, 3, 6}));
  const auto values = [&](bool transposes) {
    const gpu_test::temporary_folder folder;
    const auto table =
        gpu::io::read_table(folder.write("in.npy", bytes), {.transposes = transposes});
    const auto& m = std::get<gpu::matrix<double>>(table.values);
    return std::pair(m.cols(), std::vector<double>(m.data(), m.data() + 6));
  };
  CHECK(values(false) == std::pair(gpu::index_t{3}, std::vector<double>{1, 2, 3, 4, 5, 6}));
  CHECK(values(true) == std::pair(gpu::index_t{2}, std::vector<double>{1, 4, 2, 5, 3, 6}));

  // Errors name rows and columns of the array.
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto table = read_npy(in_fortran_order(npy<double>("<f8", {2, 3}, {1, 4, 2, nan, 3, 6})));
  REQUIRE(table.first_nan.has_value());
  CHECK(table.first_nan->line == 1);
  CHECK(table.first_nan->column == 1);
  check_refused(in_fortran_order(npy<std::int64_t>("<i8", {2, 3}, {1, 2, 3, 4, 5, 1LL << 40})),
                "in.npy: row 1, column 2: got 1099511627776");
  check_refused(bytes.substr(0, bytes.size() - 1), "truncated");
  check_refused(bytes + '\0', "more bytes");
  check_refused(in_fortran_order(npy<double>("<f8", {gpu::index_t{1} << 62, 0}, {})),
                "got a .npy array of shape (4611686018427387904, 0), expected at most");
  check_refused(npy<double>("<f8", {0, gpu::index_t{1} << 62}, {}), "expected at most");
}

TEST_CASE("A NaN of a .npy is located", "[io][npy]") {
  CHECK(nan_place<float>("<f4", 3, 4, 7) == "in.npy: row 1, column 3: got NaN");
  CHECK(nan_place<double>("<f8", 3, 4, 0) == "in.npy: row 0, column 0: got NaN");
  // Behind the first piece that is read.
  CHECK(nan_place<float>("<f4", 1100, 1000, 1090 * 1000 + 17) ==
        "in.npy: row 1090, column 17: got NaN");
  CHECK_FALSE(read_npy(npy<float>("<f4", {1, 2}, {1, std::numeric_limits<float>::infinity()}))
                  .first_nan.has_value());
}

TEST_CASE("A .npy whose size is not that of its shape is refused", "[io][npy]") {
  const std::vector<std::int32_t> four{1, 2, 3, 4};
  const std::string good = npy("<i4", {2, 2}, four);
  check_refused(good + '\0', "more bytes");
  // Refused before memory is asked for.
  constexpr gpu::index_t many = gpu::index_t{1} << 40;
  check_refused(npy("<i4", {many, many}, four), "truncated");
  check_refused(npy("<i4", {many, 2}, four), "truncated");
  check_refused(npy("<i8", {gpu::index_t{1} << 61, 8}, four), "truncated");
  // Rows of nothing: each would be a line of the result.
  check_refused(npy<double>("<f8", {gpu::index_t{1} << 62, 0}, {}),
                "got a .npy array of shape (4611686018427387904, 0), expected at most");
}

TEST_CASE("A .npy header is a dictionary as NumPy writes it", "[io][npy]") {
  const std::vector<std::int32_t> four{1, 2, 3, 4};
  CHECK(gpu::io::parse_npy_header("{'descr': '<i4', 'fortran_order': False, 'shape': (2L, 3L)}")
            ->shape == std::vector<gpu::index_t>{2, 3});
  for (const std::string header :
       {"{'descr': '<i4', 'fortran_order': False, 'shape': (2, 3)}",
        "{\"shape\": (2,3,), \"descr\": \"<i4\", \"fortran_order\":False , }  \n",
        "{ 'descr' : '<i4' , 'fortran_order' : False , 'shape' : ( 2 , 3 ) , } "}) {
    INFO(header);
    const auto parsed = gpu::io::parse_npy_header(header);
    REQUIRE(parsed.has_value());
    CHECK(parsed->descr == "<i4");
    CHECK(parsed->shape == std::vector<gpu::index_t>{2, 3});
  }
  const std::string entries = "{'descr': '<i4', 'fortran_order': False, 'shape': ";
  for (const std::string& header :
       {entries + "(2 3)}", entries + "(2,,3)}", entries + "(,2,3)}", entries + "(2LL,3)}",
        entries + "(2,-3)}", entries + "(2.,3)}", entries + "(2,3)", entries + "(2,3)} x",
        entries + "(2,3), 'more': 1}", entries + "(2,3), 'shape': (1,1)}", "x" + entries + "(2,3)}",
        std::string("{}"), std::string("{'descr': '<i4', 'shape': (2, 3)}"),
        std::string("{'descr': '', 'fortran_order': False, 'shape': (2, 3)}"),
        std::string("{'descr': [('shape', '<i4'], 'fortran_order': False, 'shape': (2, 3")}) {
    INFO(header);
    CHECK_FALSE(gpu::io::parse_npy_header(header).has_value());
  }
  // Of a structured type, field names may be those of the dictionary.
  const auto structured = gpu::io::parse_npy_header(
      "{'descr': [('shape', '<i4', (2,)), ('b', '|u1')], 'fortran_order': False, 'shape': (4, 5)}");
  REQUIRE(structured.has_value());
  CHECK(structured->descr.empty());
  CHECK(structured->shape == std::vector<gpu::index_t>{4, 5});
  check_refused(npy("xi4", {2, 2}, four), "'xi4'");
  check_refused(npy("i4", {2, 2}, four), "'i4'");
}
