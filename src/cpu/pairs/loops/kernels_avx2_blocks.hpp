// r of blocks of long rows with AVX2. Included inside the unnamed namespace of kernels_avx2.cpp.
//
// The vectors hold rows: eight rows meet six columns in twelve vectors of sums, for two loads of
// rows and six of single elements of columns. All these sums are of one of the eight partial sums,
// so the rows are copied first: partial sum by partial sum, of each the elements in their order, of
// each element the eight rows. Columns are read where they are.

struct avx2_row_blocks {
  static constexpr index_t rows_at_once = 8;
  static constexpr index_t cols_at_once = 6;
  static constexpr index_t partial_sums = detail::partial_sums;
  // Elements of a piece: six columns of it stay in the first level of the caches.
  static constexpr index_t most_of_piece = 384;
  // Columns that the copy of a piece of the rows meets before the next piece: the copy and their
  // sums stay in the second level.
  static constexpr index_t strip = 36;
  // Rows of so many elements are copied whole, and once for all blocks of theirs. Of longer ones a
  // piece is copied at a time, and the sums of all columns wait for the next one.
  static constexpr index_t most_copied = 2048;
  static_assert(most_copied <= detail::most_whole_columns);

  // Pieces of a slice of equal size, in whole steps of eight.
  static index_t piece_of(index_t length) {
    const index_t slice = detail::slice_of_row(length);
    const index_t pieces = (slice + most_of_piece - 1) / most_of_piece;
    const index_t step = partial_sums * pieces;
    return (slice + step - 1) / step * partial_sums;
  }
  static index_t whole_groups(index_t rows) {
    return (rows + rows_at_once - 1) / rows_at_once * rows_at_once;
  }
  static bool is_copied_at_once(index_t length) { return length <= most_copied; }
  static index_t copied_size(index_t rows, index_t length) {
    return whole_groups(rows) * (is_copied_at_once(length) ? length : piece_of(length));
  }

  static index_t scratch(index_t rows, index_t cols, index_t length) {
    const index_t waiting = is_copied_at_once(length) && cols > strip ? strip : cols;
    const index_t sums = whole_groups(rows) * waiting * partial_sums;
    // Of rows of several slices, those of the row and of a slice.
    return copied_size(rows, length) + (detail::slice_of_row(length) < length ? 2 : 1) * sums;
  }

  static void transpose(__m256d (&of)[4]) {
    const __m256d low_01 = _mm256_unpacklo_pd(of[0], of[1]);
    const __m256d high_01 = _mm256_unpackhi_pd(of[0], of[1]);
    const __m256d low_23 = _mm256_unpacklo_pd(of[2], of[3]);
    const __m256d high_23 = _mm256_unpackhi_pd(of[2], of[3]);
    of[0] = _mm256_permute2f128_pd(low_01, low_23, 0x20);
    of[1] = _mm256_permute2f128_pd(high_01, high_23, 0x20);
    of[2] = _mm256_permute2f128_pd(low_01, low_23, 0x31);
    of[3] = _mm256_permute2f128_pd(high_01, high_23, 0x31);
  }

  // Elements [0, count) of eight rows to out [8 partial sums, count / 8, 8 rows]. In place of rows
  // that are not there stands the last one.
  static void copy_rows(const double* x, index_t rows, index_t length, index_t count, double* out) {
    const index_t steps = count / partial_sums;
    for (index_t k = 0; k < steps; ++k) {
      for (index_t half = 0; half < 8; half += 4) {
        for (index_t first = 0; first < rows_at_once; first += 4) {
          __m256d of[4];
          for (index_t i = 0; i < 4; ++i) {
            const index_t row = first + i < rows ? first + i : rows - 1;
            of[i] = _mm256_loadu_pd(x + row * length + k * partial_sums + half);
          }
          transpose(of);
          for (index_t i = 0; i < 4; ++i) {
            _mm256_store_pd(out + ((half + i) * steps + k) * rows_at_once + first, of[i]);
          }
        }
      }
    }
  }

  // What is asked for from memory meanwhile, in lines of eight elements: with each partial sum one
  // more of each of six columns, and two of a row.
  struct asked_lines {
    const double* columns;
    index_t of_columns;  // how many are there
    const double* row;
    index_t of_row;
  };
  static void ask(const double* line, index_t at) {
    _mm_prefetch(reinterpret_cast<const char*>(line + at * partial_sums), _MM_HINT_T1);
  }

