#pragma once
/// @file
/// A view whose element type is known at run time: what crosses from the header templates into
/// the library, so that each all-pairs function is compiled once and not once per element type.

#include <cstdint>
#include <optional>
#include <variant>

#include <gpu/matrix_view.hpp>

namespace gpu {
inline namespace v0 {
namespace detail {

/// One host view of any element type, read only.
using any_matrix_view =
    std::variant<matrix_view<const std::int8_t>, matrix_view<const std::int16_t>,
                 matrix_view<const std::int32_t>, matrix_view<const std::uint8_t>,
                 matrix_view<const std::uint16_t>, matrix_view<const float>,
                 matrix_view<const double>>;

/// The input of an all-pairs call: one table, or two of which every row of x meets every row of y.
struct pair_tables {
  any_matrix_view x;                      ///< The table, or the first of two.
  std::optional<any_matrix_view> y = {};  ///< The second one; its element type may differ.
};

/// One device view of any element type, read only.
using any_device_matrix_view =
    std::variant<device_matrix_view<const std::int8_t>, device_matrix_view<const std::int16_t>,
                 device_matrix_view<const std::int32_t>, device_matrix_view<const std::uint8_t>,
                 device_matrix_view<const std::uint16_t>, device_matrix_view<const float>,
                 device_matrix_view<const double>>;

}  // namespace detail
}  // namespace v0
}  // namespace gpu
