#pragma once
// The best entries of each row as they come, as text or .npy.

#include <optional>
#include <vector>

#include <gpu/index.hpp>
#include <gpu/matrix.hpp>

#include "io/output_form.hpp"
#include "io/rows/npy_output.hpp"
#include "io/table.hpp"
#include "io/write/output_file.hpp"
#include "io/write/parallel_text.hpp"

namespace gpu::io {

/// What is known of the selection before it comes.
struct selection_to_write {
  result_format format = result_format::tsv;
  index_t entries = 0;               ///< Of each row, at most.
  std::optional<index_t> rows = {};  ///< Nothing: told by the last of them.
  bool has_counts = false;           ///< Whether values are distinct, and counted.
  bool is_float = false;             ///< Whether values come from float.
  bool is_vector = false;            ///< One vector, not rows: entries have a place in it.
  column_names columns = {};         ///< Of the table that was looked at, or none.
  int threads = 0;                   ///< 0: the default.
};

/// The best entries of some rows, [rows, entries]; behind `found` of a row there is nothing: value
/// 0, index -1, count 0.
template <class T>
struct row_selection {
  matrix<T> values = {};
  matrix<index_t> indices = {};
  matrix<index_t> counts = {};      ///< Empty where they are not asked for.
  std::vector<index_t> found = {};  ///< Entries of each row; empty: all of them.
};

/// TSV: a header line, then name, rank, column, value, and count where asked for: a line an entry,
/// ranks from 1, columns by name or counted from 1. Of a vector rank, position, value, count.
/// npy: [rows, entries], of a vector [entries], of records (index <i8, value <f8 or <f4,
/// count <i8), counted from 0.
class selection_writer {
 public:
  /// `out` outlives the writer.
  selection_writer(output_file& out, selection_to_write what);
  /// The selection of the next rows, `names` theirs.
  /// @throw what output_file::write throws.
  template <class T>
  void write(const row_selection<T>& selected, const row_names& names);
  /// Completes the file, which the caller then commits.
  void finish();

 private:
  void write_header();
  template <class T>
  void write_text(const row_selection<T>& selected, const row_names& names);
  template <class Stored, class T>
  void write_records(const row_selection<T>& selected);

  output_file& out_;
  selection_to_write what_;
  std::size_t longest_column_ = 0;
  char separator_;
  parallel_text text_;
  std::optional<npy_output> npy_;
  bool has_header_ = false;
  index_t rows_ = 0;
  index_t vector_entries_ = 0;
};

}  // namespace gpu::io
