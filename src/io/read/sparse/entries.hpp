#pragma once
// Stored values in any order, each with its row and its column, and the matrix that they make.

#include <cstdint>
#include <variant>
#include <vector>

#include <gpu/array.hpp>
#include <gpu/index.hpp>

#include "io/sparse_matrix.hpp"

namespace gpu::io {

/// Some entries, in the order of the file.
struct entry_piece {
  array<std::int32_t> row;
  array<std::int32_t> col;
  /// As narrow as these entries allow; of real numbers double.
  std::variant<array<std::int8_t>, array<std::int16_t>, array<std::int32_t>, array<double>> values;
  std::int32_t smallest = 0;  ///< Of integers: at most 0.
  std::int32_t largest = 0;   ///< At least 0.
};

/// The matrix [rows, cols] of all entries, of the narrowest type that holds them; if it is
/// symmetric an entry off the diagonal stores its value at the mirrored place too. A place with two
/// entries stands twice. Gives back the memory of a piece as soon as it is copied.
/// Memory: 8 bytes an entry beside both at most.
[[nodiscard]] sparse_matrix assemble(std::vector<entry_piece> pieces, index_t rows, index_t cols,
                                     bool is_symmetric, int threads);

}  // namespace gpu::io
