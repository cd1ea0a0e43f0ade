#pragma once
/// @file
/// A view whose element type is known at run time: what crosses from the header templates into
/// the library, so that each all-pairs function is compiled once and not once per element type.

#include <cstdint>
#include <memory>
#include <optional>
#include <variant>

#include <gpu/device_table.hpp>
#include <gpu/index.hpp>
#include <gpu/matrix_view.hpp>

namespace gpu {
inline namespace v0 {
namespace detail {

/// One host view of any element type that stands row by row, read only.
using any_matrix_view =
    std::variant<matrix_view<const std::int8_t>, matrix_view<const std::int16_t>,
                 matrix_view<const std::int32_t>, matrix_view<const std::uint8_t>,
                 matrix_view<const std::uint16_t>, matrix_view<const float>,
                 matrix_view<const double>>;

class computed_rows;

/// Rows of doubles that are not stored: computed from another table whenever they are read. Views
/// refer to what computes them.
class computed_view {
 public:
  /// Of the rows.
  using value_type = double;
  /// Where they are computed.
  static constexpr memory_space space = memory_space::host;

  /// Rows [rows, cols] of `maker`, which outlives the view.
  computed_view(const computed_rows& maker, index_t rows, index_t cols) noexcept
      : maker_(&maker), rows_(rows), cols_(cols) {}

  /// Rows of the table.
  [[nodiscard]] index_t rows() const noexcept { return rows_; }
  /// Elements of each.
  [[nodiscard]] index_t cols() const noexcept { return cols_; }
  /// What computes them.
  [[nodiscard]] const computed_rows& maker() const noexcept { return *maker_; }

 private:
  const computed_rows* maker_;
  index_t rows_;
  index_t cols_;
};

/// One view of any element type in host or in device memory, read only; in host memory in either
/// layout, of columns that lie apart or sparse, of wide integers too, and of rows that are
/// computed.
using any_table =
    std::variant<matrix_view<const std::int8_t>, matrix_view<const std::int16_t>,
                 matrix_view<const std::int32_t>, matrix_view<const std::uint8_t>,
                 matrix_view<const std::uint16_t>, matrix_view<const float>,
                 matrix_view<const double>, device_table_view,
                 column_matrix_view<const std::int8_t>, column_matrix_view<const std::int16_t>,
                 column_matrix_view<const std::int32_t>, column_matrix_view<const std::uint8_t>,
                 column_matrix_view<const std::uint16_t>, column_matrix_view<const float>,
                 column_matrix_view<const double>, matrix_view<const std::int64_t>,
                 matrix_view<const std::uint32_t>, matrix_view<const std::uint64_t>,
                 column_matrix_view<const std::int64_t>, column_matrix_view<const std::uint32_t>,
                 column_matrix_view<const std::uint64_t>, csr_view<const std::int8_t>,
                 csr_view<const std::int16_t>, csr_view<const std::int32_t>,
                 csr_view<const std::uint8_t>, csr_view<const std::uint16_t>, csr_view<const float>,
                 csr_view<const double>, csr_view<const std::int64_t>,
                 csr_view<const std::uint32_t>, csr_view<const std::uint64_t>, computed_view,
                 column_list_view<const std::int8_t>, column_list_view<const std::int16_t>,
                 column_list_view<const std::int32_t>, column_list_view<const std::uint8_t>,
                 column_list_view<const std::uint16_t>, column_list_view<const float>,
                 column_list_view<const double>, column_list_view<const std::int64_t>,
                 column_list_view<const std::uint32_t>, column_list_view<const std::uint64_t>>;

class prepared_table;

/// The input of an all-pairs call: one table, or two tables: then every row of x meets every row of
/// y. Both are in host memory or both in device memory, or the second one is prepared.
struct pair_tables {
  any_table x;                      ///< The table, or the first of two.
  std::optional<any_table> y = {};  ///< The second one; its element type may differ.
  std::shared_ptr<const prepared_table> prepared_y = {};  ///< The second one instead of y.
  /// Columns of rows of bits, which x and y hold as int32 words of 32 each; -1: of numbers.
  index_t bits = -1;
  index_t y_bits = -1;  ///< The same of y.
};

/// Any argument: the first parameter of a deleted overload that a wrong call selects. Compilers
/// then print one candidate, and with it `Form`, the name of an incomplete type.
template <class Form>
struct instead_of {
  template <class Argument>
  instead_of(const Argument& argument);
};

}  // namespace detail
}  // namespace v0
}  // namespace gpu
