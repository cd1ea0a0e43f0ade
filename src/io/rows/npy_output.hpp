#pragma once
// A .npy whose rows come one after the other, and whose number of rows may be known last.

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gpu/index.hpp>

#include "io/io_error.hpp"
#include "io/npy_header.hpp"
#include "io/write/output_file.hpp"

namespace gpu::io {

/// Where the rows are not known before, the header is rewritten at the end, which only a regular
/// file can.
class npy_output {
 public:
  /// @throw output_error where the header is to be rewritten and cannot be. `out` outlives the
  /// object. @param descr of an element, in Python. @param row_shape the shape of a row, without
  /// the rows in front of it.
  npy_output(output_file& out, std::string descr, std::vector<index_t> row_shape,
             std::optional<index_t> rows)
      : out_(out),
        descr_(std::move(descr)),
        row_shape_(std::move(row_shape)),
        is_rewritten_(!rows) {
    if (!rows && !out_.can_replace()) {
      throw output_error(out_.name(),
                         "as .npy needs a regular file, the number of rows is known last");
    }
    out_.write(header_of(rows.value_or(0)));
  }
  /// The next bytes behind the header.
  void write(std::string_view bytes) { out_.write(bytes); }
  /// All of `rows` rows were written.
  void finish(index_t rows) {
    if (is_rewritten_) out_.replace(0, header_of(rows));
  }

 private:
  [[nodiscard]] std::string header_of(index_t rows) const {
    std::vector<index_t> shape{rows};
    shape.insert(shape.end(), row_shape_.begin(), row_shape_.end());
    return make_npy_header(descr_, shape, descr_.starts_with('[') ? 192 : 128);
  }

  output_file& out_;
  std::string descr_;
  std::vector<index_t> row_shape_;
  bool is_rewritten_;
};

}  // namespace gpu::io
