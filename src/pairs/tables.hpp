#pragma once
// Where the tables of a call are.

#include <type_traits>
#include <variant>
#include <vector>

#include <gpu/detail/any_view.hpp>
#include <gpu/detail/prepared_table.hpp>

namespace gpu::inline v0::detail {

/// Whether a table is in device memory.
inline bool is_on_device(const any_table& table) {
  return std::visit([]<class View>(const View&) { return View::space == memory_space::device; },
                    table);
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
inline any_device_matrix_view device_view(const any_table& table) {
  return std::visit(
      []<class View>(const View& view) -> any_device_matrix_view {
        if constexpr (View::space == memory_space::device) {
          return view;
        } else {
          return {};
        }
      },
      table);
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
