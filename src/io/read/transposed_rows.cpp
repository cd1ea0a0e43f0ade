#include "io/read/transposed_rows.hpp"

#include <utility>

#include "io/transpose.hpp"

namespace gpu::io {

transposed_rows::transposed_rows(std::unique_ptr<row_reader> source, int threads)
    : is_float_(source->is_float()),
      table_(transposed(source->rest(), threads)),
      rows_(table_->rows()),
      cols_(table_->cols()),
      columns_(table_->columns),
      reading_(table_->reading) {}

std::optional<table> transposed_rows::next() {
  if (!table_ || rows_ == 0) return std::nullopt;
  return rest();
}

table transposed_rows::rest() {
  if (!table_) return {};
  table out = std::move(*table_);
  table_.reset();
  return out;
}

}  // namespace gpu::io
