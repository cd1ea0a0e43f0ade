// MatrixMarket, against literals.
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

namespace {

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
  out.sparse.sparse->with_rows(out.sparse.rows(),
                               [](const auto& view) { CHECK(view.stored() >= 0); });
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
  check_refused("a.mtx", begin + "real skew-symmetric\n2 2 1\n2 1 1\n", "got 'skew-symmetric'");
  check_refused("a.mtx", begin + "real general\n9000000000000000000 1 1\n1 1 1\n",
                "got 9000000000000000000 rows");
  check_refused("a.mtx", begin + "real general\n100000000 2 1\n1 1 1\n", "100000000 rows");
  check_refused("a.mtx", begin + "real general\n2 2147483648 30000000\n1 1 1\n",
                "and 2147483647 in all");
  check_refused("a.npz", "PK\x03\x04 and more", "o.mmwrite('");
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