  // Adds the products of copied rows with Cols columns, from y on, to sums [8 partial sums, Cols, 8
  // rows]; or to `before`, where the slices before have theirs, at the end of a slice. A function
  // of its own: the addresses of the inner loop stay in registers.
  template <index_t Cols>
  static __attribute__((noinline)) void add(const double* rows, const double* y, index_t length,
                                            index_t steps, bool begins, double* sums,
                                            double* before, const asked_lines& asked) {
    for (index_t part = 0; part < partial_sums; ++part) {
      __m256d low[static_cast<std::size_t>(Cols)];
      __m256d high[static_cast<std::size_t>(Cols)];
      double* const of = sums + part * Cols * rows_at_once;
      for (index_t j = 0; j < Cols; ++j) {
        low[j] = begins ? _mm256_setzero_pd() : _mm256_load_pd(of + j * rows_at_once);
        high[j] = begins ? _mm256_setzero_pd() : _mm256_load_pd(of + j * rows_at_once + 4);
      }
      for (index_t j = 0; j < Cols; ++j) {
        _mm_prefetch(reinterpret_cast<const char*>(of + (Cols + j) * rows_at_once), _MM_HINT_T0);
      }
      if (part < asked.of_columns) {
        for (index_t j = 0; j < cols_at_once; ++j) ask(asked.columns + j * length, part);
      }
      if (2 * part < asked.of_row) {
        ask(asked.row, 2 * part);
        ask(asked.row, 2 * part + 1);
      }
      const double* b = y + part;
      const double* b_3 = b + 3 * length;
      for (index_t k = 0; k < steps; ++k) {
        const __m256d a_low = _mm256_load_pd(rows);
        const __m256d a_high = _mm256_load_pd(rows + 4);
        for (index_t j = 0; j < Cols; ++j) {
          const __m256d value =
              _mm256_broadcast_sd(j < 3 ? b + j * length : b_3 + (j - 3) * length);
          low[j] = _mm256_fmadd_pd(a_low, value, low[j]);
          high[j] = _mm256_fmadd_pd(a_high, value, high[j]);
        }
        rows += rows_at_once;
        b += partial_sums;
        b_3 += partial_sums;
      }
      double* const to = before == nullptr ? of : before + part * Cols * rows_at_once;
      for (index_t j = 0; j < Cols; ++j) {
        double* const at = to + j * rows_at_once;
        if (before != nullptr) {
          low[j] = _mm256_add_pd(_mm256_load_pd(at), low[j]);
          high[j] = _mm256_add_pd(_mm256_load_pd(at + 4), high[j]);
        }
        _mm256_store_pd(at, low[j]);
        _mm256_store_pd(at + 4, high[j]);
      }
    }
  }

  // As combine() of four rows.
  static __m256d combined(const double* sums, index_t stride) {
    const auto of = [&](index_t part) { return _mm256_load_pd(sums + part * stride); };
    const auto with_fourth = [&](index_t part) { return _mm256_add_pd(of(part), of(part + 4)); };
    return _mm256_add_pd(_mm256_add_pd(with_fourth(0), with_fourth(2)),
                         _mm256_add_pd(with_fourth(1), with_fourth(3)));
  }

  // The r of `rows` rows, at most eight, with Cols columns.
  template <index_t Cols>
  static void combine_sums(const double* sums, index_t rows, double* out, index_t out_stride) {
    constexpr index_t stride = Cols * rows_at_once;
    alignas(32) double r[static_cast<std::size_t>(Cols)][rows_at_once];
    for (index_t j = 0; j < Cols; ++j) {
      for (index_t i = 0; i < rows_at_once; i += 4) {
        _mm256_store_pd(r[j] + i, combined(sums + j * rows_at_once + i, stride));
      }
    }
    for (index_t i = 0; i < rows; ++i) {
      for (index_t j = 0; j < Cols; ++j) out[i * out_stride + j] = r[j][i];
    }
  }

  static index_t lesser(index_t a, index_t b) { return a < b ? a : b; }

  // Whether any pair of a row from `row` on is needed with some columns; `place` is the number of
  // the first column with the diagonal added.
  static bool is_needed(index_t row, index_t place, index_t cols) { return place + cols - 1 > row; }

  // A piece of up to six columns, for all rows of a block.
  struct some_columns {
    const double* from;  // the piece of the first one
    index_t cols;
    index_t first;       // number of the first one
    double* sums;        // [rows / 8, 8 partial sums, cols, 8 rows]
    double* before;      // null, or at the end of a slice the same of those before
    const double* next;  // the piece that comes next
  };
  // What all columns meet: the copy of a piece of the rows.
  struct copied_piece {
    const double* copy;
    index_t rows;
    index_t length;  // of whole rows
    index_t count;
    index_t diagonal;
    bool begins;
    bool ends;
    double* out;  // r of the block
    index_t out_stride;
    const double* next_rows;  // the piece that is copied next, or null
  };

  // What rows from `row` on and some columns ask for: all lines of these columns by eight groups of
  // rows; of the next rows a third of a row.
  static asked_lines lines_asked(const copied_piece& piece, const some_columns& columns,
                                 index_t row) {
    constexpr index_t of_row = 2 * partial_sums;
    const index_t steps = piece.count / partial_sums;
    const index_t thirds =
        columns.first / cols_at_once * (whole_groups(piece.rows) / rows_at_once) +
        row / rows_at_once;
    const index_t next_row = thirds / 3;
    const index_t line = thirds % 3 * of_row;
    const bool has_rows = piece.next_rows != nullptr && next_row < piece.rows;
    return {
        .columns = columns.next + row * partial_sums,
        .of_columns = steps - row,
        .row = has_rows ? piece.next_rows + next_row * piece.length + line * partial_sums : nullptr,
        .of_row = has_rows ? steps - line : 0};
  }

