// Tables as blocks of rows: what is read so is the table read at once, and what is written so is
// the table written at once.
#include <unistd.h>
#include <zlib.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <variant>
#include <vector>

#include "io/npy_header.hpp"
#include "io/read/read_table.hpp"
#include "io/read_text.hpp"
#include "io/rows/row_writer.hpp"
#include "io/rows/selection_writer.hpp"
#include "io/write/number_text.hpp"
#include "io/write/output_file.hpp"
#include "support/catch.hpp"
#include "support/temporary_file.hpp"

namespace {

using gpu_test::values_of;

/// Reads `path` in blocks and compares with the whole; returns the number of blocks.
int compare_with_whole(const std::string& path) {
  const gpu::io::table whole = gpu::io::read_table(path);
  const std::vector<double> expected = values_of(whole);
  gpu::io::input file(path, {}, gpu::io::read_options::default_max_bytes);
  const auto source = gpu::io::open_rows(file);
  CHECK(source->cols() == whole.cols());
  CHECK(source->names_rows() == whole.names.given());
  CHECK(source->columns().names == whole.columns.names);
  if (source->rows()) CHECK(*source->rows() == whole.rows());
  int blocks = 0;
  gpu::index_t row = 0;
  std::size_t wrong = 0;
  bool has_nan = false;
  while (const auto block = source->next()) {
    ++blocks;
    CHECK(block->rows() > 0);
    const std::vector<double> values = values_of(*block);
    const auto first = static_cast<std::size_t>(row * whole.cols());
    REQUIRE(first + values.size() <= expected.size());
    for (std::size_t k = 0; k < values.size(); ++k) {
      const double wanted = expected[first + k];
      wrong += !(values[k] == wanted || (std::isnan(values[k]) && std::isnan(wanted)));
    }
    for (gpu::index_t i = 0; whole.names.given() && i < block->rows(); ++i) {
      wrong += block->names[i] != whole.names[row + i];
    }
    if (block->first_nan && !has_nan) {
      has_nan = true;
      REQUIRE(whole.first_nan.has_value());
      CHECK(block->first_nan->line == whole.first_nan->line);
      CHECK(block->first_nan->column == whole.first_nan->column);
    }
    row += block->rows();
  }
  CHECK(row == whole.rows());
  CHECK(wrong == 0);
  CHECK(has_nan == whole.first_nan.has_value());
  CHECK(file.share_read() == 1.0);
  CHECK_FALSE(source->next().has_value());
  return blocks;
}

std::string large_text(bool has_nan) {
  std::mt19937_64 engine(5);
  std::string text = "gene\talpha\t\"beta\"\tgamma\n";
  constexpr int rows = 1'300'000;
  text.reserve(std::size_t{rows} * 30);
  for (int i = 0; i < rows; ++i) {
    text += "name_" + std::to_string(i) + '\t' + std::to_string(engine() % 100);
    text += i == 1'200'000 && has_nan ? std::string("\tNA") : '\t' + std::to_string(engine() % 9);
    text += i < 600'000 ? std::string("\t7\n") : '\t' + std::to_string(engine() % 70000) + ".25\n";
    if (i % 100'000 == 0) text += "\n\n";
  }
  return text;
}

template <class T>
std::string large_npy(const std::string& descr, gpu::index_t rows, gpu::index_t cols) {
  std::mt19937_64 engine(6);
  std::vector<T> values(static_cast<std::size_t>(rows * cols));
  for (T& v : values) v = static_cast<T>(engine() % 1000);
  std::string bytes = gpu::io::make_npy_header("'" + descr + "'", {rows, cols});
  bytes.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
  return bytes;
}

std::string text_of(double value) {
  std::array<char, gpu::io::number_longest> text;
  return {text.data(), gpu::io::append_number(text.data(), value)};
}
std::string text_of(float value) {
  std::array<char, gpu::io::number_longest> text;
  return {text.data(), gpu::io::append_number(text.data(), value)};
}

}  // namespace

TEST_CASE("Blocks of text are the whole text", "[io][rows]") {
  const gpu_test::temporary_folder folder;
  CHECK(compare_with_whole(folder.write("in.tsv", large_text(false))) > 1);
  CHECK(compare_with_whole(folder.write("nan.tsv", large_text(true))) > 1);
  CHECK(compare_with_whole(folder.write("small.tsv", "1 2 3\n4 5 6\n\n\n")) == 1);
}

TEST_CASE("Blocks of .npy are the whole array", "[io][rows]") {
  const gpu_test::temporary_folder folder;
  CHECK(compare_with_whole(folder.write("f8.npy", large_npy<double>("<f8", 70'000, 50))) > 1);
  CHECK(compare_with_whole(folder.write("i8.npy", large_npy<std::int64_t>("<i8", 70'000, 50))) > 1);
  CHECK(compare_with_whole(folder.write("long.npy", large_npy<float>("<f4", 3, 5'000'000))) == 3);
  CHECK(compare_with_whole(folder.write("none.npy", large_npy<float>("<f4", 0, 5))) == 0);
  CHECK(compare_with_whole(folder.write("thin.npy", large_npy<float>("<f4", 5, 0))) == 1);
}

TEST_CASE("What follows an array or cuts it is seen by the last block", "[io][rows]") {
  const gpu_test::temporary_folder folder;
  const std::string whole = large_npy<double>("<f8", 70'000, 50);
  for (const std::string& bytes : {whole + "x", whole.substr(0, whole.size() - 1)}) {
    const std::string path = folder.write("in.npy", bytes);
    gpu::io::input file(path, {}, gpu::io::read_options::default_max_bytes);
    const auto read_all = [&] {
      const auto source = gpu::io::open_rows(file);
      while (source->next()) {
      }
    };
    CHECK_THROWS_AS(read_all(), gpu::io::input_error);
  }
}

TEST_CASE("A header names the columns", "[io][rows]") {
  const gpu_test::temporary_folder folder;
  const auto columns_of = [&](const std::string& text) {
    return gpu::io::read_table(folder.write("in", text)).columns;
  };
  CHECK(columns_of("id\ta\t\"b c\"\nx\t1\t2\n").names == std::vector<std::string>{"a", "b c"});
  CHECK(columns_of("id\ta\tb\nx\t1\t2\n").corner == "id");
  CHECK(columns_of("a b\nx 1 2\n").names == std::vector<std::string>{"a", "b"});
  CHECK(columns_of("a b\nx 1 2\n").corner.empty());
  CHECK(columns_of(",a,b\nx,1,2\n").names == std::vector<std::string>{"a", "b"});
  CHECK(columns_of("a,b\n1,2\n").names == std::vector<std::string>{"a", "b"});
  CHECK_FALSE(columns_of("1 2\n3 4\n").given());
}

TEST_CASE("Numbers are written in the fewest digits that give them back", "[io][rows]") {
  CHECK(text_of(std::numeric_limits<double>::quiet_NaN()) == "NaN");
  CHECK(text_of(std::numeric_limits<double>::infinity()) == "inf");
  CHECK(text_of(-std::numeric_limits<float>::infinity()) == "-inf");
  CHECK(text_of(-0.0) == "-0");
  CHECK(text_of(0.1) == "0.1");
  CHECK(text_of(0.1F) == "0.1");
  CHECK(text_of(-2.2250738585072014e-308).size() <= gpu::io::number_longest);
  std::mt19937_64 engine(3);
  std::size_t wrong = 0;
  for (int i = 0; i < 200'000; ++i) {
    const auto halves = static_cast<long long>(engine() >> (engine() % 40 + 22));
    const double half = static_cast<double>(i % 3 == 0 ? -halves : halves) / 2;
    std::array<char, 64> expected;
    std::snprintf(expected.data(), expected.size(), halves % 2 == 0 ? "%.0f" : "%.1f", half);
    if (half != 0) wrong += text_of(half) != expected.data();
    if (half != 0 && std::abs(halves) < (1 << 23)) {
      wrong += text_of(static_cast<float>(half)) != expected.data();
    }
    double any = 0;
    const std::uint64_t bits = engine();
    std::memcpy(&any, &bits, sizeof(any));
    if (!std::isnan(any)) wrong += std::strtod(text_of(any).c_str(), nullptr) != any;
    const auto narrow = static_cast<float>(static_cast<double>(engine() % 1'000'000) / 997);
    wrong += std::strtof(text_of(narrow).c_str(), nullptr) != narrow;
  }
  CHECK(wrong == 0);
}

TEST_CASE("Rows that come in pieces are written as one table", "[io][rows]") {
  const gpu_test::temporary_folder folder;
  const gpu::matrix<double> values = [] {
    gpu::matrix<double> m(5000, 7);
    for (gpu::index_t k = 0; k < 35'000; ++k) m.data()[k] = static_cast<double>(k) / 8;
    return m;
  }();
  const auto write = [&](gpu::io::result_format format, std::optional<gpu::index_t> rows,
                         const std::string& path) {
    gpu::io::output_file out(path);
    gpu::io::row_writer writer(
        out, {.format = format, .cols = 7, .rows = rows, .are_named = true, .threads = 3});
    for (gpu::index_t first = 0; first < 5000;) {
      const gpu::index_t count = std::min<gpu::index_t>(1234, 5000 - first);
      gpu::io::row_names names;
      for (gpu::index_t i = 0; i < count; ++i) names.add('r' + std::to_string(first + i));
      writer.write(gpu::matrix_view<const double>(values.data() + first * 7, count, 7), names);
      first += count;
    }
    writer.finish();
    out.commit();
  };
  const std::string tsv = folder.path("out.tsv");
  write(gpu::io::result_format::tsv, std::nullopt, tsv);
  const auto back = gpu::io::read_table(tsv);
  CHECK(values_of(back) == std::vector<double>(values.data(), values.data() + 35'000));
  CHECK(back.names[4999] == "r4999");
  for (const std::optional<gpu::index_t> rows : {std::optional<gpu::index_t>(5000), {}}) {
    const std::string npy = folder.path("out.npy");
    write(gpu::io::result_format::npy, rows, npy);
    CHECK(values_of(gpu::io::read_table(npy)) == values_of(back));
  }
}

TEST_CASE("Entries of rows without names are numbered through all pieces", "[io][rows]") {
  const gpu_test::temporary_folder folder;
  const std::string path = folder.path("out.tsv");
  gpu::io::output_file out(path);
  gpu::io::selection_writer writer(out, {.entries = 1, .threads = 2});
  for (int piece = 0; piece < 3; ++piece) {
    gpu::io::row_selection<double> some{.values = gpu::matrix<double>(2, 1),
                                        .indices = gpu::matrix<gpu::index_t>(2, 1)};
    for (gpu::index_t i = 0; i < 2; ++i) {
      some.values(i, 0) = static_cast<double>(10 * piece + i);
      some.indices(i, 0) = i;
    }
    writer.write(some, {});
  }
  writer.finish();
  out.commit();
  CHECK(gpu_test::read_file(path) ==
        "name\trank\tcolumn\tvalue\nX1\t1\t1\t0\nX2\t1\t2\t1\nX3\t1\t1\t10\nX4\t1\t2\t11\n"
        "X5\t1\t1\t20\nX6\t1\t2\t21\n");
}

TEST_CASE("A wide integer has its place in the file, whatever block it is in", "[io][rows]") {
  constexpr gpu::index_t rows = 1'000'001;
  std::vector<std::int64_t> values(3 * rows, 7);
  values[3 * 900'000 + 2] = 2147483648LL;
  const gpu_test::temporary_folder folder;
  std::string bytes = gpu::io::make_npy_header("'<i8'", {rows, 3});
  bytes.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(values[0]));
  gpu::io::input file(folder.write("in.npy", bytes), {}, gpu::io::read_options::default_max_bytes);
  const auto source = gpu::io::open_rows(file);
  int blocks = 0;
  std::string message;
  try {
    while (source->next()) ++blocks;
  } catch (const gpu::io::input_error& error) {
    message = error.what();
  }
  CHECK(blocks > 0);
  CHECK(message.find("row 900000, column 2: got 2147483648") != std::string::npos);
}
