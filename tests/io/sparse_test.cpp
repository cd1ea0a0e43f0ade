// MatrixMarket and SciPy's .npz, against literals.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <variant>
#include <vector>

#include "io/read/read_table.hpp"
#include "support/catch.hpp"
#include "support/gzip_files.hpp"
#include "support/refusals.hpp"
#include "support/temporary_file.hpp"
#include "support/zip_files.hpp"

namespace {

using gpu_test::npy_of;
using gpu_test::npy_of_text;
using gpu_test::zip_of;
using values = std::vector<double>;

constexpr auto banner = "%%MatrixMarket matrix coordinate ";

/// All values of a table, row by row.
values all_of(const gpu::io::table& table) {
  values out;
  std::visit([&](const auto& m) { out.assign(m.data(), m.data() + m.rows() * m.cols()); },
             table.values);
  return out;
}

struct both_ways {
  gpu::io::table dense;
  gpu::io::table sparse;
};

/// Reads a file written out and as it is, and checks that both say the same.
both_ways read_both(const std::string& path, gpu::io::read_options options = {}) {
  both_ways out;
  out.dense = gpu::io::read_table(path, options);
  options.keeps_sparse = true;
  out.sparse = gpu::io::read_table(path, options);
  REQUIRE(out.sparse.sparse);
  CHECK(out.sparse.rows() == out.dense.rows());
  CHECK(out.sparse.cols() == out.dense.cols());
  CHECK(out.sparse.element_name() == out.dense.element_name());
  CHECK(out.sparse.missing == out.dense.missing);
  const auto written = gpu::io::dense_rows(*out.sparse.sparse, 0, out.sparse.rows(), 2);
  std::visit(
      [&](const auto& m) {
        const values got(m.data(), m.data() + m.rows() * m.cols());
        const values want = all_of(out.dense);
        REQUIRE(got.size() == want.size());
        for (std::size_t k = 0; k < got.size(); ++k) {
          CHECK((got[k] == want[k] || (std::isnan(got[k]) && std::isnan(want[k]))));
        }
      },
      written);
  // The library takes it: its view looks at every index.
  out.sparse.sparse->with_view([](const auto& view) { CHECK(view.stored() >= 0); });
  return out;
}

gpu::io::table read(const std::string& name, const std::string& bytes,
                    const gpu::io::read_options& options = {}) {
  const gpu_test::temporary_folder folder;
  return read_both(folder.write(name, bytes), options).dense;
}

void check_refused(const std::string& name, const std::string& bytes, const std::string& part,
                   const gpu::io::read_options& options = {}) {
  INFO(part);
  const gpu_test::temporary_folder folder;
  const std::string said = gpu_test::refusal_of<gpu::io::input_error>(
      [&] { (void)gpu::io::read_table(folder.write(name, bytes), options); });
  INFO(said);
  CHECK(said.find(part) != std::string::npos);
}

/// The members of [[1, 0, 2], [0, 3, 0]] as csr.
gpu_test::named_bytes csr_members() {
  return {{"indices.npy", npy_of<std::int32_t>("<i4", {0, 2, 1})},
          {"indptr.npy", npy_of<std::int32_t>("<i4", {0, 2, 3})},
          {"format.npy", npy_of_text("csr")},
          {"shape.npy", npy_of<std::int64_t>("<i8", {2, 3})},
          {"data.npy", npy_of<double>("<f8", {1, 2, 3})}};
}

/// The same with one member replaced.
std::string with_member(const std::string& name, const std::string& bytes) {
  gpu_test::named_bytes members = csr_members();
  for (auto& member : members) {
    if (member.first == name) member.second = bytes;
  }
  return zip_of(members, false);
}

}  // namespace

