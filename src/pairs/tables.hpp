#pragma once
// Where the tables of a call are, and rows of those in device memory.

#include <array>
#include <cstddef>
#include <cstdint>
#include <variant>
#include <vector>

#include <gpu/detail/any_view.hpp>
#include <gpu/detail/prepared_table.hpp>

namespace gpu::inline v0::detail {

/// Whether a table is in device memory.
inline bool is_on_device(const any_table& table) {
  return std::holds_alternative<device_table_view>(table);
}
inline bool is_on_device(const pair_tables& tables) {
  return is_on_device(tables.x);
}

inline index_t rows_of(const any_table& table) {
  return std::visit([](const auto& view) { return view.rows(); }, table);
}
inline index_t cols_of(const any_table& table) {
  return std::visit([](const auto& view) { return view.cols(); }, table);
}
/// Columns of the rows of both tables: of bits, not of their words.
inline index_t cols_of(const pair_tables& tables) {
  return tables.bits >= 0 ? tables.bits : cols_of(tables.x);
}
/// Whether every row of x meets every row of a second table.
inline bool has_y(const pair_tables& tables) {
  return tables.y.has_value() || tables.prepared_y != nullptr;
}
/// Rows of the second table; 0 without one.
inline index_t rows_of_y(const pair_tables& tables) {
  if (tables.prepared_y != nullptr) return tables.prepared_y->rows;
  return tables.y ? rows_of(*tables.y) : 0;
}

inline any_table table_of(const any_matrix_view& table) {
  return std::visit([](const auto& view) -> any_table { return view; }, table);
}

/// A table that is in device memory; empty where it is not.
inline device_table_view device_view(const any_table& table) {
  const auto* const found = std::get_if<device_table_view>(&table);
  return found != nullptr ? *found : device_table_view();
}

/// Bytes of an element.
constexpr index_t size_of(device_element type) {
  constexpr std::array<index_t, 12> bytes{1, 2, 4, 1, 2, 4, 8, 2, 2, 4, 8, 8};
  return bytes[static_cast<std::size_t>(type)];
}

/// use(T{}) with the type that values are read as.
template <class Use>
void with_read_type(device_element type, const Use& use) {
  if (type > device_element::float64) {
    return type <= device_element::bfloat16 ? use(float{}) : use(double{});
  }
  const auto of_type = [&](auto... values) {
    ((type == device_element_of<decltype(values)>() ? use(values) : void()), ...);
  };
  of_type(std::int8_t{}, std::int16_t{}, std::int32_t{}, std::uint8_t{}, std::uint16_t{}, float{},
          double{});
}

/// Whether the rows that are read lie element by element, in the type that they are read as.
inline bool lies_as_read(const device_table_view& table) {
  const bool is_packed = table.col_stride() == 1 || table.cols() <= 1;
  const bool is_apart = table.row_stride() >= table.cols() || table.rows() <= 1;
  return is_packed && is_apart && table.type() <= device_element::float64;
}

/// Some rows of a table.
inline device_table_view rows_of(const device_table_view& table, index_t begin, index_t count) {
  const auto* const data = static_cast<const std::byte*>(table.data());
  return {data + begin * table.row_stride() * size_of(table.type()),
          table.type(),
          count,
          table.cols(),
          table.row_stride(),
          table.col_stride()};
}

/// Rows of an engine by their table, numbered from its first.
struct table_rows {
  std::vector<index_t> of_x;
  std::vector<index_t> of_y;
};
inline table_rows split_rows(const std::vector<index_t>& rows, index_t rows_of_x) {
  table_rows out;
  for (const index_t row : rows) {
    (row < rows_of_x ? out.of_x : out.of_y).push_back(row < rows_of_x ? row : row - rows_of_x);
  }
  return out;
}

}  // namespace gpu::inline v0::detail
