#pragma once
// The entries of a MatrixMarket file: a line each.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gpu/index.hpp>

#include "io/io_error.hpp"
#include "io/read/sparse/entries.hpp"
#include "io/read/sparse/mtx_header.hpp"

namespace gpu::io {

/// What some lines hold.
template <class Place>
struct mtx_lines {
  entry_piece<Place> entries;
  index_t lines = 0;
  std::optional<index_t> first_nan = {};  ///< Its line, from 0 on.
  struct fault {
    input_position where;  ///< The line counts from 0.
    std::string what;
  };
  std::optional<fault> error = {};  ///< Behind it nothing was read.
};

/// Reads whole lines. One reader a thread.
template <class Place>
class mtx_line_reader {
 public:
  /// @param transposes whether the columns of the file become rows.
  mtx_line_reader(const mtx_header& header, bool transposes)
      : header_(header), transposes_(transposes) {}
  [[nodiscard]] mtx_lines<Place> read(std::string_view text);

 private:
  bool read_line(const char*& p, const char* end);
  bool read_place(const char*& p, const char* end, index_t most, index_t field, Place& out);
  bool read_value(const char*& p, const char* end);
  bool fail(index_t field, std::string what);
  void keep();

  mtx_header header_;
  bool transposes_;
  mtx_lines<Place> out_;
  // Of the lines that are being read.
  std::vector<Place> rows_;
  std::vector<Place> cols_;
  std::vector<double> values_;
  bool is_whole_ = true;
  double smallest_ = 0;
  double largest_ = 0;
};

}  // namespace gpu::io
