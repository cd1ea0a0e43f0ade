#pragma once
// A matrix whose element type is known at run time.

#include <cstdint>
#include <variant>

#include <gpu/matrix.hpp>

namespace gpu::io {

/// A matrix of any element type of the library.
using any_matrix =
    std::variant<matrix<std::int8_t>, matrix<std::int16_t>, matrix<std::int32_t>,
                 matrix<std::uint8_t>, matrix<std::uint16_t>, matrix<float>, matrix<double>>;

}  // namespace gpu::io
