// r of blocks of rows of doubles in the order of stats/unit_rows.hpp, over an Op that is a vector
// of doubles (kernel_doubles.hpp). Included inside the unnamed namespace of a file compiled for
// one instruction set.
//
// Each pair has eight partial sums, lane by lane. Tiles of four rows and Cols columns take as many
// of these at a time as a vector has lanes; of a single row, all of them. Loops over sums are
// unrolled by name: else GCC keeps some of the sums in memory.
template <class Op, std::size_t Cols>
struct dots_body {
  using vec = typename Op::vec;
  static constexpr index_t sums_of_pair = detail::partial_sums;
  static constexpr index_t all_cols = Cols;
  static constexpr std::size_t all_parts = sums_of_pair / Op::lanes;
  template <std::size_t Rows>
  static constexpr std::size_t parts_at_once = Rows == 1 ? all_parts : 1;

  // Adds the products of some rows and columns to vectors of their partial sums; `next`: what is
  // asked for from memory meanwhile, as many elements, or null.
  template <std::size_t Rows, std::size_t Columns, std::size_t Parts>
  static inline __attribute__((always_inline)) void multiply(const double* x, const double* y,
                                                             index_t length, index_t count,
                                                             vec (&sums)[Rows][Columns][Parts],
                                                             const double* next) {
    const auto factor = [&](const double* from, std::size_t row, index_t k, std::size_t part) {
      return Op::load(from + static_cast<index_t>(row) * length + k +
                      static_cast<index_t>(part) * Op::lanes);
    };
    for (index_t k = 0; k < count; k += sums_of_pair) {
      if (next != nullptr) __builtin_prefetch(next + k, 0, 2);
      vec b[Columns][Parts];
#pragma GCC unroll 8
      for (std::size_t j = 0; j < Columns; ++j) {
#pragma GCC unroll 8
        for (std::size_t p = 0; p < Parts; ++p) b[j][p] = factor(y, j, k, p);
      }
#pragma GCC unroll 8
      for (std::size_t i = 0; i < Rows; ++i) {
#pragma GCC unroll 8
        for (std::size_t p = 0; p < Parts; ++p) {
          const vec a = factor(x, i, k, p);
#pragma GCC unroll 8
          for (std::size_t j = 0; j < Columns; ++j) {
            sums[i][j][p] = Op::fused(a, b[j][p], sums[i][j][p]);
          }
        }
      }
    }
  }

  // The partial sums of pair (i, j) of [rows, cols, 8].
  static double* place(double* sums, index_t cols, std::size_t i, std::size_t j) {
    return sums + (static_cast<index_t>(i) * cols + static_cast<index_t>(j)) * sums_of_pair;
  }

  // `before` is null, or at the end of a slice where the partial sums of the slices before it are:
  // to these it adds its own, which it writes nowhere else.
  template <std::size_t Rows, std::size_t Columns>
  static inline __attribute__((always_inline)) void add_tile(const double* x, const double* y,
                                                             index_t length, index_t count,
                                                             bool begins, double* sums,
                                                             double* before, index_t cols,
                                                             const double* next) {
    constexpr std::size_t parts = parts_at_once<Rows>;
#pragma GCC unroll 8
    for (std::size_t first = 0; first < all_parts; first += parts) {
      const index_t lane = static_cast<index_t>(first) * Op::lanes;
      vec s[Rows][Columns][parts];
#pragma GCC unroll 8
      for (std::size_t i = 0; i < Rows; ++i) {
#pragma GCC unroll 8
        for (std::size_t j = 0; j < Columns; ++j) {
#pragma GCC unroll 8
          for (std::size_t p = 0; p < parts; ++p) {
            s[i][j][p] = begins ? Op::zero()
                                : Op::load(place(sums, cols, i, j) + lane +
                                           static_cast<index_t>(p) * Op::lanes);
          }
        }
      }
      multiply(x + lane, y + lane, length, count, s, next == nullptr || first == 0 ? next : y);
#pragma GCC unroll 8
      for (std::size_t i = 0; i < Rows; ++i) {
#pragma GCC unroll 8
        for (std::size_t j = 0; j < Columns; ++j) {
#pragma GCC unroll 8
          for (std::size_t p = 0; p < parts; ++p) {
            const index_t at = lane + static_cast<index_t>(p) * Op::lanes;
            if (before == nullptr) {
              Op::store(place(sums, cols, i, j) + at, s[i][j][p]);
            } else {
              double* const to = place(before, cols, i, j) + at;
              Op::store(to, Op::load(to) + s[i][j][p]);
            }
          }
        }
      }
    }
  }

