#if defined(GPU_SIMILARITY_HAS_PARQUET)

#include "io/read/parquet/arrow_arrays.hpp"

#include <arrow/memory_pool.h>
#include <fmt/format.h>

#include <limits>
#include <span>
#include <vector>

namespace gpu::io {
namespace {

/// use(array), of its own type; `array` is of numbers.
template <class Use>
void with_numbers(const arrow::Array& array, const Use& use) {
  switch (array.type_id()) {
    case arrow::Type::BOOL:
      return use(static_cast<const arrow::BooleanArray&>(array));
    case arrow::Type::INT8:
      return use(static_cast<const arrow::Int8Array&>(array));
    case arrow::Type::INT16:
      return use(static_cast<const arrow::Int16Array&>(array));
    case arrow::Type::INT32:
      return use(static_cast<const arrow::Int32Array&>(array));
    case arrow::Type::INT64:
      return use(static_cast<const arrow::Int64Array&>(array));
    case arrow::Type::UINT8:
      return use(static_cast<const arrow::UInt8Array&>(array));
    case arrow::Type::UINT16:
      return use(static_cast<const arrow::UInt16Array&>(array));
    case arrow::Type::UINT32:
      return use(static_cast<const arrow::UInt32Array&>(array));
    case arrow::Type::UINT64:
      return use(static_cast<const arrow::UInt64Array&>(array));
    case arrow::Type::FLOAT:
      return use(static_cast<const arrow::FloatArray&>(array));
    default:
      return use(static_cast<const arrow::DoubleArray&>(array));
  }
}

/// The rows from `first` on, as column `col` of `out`, whose rows are `stride` elements apart.
template <class T>
void copy_any(const arrow::Array& array, index_t first, index_t count, T* out, index_t stride) {
  with_numbers(array, [&](const auto& values) {
    const bool has_nulls = values.null_count() > 0;
    for (index_t i = 0; i < count; ++i) {
      const bool is_null = has_nulls && values.IsNull(first + i);
      out[i * stride] =
          is_null ? std::numeric_limits<T>::quiet_NaN() : static_cast<T>(values.Value(first + i));
    }
  });
}

}  // namespace

arrow::Result<std::int64_t> arrow_file::GetSize() {
  return static_cast<std::int64_t>(bytes_->size());
}

arrow::Status arrow_file::Seek(std::int64_t position) {
  if (position < 0) return arrow::Status::Invalid("a position before the file");
  position_ = position;
  return arrow::Status::OK();
}

arrow::Result<std::int64_t> arrow_file::Read(std::int64_t count, void* out) {
  try {
    const std::span<char> room(static_cast<char*>(out), static_cast<std::size_t>(count));
    const std::size_t got = bytes_->read_at(static_cast<std::uint64_t>(position_), room);
    position_ += static_cast<std::int64_t>(got);
    return static_cast<std::int64_t>(got);
  } catch (...) {
    failure_ = std::current_exception();
    return arrow::Status::IOError("cannot be read");
  }
}

arrow::Result<std::shared_ptr<arrow::Buffer>> arrow_file::Read(std::int64_t count) {
  ARROW_ASSIGN_OR_RAISE(auto buffer,
                        arrow::AllocateResizableBuffer(count, arrow::system_memory_pool()));
  ARROW_ASSIGN_OR_RAISE(const std::int64_t got, Read(count, buffer->mutable_data()));
  ARROW_RETURN_NOT_OK(buffer->Resize(got, false));
  return std::shared_ptr<arrow::Buffer>(std::move(buffer));
}

parquet_kind kind_of(const arrow::DataType& type) {
  switch (type.id()) {
    case arrow::Type::BOOL:
    case arrow::Type::INT8:
    case arrow::Type::INT16:
    case arrow::Type::INT32:
    case arrow::Type::INT64:
    case arrow::Type::UINT8:
    case arrow::Type::UINT16:
    case arrow::Type::UINT32:
    case arrow::Type::UINT64:
      return parquet_kind::integer;
    case arrow::Type::FLOAT:
      return parquet_kind::single_precision;
    case arrow::Type::DOUBLE:
      return parquet_kind::double_precision;
    case arrow::Type::STRING:
    case arrow::Type::LARGE_STRING:
    case arrow::Type::STRING_VIEW:
    case arrow::Type::BINARY:
    case arrow::Type::LARGE_BINARY:
      return parquet_kind::text;
    case arrow::Type::DICTIONARY: {
      const auto& dictionary = static_cast<const arrow::DictionaryType&>(type);
      const parquet_kind kind = kind_of(*dictionary.value_type());
      return kind == parquet_kind::text ? kind : parquet_kind::other;
    }
    default:
      return parquet_kind::other;
  }
}

void copy_column(const arrow::Array& array, index_t first, index_t count, float* out,
                 index_t stride) {
  copy_any(array, first, count, out, stride);
}

void copy_column(const arrow::Array& array, index_t first, index_t count, double* out,
                 index_t stride) {
  copy_any(array, first, count, out, stride);
}

std::optional<std::pair<index_t, std::string>> unequal_integer(const arrow::Array& array) {
  std::optional<std::pair<index_t, std::string>> found;
  const auto look = [&](const auto& values) {
    constexpr std::int64_t most = std::int64_t{1} << std::numeric_limits<double>::digits;
    for (index_t i = 0; i < values.length() && !found; ++i) {
      if (values.IsNull(i)) continue;
      const auto value = values.Value(i);
      if (std::cmp_greater(value, most) || std::cmp_less(value, -most)) {
        found.emplace(i, fmt::to_string(value));
      }
    }
  };
  if (array.type_id() == arrow::Type::INT64) look(static_cast<const arrow::Int64Array&>(array));
  if (array.type_id() == arrow::Type::UINT64) look(static_cast<const arrow::UInt64Array&>(array));
  return found;
}

void for_each_text(const arrow::Array& array, const std::function<void(std::string_view)>& add) {
  const auto each = [&](const auto& texts) {
    for (index_t i = 0; i < texts.length(); ++i) {
      add(texts.IsNull(i) ? std::string_view() : std::string_view(texts.GetView(i)));
    }
  };
  switch (array.type_id()) {
    case arrow::Type::STRING:
    case arrow::Type::BINARY:
      return each(static_cast<const arrow::BinaryArray&>(array));
    case arrow::Type::LARGE_STRING:
    case arrow::Type::LARGE_BINARY:
      return each(static_cast<const arrow::LargeBinaryArray&>(array));
    case arrow::Type::STRING_VIEW:
      return each(static_cast<const arrow::BinaryViewArray&>(array));
    case arrow::Type::DICTIONARY: {
      const auto& coded = static_cast<const arrow::DictionaryArray&>(array);
      std::vector<std::string_view> words;
      for_each_text(*coded.dictionary(), [&](std::string_view word) { words.push_back(word); });
      for (index_t i = 0; i < coded.length(); ++i) {
        add(coded.IsNull(i) ? std::string_view()
                            : words.at(static_cast<std::size_t>(coded.GetValueIndex(i))));
      }
      return;
    }
    default:
      return with_numbers(array, [&](const auto& numbers) {
        for (index_t i = 0; i < numbers.length(); ++i) {
          const std::string digits =
              numbers.IsNull(i) ? std::string() : fmt::format("{}", numbers.Value(i) + 0);
          add(digits);
        }
      });
  }
}

}  // namespace gpu::io

#endif
