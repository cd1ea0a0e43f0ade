#include "io/read/sparse/npz_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "io/io_error.hpp"
#include "io/read/sparse/entries.hpp"
#include "io/read/sparse/mtx_entries.hpp"
#include "io/read/sparse/names_beside.hpp"
#include "io/read/sparse/npz_arrays.hpp"
#include "io/read/sparse/zip_archive.hpp"

namespace gpu::io {
namespace {

constexpr index_t most_index = std::numeric_limits<index_t>::max();
constexpr index_t most_short = std::numeric_limits<std::int32_t>::max();

class npz_matrix {
 public:
  npz_matrix(const zip_archive& archive, const read_options& options, const std::string& file)
      : archive_(archive), arrays_(archive, file), options_(options), file_(file) {
    if (!arrays_.holds("format") || !arrays_.holds("shape") || !arrays_.holds("data")) refuse();
    format_ = arrays_.text("format");
    const array<index_t> shape = arrays_.integers<index_t>("shape", 2, 0, most_index);
    rows_ = shape[0];
    cols_ = shape[1];
    stored_ = arrays_.length("data");
    check_extents(rows_, cols_, stored_, 0, file);
  }

  [[nodiscard]] sparse_matrix read() {
    if (format_ == "csr" || format_ == "csc") {
      // The arrays of a csc are those of the csr of its transpose.
      const bool is_turned = (format_ == "csc") != options_.transposes;
      sparse_matrix out = read_rows();
      return is_turned ? transposed(out) : std::move(out);
    }
    if (format_ != "coo") {
      throw input_error(
          file_, {},
          fmt::format("holds a matrix of format {}, expected csr, csc or coo: in Python "
                      "save_npz(FILE, a.tocsr())",
                      io::quoted(format_)));
    }
    return std::max(rows_, cols_) <= most_short ? read_entries<std::int32_t>()
                                                : read_entries<std::int64_t>();
  }

 private:
  [[noreturn]] void refuse() const {
    std::string names;
    constexpr std::size_t most_names = 5;
    for (std::size_t k = 0; k < std::min(most_names, archive_.members().size()); ++k) {
      names += (k == 0 ? "" : ", ") + io::quoted(archive_.members()[k].name);
    }
    throw input_error(
        file_, {},
        fmt::format("is a zip archive of {}, expected a sparse matrix of scipy.sparse.save_npz; an "
                    ".xlsx is read as CSV, a dense array as .npy",
                    names.empty() ? "nothing" : names));
  }

  [[nodiscard]] sparse_matrix read_rows() const {
    const bool is_csc = format_ == "csc";
    sparse_matrix out{.rows = is_csc ? cols_ : rows_, .cols = is_csc ? rows_ : cols_};
    if (std::max({rows_, cols_, stored_}) <= most_short) {
      out.pattern = read_pattern<std::int32_t>(out.rows, out.cols);
    } else {
      out.pattern = read_pattern<std::int64_t>(out.rows, out.cols);
    }
    out.values = arrays_.values("data", stored_);
    return out;
  }

  template <class Index>
  [[nodiscard]] sparse_pattern<Index> read_pattern(index_t rows, index_t cols) const {
    const array<Index> begin = arrays_.integers<Index>("indptr", rows + 1, 0, stored_);
    sparse_pattern<Index> out;
    out.row_begin.assign(begin.begin(), begin.end());
    if (out.row_begin.front() != 0 || out.row_begin.back() != stored_ ||
        !std::is_sorted(out.row_begin.begin(), out.row_begin.end())) {
      throw input_error(file_, {},
                        fmt::format("array 'indptr' has {} first and {} last, expected 0, {}, and "
                                    "none below the one before",
                                    out.row_begin.front(), out.row_begin.back(), stored_));
    }
    out.column = arrays_.integers<Index>("indices", stored_, 0, cols - 1);
    return out;
  }

  template <class Place>
  [[nodiscard]] sparse_matrix read_entries() const {
    entry_piece<Place> piece;
    const bool is_old = arrays_.holds("row");
    if (!is_old) throw input_error(file_, {}, "array 'row' is not there");
    piece.row = arrays_.integers<Place>("row", stored_, 0, rows_ - 1);
    piece.col = arrays_.integers<Place>("col", stored_, 0, cols_ - 1);
    if (options_.transposes) std::swap(piece.row, piece.col);
    any_sparse_values values = arrays_.values("data", stored_);
    std::visit([&]<class T>(array<T>& own) { take_values(own, piece); }, values);
    std::vector<entry_piece<Place>> pieces;
    pieces.push_back(std::move(piece));
    index_t rows = rows_;
    index_t cols = cols_;
    if (options_.transposes) std::swap(rows, cols);
    return assemble(std::move(pieces), rows, cols, mirrored::nothing, options_.threads);
  }

  template <class T, class Place>
  static void take_values(array<T>& own, entry_piece<Place>& piece) {
    if constexpr (std::is_floating_point_v<T>) {
      piece.has_reals = true;
      piece.values = std::move(own);
    } else {
      array<std::int32_t> wide(own.size());
      std::copy(own.begin(), own.end(), wide.begin());
      for (const std::int32_t value : wide) {
        piece.smallest = std::min(piece.smallest, value);
        piece.largest = std::max(piece.largest, value);
      }
      piece.values = std::move(wide);
    }
  }

  const zip_archive& archive_;
  npz_arrays arrays_;
  const read_options& options_;
  const std::string& file_;
  std::string format_;
  index_t rows_ = 0;
  index_t cols_ = 0;
  index_t stored_ = 0;
};

}  // namespace

sparse_file read_npz(std::unique_ptr<seekable_bytes> bytes, const read_options& options,
                     const std::string& file, std::uint64_t max_bytes) {
  const zip_archive archive(std::move(bytes), file, max_bytes);
  return {.matrix = npz_matrix(archive, options, file).read()};
}

std::unique_ptr<row_reader> open_npz(input& file, const read_options& options) {
  sparse_file what = read_npz(file.seekable(), options, file.name(), file.max_bytes());
  name_from_beside(file, options, what);
  return std::make_unique<sparse_rows>(std::move(what), options, file.name(), file.max_bytes(), 0);
}

}  // namespace gpu::io
