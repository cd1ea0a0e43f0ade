#pragma once
// What Parquet files give and take through Arrow: bytes, and arrays of values. Only for builds that
// have Arrow.

#include <arrow/array.h>
#include <arrow/io/interfaces.h>
#include <arrow/type.h>

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <gpu/index.hpp>

#include "io/read/parquet/parquet_columns.hpp"
#include "io/read/seekable_bytes.hpp"

namespace gpu::io {

/// A file as Arrow reads it. What goes wrong is kept: Arrow has no exceptions.
class arrow_file final : public arrow::io::RandomAccessFile {
 public:
  explicit arrow_file(std::unique_ptr<seekable_bytes> bytes) : bytes_(std::move(bytes)) {}

  arrow::Result<std::int64_t> GetSize() override;
  arrow::Status Seek(std::int64_t position) override;
  arrow::Result<std::int64_t> Tell() const override { return position_; }
  arrow::Result<std::int64_t> Read(std::int64_t count, void* out) override;
  arrow::Result<std::shared_ptr<arrow::Buffer>> Read(std::int64_t count) override;
  arrow::Status Close() override { return arrow::Status::OK(); }
  bool closed() const override { return false; }

  /// @throw what reading threw
  void rethrow_failure() const {
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  std::unique_ptr<seekable_bytes> bytes_;
  std::int64_t position_ = 0;
  std::exception_ptr failure_;
};

[[nodiscard]] parquet_kind kind_of(const arrow::DataType& type);

/// The rows of an array of numbers from `first` on, as a column of a matrix: at `out`, `stride`
/// elements apart. A null is NaN.
void copy_column(const arrow::Array& array, index_t first, index_t count, float* out,
                 index_t stride);
void copy_column(const arrow::Array& array, index_t first, index_t count, double* out,
                 index_t stride);

/// The first integer that no double equals, as a row and its digits.
[[nodiscard]] std::optional<std::pair<index_t, std::string>> unequal_integer(
    const arrow::Array& array);

/// add(text) of each row of text or integers; a null is a name without letters.
void for_each_text(const arrow::Array& array, const std::function<void(std::string_view)>& add);

}  // namespace gpu::io
