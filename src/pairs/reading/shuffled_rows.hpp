#pragma once
// Rows of a table with permuted columns, in memory of their own.

#include <cstdint>
#include <functional>
#include <span>
#include <variant>

#include <gpu/detail/any_view.hpp>
#include <gpu/index.hpp>
#include <gpu/matrix.hpp>

#include "pairs/reading/host_rows.hpp"

namespace gpu::inline v0::detail {

/// A row of a table, and where each of its columns comes from.
struct shuffled_row {
  index_t row;
  std::span<const index_t> columns;
};

class shuffled_rows {
 public:
  /// Of a table in host memory, which outlives this.
  explicit shuffled_rows(const any_table& table) : rows_(table) {}

  [[nodiscard]] index_t rows() const { return rows_.rows(); }
  [[nodiscard]] index_t cols() const { return rows_.cols(); }
  /// How many rows take `bytes` at most; at least one.
  [[nodiscard]] index_t rows_in(std::size_t bytes) const;

  /// `count` rows one behind the other, row r as `row_at(r)` says, which several threads ask at a
  /// time; in the type that rows of the table are read as. They stand until the next call.
  [[nodiscard]] any_table make(index_t count, const std::function<shuffled_row(index_t)>& row_at,
                               int threads);

 private:
  host_rows rows_;
  std::variant<matrix<std::int8_t>, matrix<std::int16_t>, matrix<std::int32_t>,
               matrix<std::uint8_t>, matrix<std::uint16_t>, matrix<float>, matrix<double>>
      memory_;
};

}  // namespace gpu::inline v0::detail
