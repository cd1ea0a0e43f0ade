#include "io/read/fingerprints/fingerprints.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>

#include "io/io_error.hpp"
#include "io/read/fingerprints/bit_rows.hpp"
#include "io/read/fingerprints/digits_reader.hpp"
#include "io/read/npy_reader.hpp"
#include "io/read/row_choice.hpp"
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
  table_packer(const std::string& file, const fingerprint_options& bits, bool is_array)
      : file_(file), bits_(bits), origin_(is_array ? 0 : 1) {}

  table pack(row_reader& source) {
    cols_ = source.cols();
    const bool is_packed = bits_.format == fingerprint_format::packed;
    check_cols(is_packed);
    bit_rows rows(is_packed && bits_.bits != 0 ? bits_.bits : is_packed ? 8 * cols_ : cols_);
    for (auto block = source.next(); block; block = source.next()) {
      out_.names.add(block->names);
      for (index_t i = 0; i < block->rows(); ++i) {
        is_packed ? take_octets(*block, i, rows) : take_values(*block, i, rows);
      }
    }
    out_.bits = rows.take();
    out_.reading = source.reading();
    if (!is_packed) out_.columns = source.columns();
    return std::move(out_);
  }

 private:
  void check_cols(bool is_packed) const {
    if (bits_.bits == 0) return;
    const index_t expected = is_packed ? (bits_.bits + 7) / 8 : bits_.bits;
    if (cols_ == expected) return;
    throw input_error(file_, {},
                      fmt::format("got {} columns, expected {} for {} bits{}", cols_, expected,
                                  bits_.bits, is_packed ? ", eight in an octet" : ""));
  }

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
        fmt::format("got {} in row {}{}, column {} of values, expected 0 or 1 (of .npy with octets "
                    "of bits, --bits N says how many bits a row has)",
                    got, rows.rows() - 1 + origin_, name, j + origin_));
  }

  void take_octets(const table& block, index_t i, bit_rows& rows) {
    const auto* const values = std::get_if<matrix<std::uint8_t>>(&block.values);
    if (values == nullptr) {
      throw input_error(
          file_, {},
          fmt::format("got {}, expected .npy of uint8, octets of bits", block.element_name()));
    }
    std::uint32_t* const words = rows.add();
    const std::uint8_t* const row = values->row(i).data();
    for (index_t k = 0; k < cols_; ++k) {
      const std::uint8_t octet = bits_.order == bit_order::big ? reversed(row[k]) : row[k];
      words[k / 4] |= std::uint32_t{octet} << (8 * (k % 4));
      if (8 * (k + 1) <= rows.cols() || octet >> (rows.cols() - 8 * k) == 0) continue;
      throw input_error(file_, {},
                        fmt::format("got a bit after the last of {} in row {}, expected 0 "
                                    "(--bit-order says which bit of an octet comes first)",
                                    rows.cols(), rows.rows() - 1 + origin_));
    }
  }

  static std::uint8_t reversed(std::uint8_t octet) {
    unsigned out = 0;
    for (unsigned bit = 0; bit < 8; ++bit) out |= ((octet >> bit) & 1U) << (7 - bit);
    return static_cast<std::uint8_t>(out);
  }

  const std::string& file_;
  const fingerprint_options& bits_;
  index_t origin_;
  index_t cols_ = 0;
  table out_;
};

/// Of lines: whose first block is looked at where the format is not said.
table read_lines(input& file, const read_options& options, fingerprint_options bits) {
  auto lines = file.lines();
  if (bits.format == fingerprint_format::automatic) {
    const std::string_view first = lines->next();
    bits.format = format_of_lines(first, options.text);
    lines = std::make_unique<rejoined_lines>(first, std::move(lines));
  }
  if (bits.format == fingerprint_format::table) {
    std::unique_ptr<row_reader> rows =
        std::make_unique<text_rows>(std::move(lines), options, file.name());
    if (options.transposes) {
      rows = std::make_unique<transposed_rows>(std::move(rows), options.threads);
    }
    rows = name_rows(std::move(rows), options.transposes ? 0 : options.text.rows.begin, options,
                     file.name());
    return table_packer(file.name(), bits, false).pack(*rows);
  }
  if (options.transposes) {
    throw input_error(file.name(), {},
                      "has a fingerprint in each line, with which --transpose does not go");
  }
  table all = bits.format == fingerprint_format::fps
                  ? read_fps(std::move(lines), file.name(), bits)
                  : read_digits(std::move(lines), file.name(), options.text, bits);
  name_rows(all, 0, options, file.name());
  return chosen_rows(std::move(all), options.text.rows, file.name());
}

/// Whether the bits of a .npy are packed. Its first block tells type and columns.
bool are_packed(const row_reader& source, const input& file, const fingerprint_options& bits) {
  return file.begins_with(npy_magic) && bits.bits > 8 && source.cols() == (bits.bits + 7) / 8;
}

}  // namespace

table read_fingerprints(input& file, const read_options& options,
                        const fingerprint_options& given) {
  fingerprint_options bits = given;
  const bool is_automatic = bits.format == fingerprint_format::automatic;
  if (is_automatic && file.begins_with(fps_magic)) bits.format = fingerprint_format::fps;
  const bool is_other = bits.format == fingerprint_format::packed || !is_text(file);
  if (!is_other) return read_lines(file, options, bits);
  if (!is_automatic && bits.format != fingerprint_format::packed &&
      bits.format != fingerprint_format::table) {
    throw input_error(file.name(), {}, "is not text, as --input-format says");
  }
  const auto source = open_rows(file, options);
  if (is_automatic) {
    bits.format =
        are_packed(*source, file, bits) ? fingerprint_format::packed : fingerprint_format::table;
  }
  return table_packer(file.name(), bits, file.begins_with(npy_magic)).pack(*source);
}

table read_fingerprints(const std::string& path, const read_options& options,
                        const fingerprint_options& bits) {
  return read_file(path, options,
                   [&](input& file) { return read_fingerprints(file, options, bits); });
}

}  // namespace gpu::io