  // Where a piece is all, each eight rows take the same sums.
  template <index_t Cols>
  static void add_columns(const copied_piece& piece, const some_columns& columns) {
    const bool is_all = piece.begins && piece.ends;
    for (index_t row = 0; row < piece.rows; row += rows_at_once) {
      const index_t height = lesser(rows_at_once, piece.rows - row);
      double* const out = piece.out + row * piece.out_stride + columns.first;
      if (is_needed(row, columns.first + piece.diagonal, Cols)) {
        double* const sums = is_all ? columns.sums : columns.sums + row * Cols * partial_sums;
        double* const before =
            columns.before == nullptr ? nullptr : columns.before + row * Cols * partial_sums;
        add<Cols>(piece.copy + row * piece.count, columns.from, piece.length,
                  piece.count / partial_sums, piece.begins, sums, before,
                  lines_asked(piece, columns, row));
        if (piece.ends) {
          combine_sums<Cols>(before == nullptr ? sums : before, height, out, piece.out_stride);
        }
      } else if (piece.ends) {
        for (index_t i = 0; i < height; ++i) {
          for (index_t j = 0; j < Cols; ++j) out[i * piece.out_stride + j] = 0;
        }
      }
    }
  }

  static void add_some(const copied_piece& piece, const some_columns& columns) {
    switch (columns.cols) {
      case 1:
        return add_columns<1>(piece, columns);
      case 2:
        return add_columns<2>(piece, columns);
      case 3:
        return add_columns<3>(piece, columns);
      case 4:
        return add_columns<4>(piece, columns);
      case 5:
        return add_columns<5>(piece, columns);
      default:
        return add_columns<6>(piece, columns);
    }
  }

  // Elements [from, to) of all rows, piece by piece.
  static void copy_all(const double* x, index_t rows, index_t length, index_t from, index_t to,
                       index_t piece, double* copy) {
    for (index_t k = from; k < to; k += piece) {
      const index_t count = lesser(piece, to - k);
      double* const of_piece = copy + (k - from) * whole_groups(rows);
      for (index_t row = 0; row < rows; row += rows_at_once) {
        copy_rows(x + row * length + k, lesser(rows_at_once, rows - row), length, count,
                  of_piece + row * count);
      }
    }
  }

  static void dots(const double* x, index_t rows, bool are_copied, const double* y, index_t cols,
                   index_t length, index_t diagonal, double* out, index_t out_stride,
                   double* scratch) {
    const index_t padded_rows = whole_groups(rows);
    const index_t piece = piece_of(length);
    const bool is_at_once = is_copied_at_once(length);
    const index_t copied = is_at_once ? length : piece;
    const index_t slice = detail::slice_of_row(length);
    double* const of_row = scratch + copied_size(rows, length);
    for (index_t from = 0, to = 0; from < length; from = to) {
      const index_t begin = from / slice * slice;
      const index_t slice_end = lesser(begin + slice, length);
      double* const sums = begin == 0 ? of_row : of_row + padded_rows * cols * partial_sums;
      to = lesser(from + copied, slice_end);
      if (!(are_copied && is_at_once)) copy_all(x, rows, length, from, to, piece, scratch);
      for (index_t j = 0; j < cols; j += strip) {
        const index_t end = lesser(j + strip, cols);
        const index_t of_strip = is_at_once ? 0 : j * padded_rows * partial_sums;
        for (index_t k = from; k < to; k += piece) {
          const index_t count = lesser(piece, to - k);
          const copied_piece in{.copy = scratch + (k - from) * padded_rows,
                                .rows = rows,
                                .length = length,
                                .count = count,
                                .diagonal = diagonal,
                                .begins = k == begin,
                                .ends = k + count == length,
                                .out = out,
                                .out_stride = out_stride,
                                .next_rows = is_at_once || to == length ? nullptr : x + to};
          for (index_t col = j; col < end; col += cols_at_once) {
            const index_t some = lesser(cols_at_once, end - col);
            const double* next = y + (col + some) * length + k;
            if (col + some == end) {
              // The next piece of the strip, the first of the next strip, or the next of all.
              next = k + count < to ? y + j * length + k + count
                                    : (end < cols ? y + end * length + from : y + to);
            }
            const bool is_one_piece = in.begins && in.ends;
            const index_t at = of_strip + (col - j) * padded_rows * partial_sums;
            add_some(in, {.from = y + col * length + k,
                          .cols = some,
                          .first = col,
                          .sums = is_one_piece ? sums : sums + at,
                          .before = begin > 0 && k + count == slice_end ? of_row + at : nullptr,
                          .next = next});
          }
        }
      }
    }
  }
};