TEST_CASE("MatrixMarket of every kind", "[io][sparse]") {
  const std::string begin = banner;
  const auto integers = read("a.mtx", begin +
                                          "integer general\n% made by hand\n\n2 3 3\n1 1 1\n"
                                          "2 2 -3\r\n 1\t3   2  \n");
  CHECK(integers.element_name() == "int8");
  CHECK(all_of(integers) == values{1, 0, 2, 0, -3, 0});
  const auto reals = read("a.mtx", begin + "real general\n2 3 2\n1 1 1.5\n2 3 1e3\n");
  CHECK(reals.element_name() == "float64");
  CHECK(all_of(reals) == values{1.5, 0, 0, 0, 0, 1000});
  // As in text, what is written decides, not the word of the first line.
  CHECK(read("a.mtx", begin + "real general\n1 2 1\n1 1 300\n").element_name() == "int16");
  CHECK(read("a.mtx", begin + "integer general\n1 2 1\n1 1 200\n").element_name() == "uint8");
  CHECK(read("a.mtx", begin + "integer general\n1 1 1\n1 1 5000000000\n").element_name() ==
        "float64");
  const auto pattern = read("a.mtx", begin + "pattern general\n2 2 2\n1 2\n2 1\n");
  CHECK(all_of(pattern) == values{0, 1, 1, 0});
  const auto symmetric = read("a.mtx", begin + "integer symmetric\n3 3 3\n1 1 4\n3 1 5\n3 2 -6\n");
  CHECK(all_of(symmetric) == values{4, 0, 5, 0, 0, -6, 5, -6, 0});
  const auto skew = read("a.mtx", begin + "integer skew-symmetric\n2 2 1\n2 1 -128\n");
  CHECK(skew.element_name() == "int16");
  CHECK(all_of(skew) == values{0, 128, -128, 0});
  CHECK(all_of(read("a.mtx", "%%matrixmarket MATRIX Coordinate Real General\n1 1 1\n1 1 2")) ==
        values{2});
  const auto empty = read("a.mtx", begin + "real general\n2 3 0\n");
  CHECK(all_of(empty) == values(6, 0.0));
}

TEST_CASE("The columns of a sparse file as rows", "[io][sparse]") {
  const std::string text = std::string(banner) + "integer general\n2 3 3\n1 1 1\n2 2 -3\n1 3 2\n";
  const auto turned = read("a.mtx", text, {.transposes = true});
  CHECK(turned.rows() == 3);
  CHECK(all_of(turned) == values{1, 0, 0, -3, 2, 0});
  CHECK(all_of(read("a.npz", zip_of(csr_members(), true), {.transposes = true})) ==
        values{1, 0, 0, 3, 2, 0});
}

