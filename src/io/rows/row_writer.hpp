#pragma once
// Rows of numbers as they come, as text or .npy.

#include <optional>

#include <gpu/index.hpp>
#include <gpu/matrix_view.hpp>

#include "io/output_form.hpp"
#include "io/rows/npy_output.hpp"
#include "io/table.hpp"
#include "io/write/output_file.hpp"
#include "io/write/parallel_text.hpp"

namespace gpu::io {

/// What is known of the rows before they come.
struct rows_to_write {
  result_format format = result_format::tsv;
  index_t cols = 0;
  std::optional<index_t> rows = {};  ///< Nothing: told by the last of them.
  bool is_float = false;             ///< Whether they are float, not double.
  bool are_named = false;            ///< Whether each row comes with a name.
  column_names columns = {};         ///< Of `cols` names, or none.
  int threads = 0;                   ///< 0: the default.
};

/// TSV: the names of the columns, where there are any, then the values of each row, behind its name
/// where rows are named. npy: [rows, cols], f4 or f8. Text is made by all threads.
class row_writer {
 public:
  /// `out` outlives the writer.
  row_writer(output_file& out, rows_to_write what);
  /// The next rows, [any, cols], of the type that was announced.
  /// @throw what output_file::write throws.
  void write(matrix_view<const double> values, const row_names& names);
  void write(matrix_view<const float> values, const row_names& names);
  /// Completes the file, which the caller then commits.
  void finish();

 private:
  template <class T>
  void write_any(matrix_view<const T> values, const row_names& names);
  template <class T>
  void write_text(matrix_view<const T> values, const row_names& names);
  void write_header();

  output_file& out_;
  rows_to_write what_;
  char separator_;
  parallel_text text_;
  std::optional<npy_output> npy_;
  bool has_header_ = false;
  index_t rows_ = 0;
};

}  // namespace gpu::io