  template <std::size_t Rows, std::size_t Columns>
  static inline __attribute__((always_inline)) void dots_of_tile(const double* x, const double* y,
                                                                 index_t length, double* out,
                                                                 index_t out_stride) {
    const auto to = [&](std::size_t i, std::size_t j) -> double& {
      return out[static_cast<index_t>(i) * out_stride + static_cast<index_t>(j)];
    };
    const index_t slice = detail::slice_of_row(length);
    const auto left = [=](index_t k) { return length - k < slice ? length - k : slice; };
    if constexpr (parts_at_once<Rows> == all_parts) {
      using sums_of_tile = vec[Rows][Columns][all_parts];
      sums_of_tile s = {};
      multiply(x, y, length, slice, s, nullptr);
      for (index_t k = slice; k < length; k += slice) {
        sums_of_tile of_slice = {};
        multiply(x + k, y + k, length, left(k), of_slice, nullptr);
#pragma GCC unroll 8
        for (std::size_t i = 0; i < Rows; ++i) {
#pragma GCC unroll 8
          for (std::size_t j = 0; j < Columns; ++j) {
#pragma GCC unroll 8
            for (std::size_t p = 0; p < all_parts; ++p) s[i][j][p] = s[i][j][p] + of_slice[i][j][p];
          }
        }
      }
#pragma GCC unroll 8
      for (std::size_t i = 0; i < Rows; ++i) {
#pragma GCC unroll 8
        for (std::size_t j = 0; j < Columns; ++j) to(i, j) = Op::combine(s[i][j]);
      }
    } else {
      alignas(64) double sums[Rows][Columns][sums_of_pair];
      double* const all = sums[0][0];
      add_tile<Rows, Columns>(x, y, length, slice, true, all, nullptr, Columns, nullptr);
      for (index_t k = slice; k < length; k += slice) {
        add_tile<Rows, Columns>(x + k, y + k, length, left(k), true, nullptr, all, Columns,
                                nullptr);
      }
#pragma GCC unroll 8
      for (std::size_t i = 0; i < Rows; ++i) {
#pragma GCC unroll 8
        for (std::size_t j = 0; j < Columns; ++j) to(i, j) = Op::combine(sums[i][j]);
      }
    }
  }

  template <std::size_t Rows>
  static inline __attribute__((always_inline)) void dots_of_rows(const double* x, const double* y,
                                                                 index_t cols, index_t length,
                                                                 double* out, index_t out_stride) {
    index_t j = 0;
    for (; j + all_cols <= cols; j += all_cols) {
      dots_of_tile<Rows, Cols>(x, y + j * length, length, out + j, out_stride);
    }
    for (; j < cols; ++j) dots_of_tile<Rows, 1>(x, y + j * length, length, out + j, out_stride);
  }

  // Four rows at a time: a row alone takes more loads than products.
  static void ordered(const double* x, index_t rows, const double* y, index_t cols, index_t length,
                      double* out, index_t out_stride) {
    index_t i = 0;
    for (; i + 4 <= rows; i += 4) {
      dots_of_rows<4>(x + i * length, y, cols, length, out + i * out_stride, out_stride);
    }
    for (; i < rows; ++i) {
      dots_of_rows<1>(x + i * length, y, cols, length, out + i * out_stride, out_stride);
    }
  }

  // Columns outside, so that theirs stay in the first level of the caches. The elements behind
  // these are asked for on the way, a row for each tile: they are next, and no prefetcher goes from
  // page to page.
  static void add(const double* x, index_t rows, const double* y, index_t cols, index_t length,
                  index_t count, index_t diagonal, bool begins, double* sums, double* before) {
    index_t asked = 0;
    const auto next = [&] {
      const double* const row = asked < rows ? x + asked * length : y + (asked - rows) * length;
      if (++asked == rows + cols) asked = 0;
      return row + count;
    };
    for (index_t j = 0; j < cols;) {
      const bool all = j + all_cols <= cols;
      const index_t width = all ? all_cols : 1;
      const double* const b = y + j * length;
      for (index_t i = 0; i < rows;) {
        const bool four = i + 4 <= rows;
        const index_t height = four ? 4 : 1;
        const double* const a = x + i * length;
        double* const to = sums + (i * cols + j) * sums_of_pair;
        double* const more = before == nullptr ? nullptr : before + (i * cols + j) * sums_of_pair;
        if (j + width - 1 + diagonal <= i) {
          const auto row_bytes = static_cast<std::size_t>(width * sums_of_pair) * sizeof *to;
          for (index_t k = 0; begins && k < height; ++k) {
            __builtin_memset(to + k * cols * sums_of_pair, 0, row_bytes);
          }
        } else if (four) {
          all ? add_tile<4, Cols>(a, b, length, count, begins, to, more, cols, next())
              : add_tile<4, 1>(a, b, length, count, begins, to, more, cols, b);
        } else {
          all ? add_tile<1, Cols>(a, b, length, count, begins, to, more, cols, b)
              : add_tile<1, 1>(a, b, length, count, begins, to, more, cols, b);
        }
        i += height;
      }
      j += width;
    }
  }

  static void combine_all(const double* sums, index_t rows, index_t cols, double* out,
                          index_t out_stride) {
    for (index_t i = 0; i < rows; ++i) {
      for (index_t j = 0; j < cols; ++j) {
        out[i * out_stride + j] = Op::combine(sums + (i * cols + j) * sums_of_pair);
      }
    }
  }
};