TEST_CASE("Entries in any order, by any number of threads", "[io][sparse]") {
  constexpr int rows = 70;
  constexpr int cols = 3000;
  std::mt19937 engine(7);  // NOLINT: the same on every run
  std::vector<int> places(rows * cols);
  for (std::size_t k = 0; k < places.size(); ++k) places[k] = static_cast<int>(k);
  std::shuffle(places.begin(), places.end(), engine);
  places.resize(100'000);
  values want(rows * cols, 0.0);
  std::string text = std::string(banner) + "real general\n70 3000 100000\n";
  for (const int place : places) {
    // Some parts of the file have integers alone.
    const double value = place % 1000 == 0 ? place * 0.5 : place % 100;
    want[static_cast<std::size_t>(place)] = value;
    text += std::to_string(place / cols + 1) + " " + std::to_string(place % cols + 1) + " " +
            std::to_string(value) + "\n";
  }
  for (const int threads : {1, 2, 5}) {
    CHECK(all_of(read("a.mtx", text, {.threads = threads})) == want);
  }
  const auto turned = read("a.mtx", text, {.transposes = true, .threads = 3});
  const auto& columns = std::get<gpu::matrix<double>>(turned.values);
  bool is_same = columns.rows() == cols && columns.cols() == rows;
  for (std::size_t k = 0; k < want.size() && is_same; ++k) {
    is_same = columns(static_cast<gpu::index_t>(k % cols), static_cast<gpu::index_t>(k / cols)) ==
              want[k];
  }
  CHECK(is_same);
}

TEST_CASE("What is wrong with a MatrixMarket file is said", "[io][sparse]") {
  const std::string begin = banner;
  const std::string good = begin + "real general\n2 3 2\n";
  check_refused("a.mtx", "%%MatrixMarket matrix array real general\n1 1\n1\n",
                "a.mtx:1: column 3: got 'array', expected coordinate");
  check_refused("a.mtx", begin + "complex general\n1 1 1\n1 1 1 1\n",
                "a.mtx:1: column 4: got 'complex', expected integer, real or pattern");
  check_refused("a.mtx", begin + "real hermitian\n1 1 1\n1 1 1\n", "column 5: got 'hermitian'");
  check_refused("a.mtx", begin + "real general\n% no more\n", "a.mtx:2: got the end of the file");
  check_refused("a.mtx", begin + "real general\n2 3\n1 1 1\n",
                "a.mtx:2: column 3: got '', expected the number of entries");
  check_refused("a.mtx", begin + "real general\n2 x 1\n", "column 2: got 'x'");
  check_refused("a.mtx", begin + "real symmetric\n2 3 1\n1 1 1\n", "2 rows and 3 columns");
  check_refused("a.mtx", begin + "real general\n2 2 5\n", "got 5 entries of 2 rows and 2 columns");
  check_refused("a.mtx", good + "1 1 1\n3 1 1\n",
                "a.mtx:4: column 1: got row '3', expected 1 to 2");
  check_refused("a.mtx", good + "1 0 1\n", "a.mtx:3: column 2: got column '0', expected 1 to 3");
  check_refused("a.mtx", good + "1 99999999999999999999 1\n", "expected 1 to 3");
  check_refused("a.mtx", good + "\n1 1 abc\n", "a.mtx:4: column 3: got 'abc', expected a number");
  check_refused("a.mtx", good + "1 1\n", "a.mtx:3: column 3: got the end of the line");
  check_refused("a.mtx", good + "1 1 1 1\n", "column 4: got '1', expected the end of the line");
  check_refused("a.mtx", good + "1 1 1\n", "a.mtx:2: column 3: got 1 entries, expected the 2");
  check_refused("a.mtx", good + "1 1 1\n1 2 1\n2 1 1\n", "got at least 3 entries");
  check_refused("a.mtx", good + "1 2 1\n1 2 5\n", "row 1, column 2 (from 1 on) is stored twice");
  check_refused("a.mtx", begin + "integer general\n1 1 1\n1 1 1.5\n",
                "got '1.5', expected an integer");
  check_refused("a.mtx", begin + "real skew-symmetric\n2 2 1\n1 1 1\n", "on the diagonal");
  check_refused("a.mtx", begin + "real general\n9000000000000000000 1 1\n1 1 1\n",
                "got 9000000000000000000 rows");
  check_refused("a.mtx", begin + "real general\n100000000 2 1\n1 1 1\n", "100000000 rows");
  check_refused("a.mtx", good, "a sparse file, and --columns is only for text",
                {.text = {.columns = {"2"}}});
  check_refused("a.mtx", "1 2 3\n", "is named .mtx but does not begin like one");
  // Written out it would take a thousand times as much as is allowed.
  check_refused("a.mtx", begin + "real general\n16000000 16000000 1\n1 1 1\n",
                "have to be written out");
}

TEST_CASE("Missing values of sparse files have a place", "[io][sparse]") {
  const std::string text = std::string(banner) + "real general\n2 3 3\n1 1 1\n2 1 nan\n1 3 NA\n";
  const auto table = read("a.mtx", text);
  CHECK(table.missing == 2);
  REQUIRE(table.first_nan);
  CHECK(table.first_nan->line == 4);
  CHECK(table.first_nan->column == 3);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::string bytes = with_member("data.npy", npy_of<double>("<f8", {1, nan, 3}));
  for (const bool transposes : {false, true}) {
    const auto array = read("a.npz", bytes, {.transposes = transposes});
    CHECK(array.missing == 1);
    REQUIRE(array.first_nan);
    CHECK(array.first_nan->is_in_array);
    CHECK(array.first_nan->line == 0);
    CHECK(array.first_nan->column == 2);
  }
}

TEST_CASE("Names lie beside a matrix", "[io][sparse]") {
  const gpu_test::temporary_folder folder;
  const std::string text = std::string(banner) + "integer general\n2 3 1\n1 3 2\n";
  gpu_test::write_gzip(folder.path("S1_matrix.mtx.gz"), text);
  gpu_test::write_gzip(folder.path("S1_features.tsv.gz"),
                       "ENSG1\tTP53\tGene Expression\nENSG2\tMYC\tGene Expression\n");
  (void)folder.write("S1_barcodes.tsv", "AAA-1\nCCC-1\nGGG-1\n");
  gpu::io::file_digest digest;
  const auto path = folder.path("S1_matrix.mtx.gz");
  const auto table = gpu::io::read_table(path, {.digest = &digest});
  CHECK(table.names[1] == "ENSG2");
  CHECK(table.columns.names == std::vector<std::string>{"AAA-1", "CCC-1", "GGG-1"});
  CHECK(table.reading.rows_named_by == "column 1 of S1_features.tsv.gz");
  CHECK(table.reading.columns_named_by == "column 1 of S1_barcodes.tsv");
  // The digest is of all that was read.
  gpu::io::file_digest all;
  for (const char* const file : {"S1_matrix.mtx.gz", "S1_features.tsv.gz", "S1_barcodes.tsv"}) {
    all.add(gpu_test::read_file(folder.path(file)));
  }
  CHECK(digest == all);
  CHECK(gpu::io::read_table(path, {.text = {.names_column = "2"}}).names[0] == "TP53");
  const auto turned = gpu::io::read_table(path, {.transposes = true});
  CHECK(turned.names[2] == "GGG-1");
  CHECK(turned.columns.names[0] == "ENSG1");
  const auto bare = gpu::io::read_table(
      path, {.text = {.header = gpu::io::choice::no, .row_names = gpu::io::choice::no}});
  CHECK_FALSE(bare.names.given());
  CHECK_FALSE(bare.columns.given());
  const std::string own = folder.write("own.txt", "one\ntwo\n");
  CHECK(gpu::io::read_table(path, {.text = {.names_file = own}}).names[0] == "one");
  const std::string wrong = folder.write("wrong.txt", "one\ntwo\nthree\n");
  CHECK_THROWS_AS(gpu::io::read_table(path, {.text = {.names_column = "symbol"}}),
                  gpu::io::input_error);
  check_refused("b.mtx", text, "got 3 names, expected one for each of the 2 rows",
                {.text = {.names_file = wrong}});
  check_refused("t.txt", "a 1 2 3\nb 4 5 7\n", "names its rows by column 1",
                {.text = {.names_file = own}});
  // Another name has no names beside it.
  CHECK_FALSE(gpu::io::read_table(folder.write("counts.mtx", text)).names.given());
}

TEST_CASE("SciPy's .npz of every kind", "[io][sparse]") {
  const values want{1, 0, 2, 0, 3, 0};
  for (const bool is_deflated : {false, true}) {
    for (const bool is_long : {false, true}) {
      CHECK(all_of(read("a.npz", zip_of(csr_members(), is_deflated, is_long))) == want);
    }
  }
  const gpu_test::named_bytes csc{{"indices.npy", npy_of<std::int64_t>("<i8", {0, 1, 0})},
                                  {"indptr.npy", npy_of<std::int64_t>("<i8", {0, 1, 2, 3})},
                                  {"format.npy", npy_of_text("csc")},
                                  {"shape.npy", npy_of<std::int64_t>("<i8", {2, 3})},
                                  {"data.npy", npy_of<float>("<f4", {1, 3, 2})}};
  CHECK(all_of(read("a.npz", zip_of(csc, true))) == want);
  CHECK(read("a.npz", zip_of(csc, true)).element_name() == "float32");
  CHECK(all_of(read("a.npz", zip_of(csc, true), {.transposes = true})) == values{1, 0, 0, 3, 2, 0});
  gpu_test::named_bytes coo{{"row.npy", npy_of<std::int32_t>("<i4", {1, 0, 0})},
                            {"col.npy", npy_of<std::int32_t>("<i4", {1, 2, 0})},
                            {"format.npy", npy_of_text("coo")},
                            {"shape.npy", npy_of<std::int64_t>("<i8", {2, 3})},
                            {"data.npy", npy_of<std::int64_t>("<i8", {3, 2, 1})}};
  CHECK(all_of(read("a.npz", zip_of(coo, true))) == want);
  CHECK(all_of(read("a.npz", zip_of(coo, true), {.transposes = true})) == values{1, 0, 0, 3, 2, 0});
  // Columns need no order.
  const auto unordered = with_member("indices.npy", npy_of<std::int32_t>("<i4", {2, 0, 1}));
  CHECK(all_of(read("a.npz", unordered)) == values{2, 0, 1, 0, 3, 0});
  const auto wide = with_member("data.npy", npy_of<std::int64_t>("<i8", {1, 2, 3}));
  CHECK(read("a.npz", wide).element_name() == "int32");
  const auto flags = with_member("data.npy", npy_of<std::uint8_t>("|b1", {1, 1, 1}));
  CHECK(read("a.npz", flags).element_name() == "int8");
}

TEST_CASE("What is wrong with an .npz is said", "[io][sparse]") {
  const std::string good = zip_of(csr_members(), true);
  const auto integers = [](std::vector<std::int32_t> all) {
    return npy_of<std::int32_t>("<i4", all);
  };
  check_refused("a.npz", with_member("indices.npy", integers({0, 3, 1})),
                "array 'indices' has 3 at 1, expected 0 to 2");
  check_refused("a.npz", with_member("indices.npy", integers({0, -1, 1})), "has -1 at 1");
  check_refused("a.npz", with_member("data.npy", npy_of<std::uint8_t>("|b1", {1, 255, 1})),
                "has the byte 255 at 1");
  check_refused("a.npz", with_member("indices.npy", integers({0, 1})),
                "array 'indices' has 2 elements, expected 3");
  check_refused("a.npz", with_member("indices.npy", integers({2, 2, 1})),
                "row 0, column 2 (from 0 on) is stored twice");
  check_refused("a.npz", with_member("indptr.npy", integers({0, 3, 2})), "array 'indptr' has 0");
  check_refused("a.npz", with_member("indptr.npy", integers({0, 2})), "expected 3");
  check_refused(
      "a.npz",
      with_member("data.npy", gpu::io::make_npy_header("'<c16'", {3}) + std::string(48, '\0')),
      "array 'data' is of type '<c16', expected bool, int8");
  check_refused("a.npz", with_member("data.npy", npy_of<double>(">f8", {1, 2, 3})),
                "is of type '>f8'");
  check_refused("a.npz", with_member("data.npy", npy_of<std::int64_t>("<i8", {1, 2, 1L << 40})),
                "array 'data' has 1099511627776 at 2");
  check_refused("a.npz", with_member("format.npy", npy_of_text("bsr")), "format 'bsr'");
  check_refused("a.npz", with_member("shape.npy", npy_of<std::int64_t>("<i8", {1L << 60, 3})),
                "rows and 3 columns for 3 entries");
  check_refused("a.npz", with_member("data.npy", gpu::io::make_npy_header("'<f8'", {1L << 50})),
                "array 'data' has 1125899906842624 elements in 0 bytes");
  check_refused("a.npz", zip_of({{"arr_0.npy", npy_of<double>("<f8", {1})}}, true),
                "is a zip archive of 'arr_0.npy', expected a sparse matrix");
  check_refused("book.xlsx", zip_of({{"xl/workbook.xml", "<x/>"}}, true),
                "an .xlsx is read as CSV");
  check_refused("a.npz", good, "unpacks to more than the 100 bytes", {.max_bytes = 100});
  check_refused("a.npz", good.substr(0, good.size() - 1), "the zip archive is damaged");
  std::string bad_sum = zip_of(csr_members(), false);
  bad_sum[bad_sum.find("PK\x01\x02") - 1] ^= 1;
  check_refused("a.npz", bad_sum, "its sum (CRC-32) is another one");
}

TEST_CASE("No cut of an .npz and no changed byte is taken for another matrix", "[io][sparse]") {
  const gpu_test::temporary_folder folder;
  const std::string good = zip_of(csr_members(), true);
  const values want{1, 0, 2, 0, 3, 0};
  std::size_t taken = 0;
  const auto try_bytes = [&](const std::string& bytes) {
    try {
      const auto table = gpu::io::read_table(folder.write("a.npz", bytes));
      CHECK(all_of(table) == want);
      ++taken;
    } catch (const gpu::io::input_error&) {
    }
  };
  for (std::size_t cut = 8; cut < good.size(); ++cut) try_bytes(good.substr(0, cut));
  CHECK(taken == 0);
  for (std::size_t at = 4; at < good.size(); ++at) {
    for (const int bit : {1, 64}) {
      std::string bad = good;
      bad[at] = static_cast<char>(bad[at] ^ bit);
      try_bytes(bad);
    }
  }
  // Times, versions and attributes say nothing of the matrix.
  CHECK(taken < good.size());
}
