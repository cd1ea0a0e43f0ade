#pragma once
// The first lines of a MatrixMarket file.

#include <string>
#include <string_view>

#include <gpu/index.hpp>

#include "io/read/sparse/entries.hpp"

namespace gpu::io {

/// What stands behind row and column of an entry.
enum class mtx_field { integer, real, pattern };

struct mtx_header {
  mtx_field field = mtx_field::real;
  mirrored mirror = mirrored::nothing;
  index_t rows = 0;
  index_t cols = 0;
  index_t entries = 0;
  index_t size_line = 0;  ///< Where the three numbers stand, from 1.
};

/// Takes the line of the format, the first.
/// @throw input_error for what is not read: dense arrays, complex numbers
void take_banner(std::string_view line, const std::string& file, mtx_header& out);

/// Takes line `number`, that of rows, columns and entries.
/// @throw input_error
void take_sizes(std::string_view line, index_t number, const std::string& file, mtx_header& out);

/// Refuses extents that no file of so many entries has: memory is taken for each row, also for
/// those that store nothing.
/// @throw input_error
void check_extents(index_t rows, index_t cols, index_t entries, index_t line,
                   const std::string& file);

}  // namespace gpu::io
