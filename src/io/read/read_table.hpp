#pragma once
// Reads a table of numbers from a file of any format that is known.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "io/read/input.hpp"
#include "io/read/row_reader.hpp"
#include "io/table.hpp"
#include "io/text/text_options.hpp"

namespace gpu::io {

struct read_options {
  text_options text = {};   ///< How a table of text is laid out, as far as the caller says.
  bool transposes = false;  ///< Whether the columns of the file are the rows of the table.
  int threads = 0;          ///< 0: the default.
  stop_request stop = {};   ///< Asked between blocks of some megabytes.
  /// What compressed input may unpack to, in bytes: a few megabytes of gzip can unpack to
  /// thousands of times as much.
  std::uint64_t max_bytes = default_max_bytes;
  /// Where it is not null, read_table makes it the digest of the file, of the very bytes that the
  /// table was read from, and of the files of names behind them.
  file_digest* digest = nullptr;
  bool digests_names = true;  ///< Else the digest is that of the file alone.
  /// Whether read_table gives a sparse file as table::sparse, not written out.
  bool keeps_sparse = false;
  static constexpr std::uint64_t default_max_bytes = 32'000'000'000;
};

/// Reads `path` ("-": standard input; of a folder its matrix.mtx, see input_file): NumPy's .npy,
/// text, or MatrixMarket (matrix_market.hpp), each of them also compressed by gzip, or by zstd
/// where the build has it. The format is told by the first bytes, not by the name.
///
/// Text: integers give the narrowest of int8, uint8, int16, uint16, int32 that holds every value,
/// else double; numbers with a point or an exponent give double; missing values are NaN. Blank
/// lines are skipped. Control characters in names become '?', tabs and line breaks blanks. .npy
/// keeps its element type; int64, uint32 and uint64 become int32 where every value fits. Memory:
/// the matrix twice at most, the names, and blocks of some megabytes.
/// @throw input_error with file, line and column where it is not such a table or cannot be read;
///   interrupted where options.stop asked for it; gpu::out_of_memory.
[[nodiscard]] table read_table(const std::string& path, const read_options& options = {});

/// Whether open_rows would take the file for text, as its first bytes and its name say.
[[nodiscard]] bool is_text(const input& file);

/// What `read` makes of the file, opened as read_table opens it; its errors and digest are those of
/// read_table.
[[nodiscard]] table read_file(const std::string& path, const read_options& options,
                              const std::function<table(input& file)>& read);

/// The rows of `file` block by block, under the same rules; options.stop and options.max_bytes are
/// those that `file` was opened with. `file` outlives the source.
/// @throw as read_table, while the source is opened or read.
[[nodiscard]] std::unique_ptr<row_reader> open_rows(input& file, const read_options& options = {});

/// The same of the lines of a text.
[[nodiscard]] std::unique_ptr<row_reader> open_text(std::unique_ptr<line_source> lines,
                                                    const read_options& options,
                                                    const std::string& file);

}  // namespace gpu::io
