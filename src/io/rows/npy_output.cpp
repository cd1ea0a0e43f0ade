#include "io/rows/npy_output.hpp"

#include <utility>

#include "io/io_error.hpp"
#include "io/npy_header.hpp"

namespace gpu::io {
namespace {

/// Room for the header of any shape.
std::size_t header_bytes(const std::string& descr) {
  constexpr std::size_t of_numbers = 128;
  constexpr std::size_t of_records = 192;
  return descr.starts_with('[') ? of_records : of_numbers;
}

}  // namespace

npy_output::npy_output(output_file& out, std::string descr, std::vector<index_t> row_shape,
                       std::optional<index_t> rows)
    : out_(out), descr_(std::move(descr)), row_shape_(std::move(row_shape)) {
  if (!rows && !out_.can_replace()) {
    throw output_error(out_.name(),
                       "as .npy needs a regular file, the number of rows is known last");
  }
  is_rewritten_ = !rows;
  out_.write(header_of(rows.value_or(0)));
}

std::string npy_output::header_of(index_t rows) const {
  std::vector<index_t> shape{rows};
  shape.insert(shape.end(), row_shape_.begin(), row_shape_.end());
  return make_npy_header(descr_, shape, header_bytes(descr_));
}

void npy_output::write(std::string_view bytes) {
  out_.write(bytes);
}

void npy_output::finish(index_t rows) {
  if (is_rewritten_) out_.replace(0, header_of(rows));
}

}  // namespace gpu::io
