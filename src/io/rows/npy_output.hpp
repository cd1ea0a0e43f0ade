#pragma once
// A .npy whose rows come one after the other, and whose number of rows may be known last.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gpu/index.hpp>

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
             std::optional<index_t> rows);
  /// The next bytes behind the header.
  void write(std::string_view bytes);
  /// All of `rows` rows were written.
  void finish(index_t rows);

 private:
  [[nodiscard]] std::string header_of(index_t rows) const;

  output_file& out_;
  std::string descr_;
  std::vector<index_t> row_shape_;
  bool is_rewritten_ = false;
};

}  // namespace gpu::io
