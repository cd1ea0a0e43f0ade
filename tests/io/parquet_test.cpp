// Which columns of a Parquet file are read, and tables that go through one. What pandas writes and
// reads: tests/readers/parquet_test.py.
#include "io/read/parquet/parquet_columns.hpp"

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "io/io_error.hpp"
#include "io/parquet.hpp"
#include "io/read/read_table.hpp"
#include "io/write/output_file.hpp"
#include "io/write/parquet/parquet_table.hpp"
#include "support/catch.hpp"
#include "support/temporary_file.hpp"

namespace {

namespace io = gpu::io;
using io::parquet_kind;

const std::vector<io::parquet_column> columns{{"id", "int64", parquet_kind::integer},
                                              {"gene", "string", parquet_kind::text},
                                              {"a", "float", parquet_kind::single_precision},
                                              {"b", "int8", parquet_kind::integer},
                                              {"c", "double", parquet_kind::double_precision}};
constexpr std::string_view index_of_ids = R"({"index_columns": ["id"]})";

io::parquet_choice chosen(const io::text_options& options, std::string_view pandas = "") {
  return io::choose_parquet_columns(columns, pandas, options, "x.parquet");
}

std::string refusal(const io::text_options& options) {
  try {
    (void)chosen(options);
  } catch (const io::input_error& error) {
    return error.what();
  }
  return "";
}

using places = std::vector<gpu::index_t>;

}  // namespace

TEST_CASE("Columns of Parquet are names, values or left out", "[io][parquet]") {
  const auto plain = chosen({});
  CHECK(plain.names == 1);
  CHECK(plain.values == places{0, 2, 3, 4});
  CHECK(plain.columns.corner == "gene");
  CHECK(plain.columns.names == std::vector<std::string>{"id", "a", "b", "c"});
  CHECK(plain.reading.rows_named_by == "column 2");
  CHECK(plain.element == parquet_kind::double_precision);
  // Text names the rows before an index of numbers, which is no variable.
  const auto indexed = chosen({}, index_of_ids);
  CHECK(indexed.names == 1);
  CHECK(indexed.values == places{2, 3, 4});
  CHECK(indexed.reading.notes.size() == 1);
  const auto by_index = chosen({.skip_columns = {"gene"}}, index_of_ids);
  CHECK(by_index.names == 0);
  CHECK(by_index.values == places{2, 3, 4});
  // A range that begins at the names.
  CHECK(chosen({.columns = {"gene-b"}}).values == places{2, 3});
  CHECK(chosen({.columns = {"a"}}).element == parquet_kind::single_precision);
  CHECK(chosen({.columns = {"4", "id"}}).element == parquet_kind::integer);
  CHECK(chosen({.skip_columns = {"gene"}, .names_column = "b"}, index_of_ids).names == 3);
  CHECK(chosen({.row_names = io::choice::no, .skip_columns = {"gene"}}).names == -1);
  // What is no JSON says nothing.
  CHECK(chosen({}, "{").values == places{0, 2, 3, 4});
}

TEST_CASE("Columns of Parquet that cannot be read are refused by name", "[io][parquet]") {
  CHECK(refusal({.row_names = io::choice::no}).find("column 'gene' has the type string") !=
        std::string::npos);
  CHECK(refusal({.names_column = "c"}).find("column 'c' has the type double") != std::string::npos);
  CHECK(refusal({.columns = {"nix"}}).find("--columns: got 'nix'") != std::string::npos);
  CHECK(refusal({.missing = {"-1"}}).find("--na-values") != std::string::npos);
  CHECK(refusal({.columns = {"gene"}}).find("no column of numbers") != std::string::npos);
}

TEST_CASE("A table goes through a Parquet file", "[io][parquet]") {
  const gpu_test::temporary_folder folder;
  const std::string path = folder.path("t.parquet");
  const std::vector<io::parquet_field> fields{
      {"name", io::parquet_type::text}, {"x"}, {"n", io::parquet_type::count}};
  io::output_file out(path);
  if (!io::has_parquet()) {
    CHECK_THROWS_AS(io::parquet_table(out, fields), io::output_error);
    return;
  }
  const std::array<std::string_view, 3> names{"one", "two\twords", ""};
  const std::array<double, 3> x{0.1, -2.5, 1e300};
  const std::array<std::uint32_t, 3> n{0, 7, 4294967295U};
  {
    io::parquet_table table(out, fields);
    for (int group = 0; group < 3; ++group) {
      const std::array<io::parquet_values, 3> values{std::span<const std::string_view>(names),
                                                     std::span<const double>(x),
                                                     std::span<const std::uint32_t>(n)};
      table.write(3, values);
    }
    table.finish();
  }
  out.commit();
  const io::table back = io::read_table(path);
  REQUIRE(back.rows() == 9);
  REQUIRE(back.cols() == 2);
  CHECK(back.columns.names == std::vector<std::string>{"x", "n"});
  CHECK(back.names[7] == "two words");
  CHECK(back.names[8].empty());
  const auto& values = std::get<gpu::matrix<double>>(back.values);
  for (gpu::index_t i = 0; i < 9; ++i) {
    CHECK(values(i, 0) == x[static_cast<std::size_t>(i % 3)]);
    CHECK(values(i, 1) == n[static_cast<std::size_t>(i % 3)]);
  }
  // The same by its digest, which reads the file to memory.
  io::file_digest digest;
  const io::table whole = io::read_table(path, {.text = {.columns = {"n"}}, .digest = &digest});
  CHECK(whole.element_name() == "float64");  // 2^32 - 1 is no int32
  CHECK_THROWS_AS(io::read_table(path, {.max_bytes = 9 * 16 - 1}), io::input_error);
  CHECK_THROWS_AS(io::read_table(folder.write("a.parquet", "1 2 3\n")), io::input_error);
}

TEST_CASE("A Parquet file without its end is none", "[io][parquet]") {
  if (!io::has_parquet()) return;
  const gpu_test::temporary_folder folder;
  io::output_file out(folder.path("t.parquet"));
  {
    io::parquet_table table(out, {{"x"}});
    const std::array<double, 2> x{1, 2};
    const std::array<io::parquet_values, 1> values{std::span<const double>(x)};
    table.write(2, values);
  }
  out.commit();
  CHECK_THROWS_AS(io::read_table(folder.path("t.parquet")), io::input_error);
}
