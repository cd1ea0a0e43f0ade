#include "io/read/fingerprints/fingerprints.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <variant>

#include "io/io_error.hpp"
#include "io/read/fingerprints/bit_rows.hpp"
#include "io/read/fingerprints/fps_reader.hpp"
#include "io/read/npy_reader.hpp"
#include "io/read/text_reader.hpp"
#include "io/read/transposed_rows.hpp"

namespace gpu::io {
namespace {

/// A source whose first block was looked at already.
class rejoined_lines final : public line_source {
 public:
  rejoined_lines(std::string_view first, std::unique_ptr<line_source> rest)
      : first_(first), rest_(std::move(rest)) {}
  std::string_view next() override {
    const auto first = std::exchange(first_, std::nullopt);
    return first ? *first : rest_->next();
  }

 private:
  std::optional<std::string_view> first_;  // of rest_, valid until it is asked for the next
  std::unique_ptr<line_source> rest_;
};

class table_packer {
 public:
  /// Messages count rows and columns from 0 of an array, as NumPy does, else from 1.
  table_packer(const std::string& file, index_t bits, bool is_array)
      : file_(file), bits_(bits), origin_(is_array ? 0 : 1) {}

  table pack(row_reader& source) {
    cols_ = source.cols();
    if (bits_ != 0 && cols_ != bits_) {
      throw input_error(
          file_, {}, fmt::format("got {} columns, expected {} for {} bits", cols_, bits_, bits_));
    }
    bit_rows rows(cols_);
    for (auto block = source.next(); block; block = source.next()) {
      out_.names.add(block->names);
      for (index_t i = 0; i < block->rows(); ++i) take_values(*block, i, rows);
    }
    out_.bits = rows.take();
    out_.reading = source.reading();
    out_.columns = source.columns();
    return std::move(out_);
  }

 private:
  void take_values(const table& block, index_t i, bit_rows& rows) {
    std::uint32_t* const words = rows.add();
    std::visit(
        [&](const auto& values) {
          const auto* const row = values.row(i).data();
          for (index_t j = 0; j < cols_; ++j) {
            const bool is_set = row[j] == 1;
            if (!is_set && row[j] != 0) refuse(block, i, j, static_cast<double>(row[j]), rows);
            words[j / 32] |= std::uint32_t{is_set} << (j % 32);
          }
        },
        block.values);
  }

  [[noreturn]] void refuse(const table& block, index_t i, index_t j, double value,
                           const bit_rows& rows) const {
    const std::string name =
        block.names.given() ? fmt::format(" ({})", quoted(block.names[i])) : std::string();
    const std::string got =
        value != value ? std::string("a missing value") : fmt::format("{}", value);
    throw input_error(
        file_, {},
        fmt::format("got {} in row {}{}, column {} of values, expected 0 or 1 (octets of "
                    "np.packbits(a, axis=1) become rows of these by np.unpackbits(a, axis=1))",
                    got, rows.rows() - 1 + origin_, name, j + origin_));
  }

  const std::string& file_;
  index_t bits_;
  index_t origin_;
  index_t cols_ = 0;
  table out_;
};

/// The lines of a text whose format is not said: a table, unless a line has a fingerprint in one
/// field.
std::unique_ptr<line_source> lines_of_table(input& file) {
  auto lines = file.lines();
  const std::string_view first = lines->next();
  const std::string_view digits = digits_in(without_byte_order_mark(first));
  if (!digits.empty()) {
    throw input_error(
        file.name(), {2, 0},
        fmt::format("got {} in one field. --input-format fps reads hexadecimal digits with a tab "
                    "and a name behind them, --input-format table a table of 0 and 1; digits 0 and "
                    "1 become one by sed 's/[01]/& /g'",
                    quoted(digits)));
  }
  return std::make_unique<rejoined_lines>(first, std::move(lines));
}

}  // namespace

table read_fingerprints(input& file, const read_options& options,
                        const fingerprint_options& given) {
  const bool is_automatic = given.format == fingerprint_format::automatic;
  if (given.format == fingerprint_format::fps || (is_automatic && file.begins_with(fps_magic))) {
    if (!is_text(file)) {
      throw input_error(file.name(), {}, "is not text, as --input-format says");
    }
    if (options.transposes) {
      throw input_error(file.name(), {},
                        "has a fingerprint in each line, with which --transpose does not go");
    }
    if (!options.text.names_file.empty()) {
      throw input_error(file.name(), {},
                        "is FPS, which names its rows: --names does not go with it");
    }
    return read_fps(file.lines(), file.name(), given.bits, options.text.rows);
  }
  const auto rows = is_automatic && is_text(file)
                        ? open_text(lines_of_table(file), options, file.name())
                        : open_rows(file, options);
  return table_packer(file.name(), given.bits, file.begins_with(npy_magic)).pack(*rows);
}

table read_fingerprints(const std::string& path, const read_options& options,
                        const fingerprint_options& bits) {
  return read_file(path, options,
                   [&](input& file) { return read_fingerprints(file, options, bits); });
}

}  // namespace gpu::io
