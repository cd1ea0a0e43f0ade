#pragma once
// The lines of a MatrixMarket file: the first ones, and an entry each.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gpu/index.hpp>

#include "io/io_error.hpp"
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

/// Takes line `number`, which has the numbers of rows, columns and entries. Memory is taken for
/// each row, also for those that store nothing: more than files of so many entries have are
/// refused.
/// @throw input_error
void take_sizes(std::string_view line, index_t number, const std::string& file, mtx_header& out);

/// What some lines hold.
struct mtx_lines {
  entry_piece entries;
  index_t lines = 0;
  std::optional<index_t> first_nan = {};  ///< Its line, from 0 on.
  struct fault {
    input_position where;  ///< The line counts from 0.
    std::string what;
  };
  std::optional<fault> error = {};  ///< Behind it nothing was read.
};

/// Reads whole lines. One reader a thread.
class mtx_line_reader {
 public:
  /// @param transposes whether the columns of the file become rows.
  mtx_line_reader(const mtx_header& header, bool transposes)
      : header_(header), transposes_(transposes) {}
  [[nodiscard]] mtx_lines read(std::string_view text);

 private:
  bool read_line(const char*& p, const char* end);
  bool read_place(const char*& p, const char* end, index_t most, index_t field, std::int32_t& out);
  bool read_value(const char*& p, const char* end);
  bool fail(index_t field, std::string what);
  void keep();

  mtx_header header_;
  bool transposes_;
  mtx_lines out_;
  // Of the lines that are being read.
  std::vector<std::int32_t> rows_;
  std::vector<std::int32_t> cols_;
  std::vector<double> values_;
  bool is_whole_ = true;
  double smallest_ = 0;
  double largest_ = 0;
};

}  // namespace gpu::io
