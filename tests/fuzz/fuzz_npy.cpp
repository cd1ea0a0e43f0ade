// The .npy reader: on any bytes, and on arrays that are made here, whose values are known.
#include <fuzzer/FuzzedDataProvider.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <variant>

#include "fuzz/expect.hpp"
#include "fuzz/memory_stream.hpp"
#include "io/npy_header.hpp"
#include "io/read/npy_reader.hpp"
#include "io/read/transposed_rows.hpp"

namespace {

using gpu_test::expect;

gpu::io::table read(const std::string& bytes) {
  auto stream = std::make_unique<gpu_test::memory_stream>(bytes);
  return gpu::io::open_npy(std::move(stream), "npy", false, 1)->rest();
}

/// What an accepted array is must be said by its last bytes: they are its values.
void check_values(const gpu::io::table& table, const std::string& bytes) {
  std::visit(
      [&](const auto& values) {
        using T = typename std::remove_cvref_t<decltype(values)>::value_type;
        const auto count = static_cast<std::size_t>(values.rows() * values.cols());
        if constexpr (!std::is_same_v<T, std::int32_t>) {  // that may have been narrowed
          expect(count * sizeof(T) <= bytes.size(), "more values than bytes");
          if (count == 0) return;
          const char* const data = bytes.data() + bytes.size() - count * sizeof(T);
          expect(std::memcmp(values.data(), data, count * sizeof(T)) == 0, "the values");
        }
        bool has_nan = false;
        for (std::size_t k = 0; k < count && !has_nan; ++k) {
          has_nan = values.data()[k] != values.data()[k];
          if (!has_nan) continue;
          expect(table.first_nan.has_value() && table.first_nan->is_in_array &&
                     table.first_nan->line * values.cols() + table.first_nan->column ==
                         static_cast<gpu::index_t>(k),
                 "where the first NaN stands");
        }
        expect(has_nan == table.first_nan.has_value(), "whether there is a NaN");
      },
      table.values);
}

bool is_in_fortran_order(const std::string& bytes) {
  gpu_test::memory_stream stream(bytes);
  return gpu::io::read_npy_header(stream, "npy").fortran_order;
}

/// The table as its values stand in the file.
gpu::io::table as_stored(gpu::io::table table) {
  gpu::io::table out = gpu::io::transposed(table, 1);
  if (out.first_nan) std::swap(out.first_nan->line, out.first_nan->column);
  return out;
}

void read_anything(const std::string& bytes) {
  try {
    gpu::io::table table = read(bytes);
    check_values(is_in_fortran_order(bytes) ? as_stored(std::move(table)) : std::move(table),
                 bytes);
  } catch (const gpu::io::input_error& error) {
    expect(error.what()[0] != '\0', "an error says what is wrong");
  }
}

struct type_case {
  const char* descr;
  std::size_t bytes;
  const char* name;  // of the elements that are read
};
constexpr std::array types{
    type_case{"|i1", 1, "int8"},    type_case{"|u1", 1, "uint8"},   type_case{"|b1", 1, "uint8"},
    type_case{"<i2", 2, "int16"},   type_case{"<u2", 2, "uint16"},  type_case{"<i4", 4, "int32"},
    type_case{"<f4", 4, "float32"}, type_case{"<f8", 8, "float64"}, type_case{"<i8", 8, "int32"},
    type_case{"<u4", 4, "int32"},   type_case{"<u8", 8, "int32"}};

std::int64_t integer_at(const char* p, const type_case& type) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, p, type.bytes);
  if (type.bytes == 8 && type.descr[1] == 'u' && bits > INT64_MAX) return INT64_MAX;
  return static_cast<std::int64_t>(bits);
}

/// An array of a known type and shape, and perhaps some bytes too few or too many.
void read_made_array(FuzzedDataProvider& input) {
  const type_case& type = types[input.ConsumeIntegralInRange<std::size_t>(0, types.size() - 1)];
  const auto rows = input.ConsumeIntegralInRange<gpu::index_t>(0, 20);
  const auto cols = input.ConsumeIntegralInRange<gpu::index_t>(0, 20);
  const auto missing = input.ConsumeIntegralInRange<int>(-1, 8);
  std::string data = input.ConsumeRemainingBytesAsString();
  data.resize(static_cast<std::size_t>(rows * cols) * type.bytes, '\0');
  std::string bytes =
      gpu::io::make_npy_header("'" + std::string(type.descr) + "'", {rows, cols}) + data;
  const bool by_columns = !data.empty() && data[0] % 2 != 0;
  if (by_columns) bytes.replace(bytes.find("False, "), 7, "True,  ");
  if (missing < 0) bytes += 'x';
  if (missing > 0) bytes.resize(bytes.size() - static_cast<std::size_t>(missing));
  bool fits = true;
  if (type.name == std::string("int32") && type.descr != std::string("<i4")) {
    for (std::size_t at = 0; at < data.size(); at += type.bytes) {
      const std::int64_t value = integer_at(data.data() + at, type);
      fits = fits && value >= INT32_MIN && value <= INT32_MAX;
    }
  }
  if (type.descr == std::string("|b1")) {
    fits = data.find_first_not_of(std::string("\0\1", 2)) == std::string::npos;
  }
  try {
    gpu::io::table table = read(bytes);
    expect(missing == 0, "an array of another size is taken");
    expect(fits, "a value that does not fit is taken");
    expect(table.rows() == rows && table.cols() == cols, "the shape");
    expect(table.element_name() == type.name, "the type");
    if (by_columns) table = as_stored(std::move(table));
    check_values(table, bytes);
    if (const auto* narrowed = std::get_if<gpu::matrix<std::int32_t>>(&table.values)) {
      for (gpu::index_t k = 0; k < rows * cols && type.bytes == 8; ++k) {
        expect(narrowed->data()[k] ==
                   integer_at(data.data() + static_cast<std::size_t>(k) * type.bytes, type),
               "a narrowed value");
      }
    }
  } catch (const gpu::io::input_error& error) {
    expect(missing != 0 || !fits, error.what());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  FuzzedDataProvider input(data, size);
  const auto mode = input.ConsumeIntegral<std::uint8_t>();
  if (mode % 4 == 0) {
    read_made_array(input);
  } else if (mode % 4 == 1) {
    // The dictionary from the input, behind a preamble that fits.
    const std::string text = input.ConsumeRandomLengthString(200);
    std::string bytes("\x93NUMPY\x01\0", 8);
    bytes += static_cast<char>(text.size() & 0xFFU);
    bytes += static_cast<char>(text.size() >> 8);
    read_anything(bytes + text + input.ConsumeRemainingBytesAsString());
  } else {
    read_anything(std::string(reinterpret_cast<const char*>(data), size));
  }
  return 0;
}
