// The reader of sparse files: on any bytes, and on matrices that are made here, whose values are
// known.
#include <fuzzer/FuzzedDataProvider.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fuzz/expect.hpp"
#include "io/io_error.hpp"
#include "io/read/input.hpp"
#include "io/read/sparse/matrix_market.hpp"
#include "io/read/sparse/sparse_rows.hpp"

namespace {

using gpu::index_t;
using gpu_test::expect;
using places = std::map<std::pair<index_t, index_t>, double>;

constexpr std::uint64_t most_bytes = std::uint64_t{1} << 24;

/// Blocks of whole lines, of about so many bytes.
class memory_lines final : public gpu::io::line_source {
 public:
  memory_lines(std::string text, std::size_t step) : text_(std::move(text)), step_(step) {}
  std::string_view next() override {
    const std::size_t begin = used_;
    const std::size_t newline = text_.find('\n', std::min(begin + step_, text_.size()));
    used_ = newline == std::string::npos ? text_.size() : newline + 1;
    return std::string_view(text_).substr(begin, used_ - begin);
  }

 private:
  std::string text_;
  std::size_t step_;
  std::size_t used_ = 0;
};

/// The rows of a sparse file, whose indices are then all in order; its places.
places places_of(gpu::io::sparse_file what, const gpu::io::read_options& options) {
  gpu::io::sparse_rows source(std::move(what), options, "file", most_bytes);
  const gpu::io::table table = source.rest();
  expect(table.sparse.has_value(), "a sparse table");
  places out;
  std::visit(
      [&](const auto& pattern, const auto& values) {
        expect(static_cast<index_t>(pattern.row_begin.size()) == table.rows() + 1, "the rows");
        expect(pattern.column.size() == values.size(), "as many columns as values");
        for (std::size_t row = 0; row + 1 < pattern.row_begin.size(); ++row) {
          index_t before = -1;
          for (auto k = static_cast<std::size_t>(pattern.row_begin[row]);
               k < static_cast<std::size_t>(pattern.row_begin[row + 1]); ++k) {
            const auto column = static_cast<index_t>(pattern.column[k]);
            expect(column > before && column < table.cols(), "columns ascend within the matrix");
            before = column;
            out[{static_cast<index_t>(row), column}] = static_cast<double>(values[k]);
          }
        }
      },
      table.sparse->pattern, table.sparse->values);
  expect(static_cast<index_t>(out.size()) == table.sparse->stored(), "every value has a place");
  return out;
}

places read_market(const std::string& text, std::size_t step, bool transposes) {
  const gpu::io::read_options options{.transposes = transposes, .threads = 1, .keeps_sparse = true};
  return places_of(
      gpu::io::read_matrix_market(std::make_unique<memory_lines>(text, step), options, "file"),
      options);
}

template <class Read>
void read_anything(const Read& read) {
  try {
    (void)read();
  } catch (const gpu::io::input_error& error) {
    expect(error.what()[0] != '\0', "an error says what is wrong");
  }
}

struct made_matrix {
  index_t rows;
  index_t cols;
  std::vector<std::pair<std::pair<index_t, index_t>, int>> entries;
  bool is_transposed;

  [[nodiscard]] places expected() const {
    places out;
    for (const auto& [place, value] : entries) {
      out[is_transposed ? std::pair(place.second, place.first) : place] = value;
    }
    return out;
  }
};

made_matrix make_matrix(FuzzedDataProvider& input) {
  made_matrix out{.rows = input.ConsumeIntegralInRange<index_t>(1, 30),
                  .cols = input.ConsumeIntegralInRange<index_t>(1, 30),
                  .entries = {},
                  .is_transposed = input.ConsumeBool()};
  places there;
  while (input.remaining_bytes() > 3 && out.entries.size() < 200) {
    const std::pair place(input.ConsumeIntegralInRange<index_t>(0, out.rows - 1),
                          input.ConsumeIntegralInRange<index_t>(0, out.cols - 1));
    const int value = input.ConsumeIntegralInRange<int>(-40000, 40000);
    if (there.emplace(place, value).second) out.entries.emplace_back(place, value);
  }
  return out;
}

void check_market(const made_matrix& made, std::size_t step) {
  std::string text = "%%MatrixMarket matrix coordinate integer general\n%\n" +
                     std::to_string(made.rows) + " " + std::to_string(made.cols) + " " +
                     std::to_string(made.entries.size()) + "\n";
  for (const auto& [place, value] : made.entries) {
    text += std::to_string(place.first + 1) + " " + std::to_string(place.second + 1) + "\t" +
            std::to_string(value) + (value % 3 == 0 ? "\r\n" : "\n");
  }
  expect(read_market(text, step, made.is_transposed) == made.expected(), "the places of an .mtx");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  FuzzedDataProvider input(data, size);
  const auto mode = input.ConsumeIntegral<std::uint8_t>();
  const auto step = input.ConsumeIntegralInRange<std::size_t>(1, 100);
  const bool flag = input.ConsumeBool();
  if (mode % 4 == 0) {
    check_market(make_matrix(input), step);
  } else {
    const std::string rest = input.ConsumeRemainingBytesAsString();
    read_anything([&] { return read_market("%%MatrixMarket " + rest, step, flag); });
  }
  return 0;
}
