#pragma once
// Names of rows and columns that stand in files of their own, beside a sparse matrix.

#include <string>

#include "io/read/input.hpp"
#include "io/read/read_table.hpp"
#include "io/read/sparse/sparse_rows.hpp"
#include "io/text/text_options.hpp"

namespace gpu::io {

/// The file that `path` means as an input: where it is a folder with matrix.mtx, compressed or not,
/// as 10x Genomics writes it, that matrix; else `path` itself.
[[nodiscard]] std::string input_file(const std::string& path);

/// Files of names for the rows and the columns of a table; empty where there is none.
struct beside_files {
  std::string of_rows = {};
  std::string of_columns = {};
};

/// Those for a sparse matrix at `path`: for the rows what text.names_file says; else where the file
/// is called [PREFIX]matrix.mtx, compressed or not, for the rows of the file [PREFIX]features.tsv
/// or genes.tsv and for its columns [PREFIX]barcodes.tsv, each compressed by gzip or not, as 10x
/// Genomics writes them. text.row_names and text.header leave them out.
[[nodiscard]] beside_files find_beside(const std::string& path, const text_options& text,
                                       bool transposes);

/// Reads a name from each line of a file, as name_from_beside does, and adds what is read to
/// *options.digest.
/// @return where they stand, as "column 1 of names.txt"
[[nodiscard]] std::string read_row_names(const std::string& path, const read_options& options,
                                         row_names& names);

/// Names the rows and the columns of `what`, which was read from `file`, by the first field of each
/// line of these files, or by that which text.names_column says. What is read is added to
/// *options.digest, where there is one: rows, then columns.
/// @throw input_error where such a file has another number of lines, or names no column of it
void name_from_beside(const input& file, const read_options& options, sparse_file& what);

}  // namespace gpu::io
