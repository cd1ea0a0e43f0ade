#pragma once
// SciPy's sparse matrices, as scipy.sparse.save_npz writes them.

#include <memory>
#include <string>

#include "io/read/byte_stream.hpp"
#include "io/read/input.hpp"
#include "io/read/read_table.hpp"
#include "io/read/row_reader.hpp"
#include "io/read/sparse/sparse_rows.hpp"

namespace gpu::io {

/// Reads a whole file: csr, csc or coo, compressed or not. Values keep their type; bool is int8;
/// int64, uint32 and uint64 become int32 where every value fits. Columns need no order within a
/// row. Names are those of names_beside.hpp. Memory: the matrix; of a csc as it lies there, and of
/// coo, once more while it is turned; of a pipe, of a file that is compressed as a whole, and of
/// parts of a job the file as well.
/// @throw input_error if it is damaged, is not such an archive, stores a place twice or has indices
///   that are not in the matrix, and where it unpacks to more than file.max_bytes()
[[nodiscard]] std::unique_ptr<row_reader> open_npz(input& file, const read_options& options);

/// The same of an archive.
[[nodiscard]] sparse_file read_npz(std::unique_ptr<seekable_bytes> bytes,
                                   const read_options& options, const std::string& file,
                                   std::uint64_t max_bytes);

}  // namespace gpu::io
