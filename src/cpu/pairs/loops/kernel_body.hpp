// The loops of cpu/pairs/loops/kernels.hpp over an Op that knows one instruction set and packing.
// Included by one file per instruction set, inside its unnamed namespace, after
// cpu/pairs/loops/kernels.hpp and stats/statistic.hpp; uses nothing from the standard library that
// could be shared with code for lesser processors.
//
// An Op has: rows x groups accumulators of 16 lanes that fit the registers, and
//   sum, column, real     types of 16 accumulators, 16 column steps, 16 floats
//   zero(), load(bytes), accumulate(sum&, column, row step bytes)
//   to_real(sum), signed_real(real, flip, keep), load_real(floats)
//   margin(cut, scale, x)           x - cut * scale
//   least(real, real), most(real, real), magnitude(real), spread(float)
//   any_at_most(real, float), any_at_least(real, float), bits_at_least(real, float)
//   bits_not_negative(real)         16-bit mask; store(sum, int32*)
//   counter type, no_counts(), add_bits(counter&, mask), store_counts(counter, uint32*)

template <class Op>
struct kernel_body {
  using sum = typename Op::sum;
  using real = typename Op::real;
  static constexpr index_t tile_rows = Op::rows;
  static constexpr index_t tile_groups = Op::groups;
  static constexpr index_t tile_cols = tile_groups * group_lanes;
  static constexpr std::size_t row_count = Op::rows;
  static constexpr std::size_t group_count = Op::groups;

  struct block {
    sum at[row_count][group_count];
  };

  template <class Tile>
  static inline __attribute__((always_inline)) void multiply(const Tile& tile, index_t row,
                                                             index_t group, block& out) {
    const index_t group_bytes = tile.steps * group_lanes * step_bytes;
    const std::uint8_t* columns = tile.columns + group * group_bytes;
    const std::uint8_t* steps = tile.row_steps + row * tile.steps * step_bytes;
    for (int i = 0; i < tile_rows; ++i) {
      for (int g = 0; g < tile_groups; ++g) out.at[i][g] = Op::zero();
    }
    for (index_t k = 0; k < tile.steps; ++k) {
      typename Op::column column[group_count];
      for (int g = 0; g < tile_groups; ++g) {
        column[g] = Op::load(columns + g * group_bytes + k * group_lanes * step_bytes);
      }
      for (int i = 0; i < tile_rows; ++i) {
        for (int g = 0; g < tile_groups; ++g) {
          Op::accumulate(out.at[i][g], column[g], steps + (i * tile.steps + k) * step_bytes);
        }
      }
    }
  }

  static inline __attribute__((always_inline)) real margin_of(const kernel_tile& tile,
                                                              const sum& value, index_t row,
                                                              const real& scale) {
    const real x = Op::signed_real(Op::to_real(value), tile.sign_flip, tile.sign_keep);
    return Op::margin(Op::spread(tile.row_cut[row]), scale, x);
  }

  // Where a block of pairs lies against the diagonal and the ends of the tile.
  enum class place { outside, inside, across };
  static place place_of(const kernel_tile& tile, index_t row, index_t col) {
    if (col + tile_cols - 1 + tile.diagonal <= row) return place::outside;
    const bool inside = col + tile.diagonal > row + tile_rows - 1 && row + tile_rows <= tile.rows &&
                        col + tile_cols <= tile.cols;
    return inside ? place::inside : place::across;
  }

  // One block pair by pair, for the pairs that the vectors cannot decide. visit(row, col, raw,
  // margin).
  template <class Visit>
  static __attribute__((noinline)) void each_pair(const kernel_tile& tile, index_t row,
                                                  index_t group, const Visit& visit) {
    block products;
    multiply(tile, row, group, products);
    const index_t rows = tile.rows - row < tile_rows ? tile.rows - row : tile_rows;
    for (index_t i = 0; i < rows; ++i) {
      for (index_t g = 0; g < tile_groups; ++g) {
        const index_t col = (group + g) * group_lanes;
        std::int32_t raw[group_lanes];
        float margin[group_lanes];
        Op::store(products.at[i][g], raw);
        Op::store_real(
            margin_of(tile, products.at[i][g], row + i, Op::load_real(tile.col_scale + col)),
            margin);
        for (index_t lane = 0; lane < group_lanes && col + lane < tile.cols; ++lane) {
          if (col + lane + tile.diagonal > row + i)
            visit(row + i, col + lane, raw[lane], margin[lane]);
        }
      }
    }
  }

  // The pairs of a block that may pass.
  static __attribute__((noinline)) void visit_block(const kernel_tile& tile, index_t row,
                                                    index_t group, const exact_test& test) {
    block products;
    multiply(tile, row, group, products);
    for (index_t i = 0; i < tile_rows && row + i < tile.rows; ++i) {
      for (index_t g = 0; g < tile_groups; ++g) {
        const index_t col = (group + g) * group_lanes;
        std::uint32_t lanes = Op::bits_at_least(
            margin_of(tile, products.at[i][g], row + i, Op::load_real(tile.col_scale + col)),
            -tile.band);
        if (lanes == 0) continue;
        std::int32_t raw[group_lanes];
        Op::store(products.at[i][g], raw);
        for (; lanes != 0; lanes &= lanes - 1) {
          const index_t lane = __builtin_ctz(lanes);
          if (col + lane < tile.cols && col + lane + tile.diagonal > row + i) {
            (void)test(row + i, col + lane, raw[lane]);
          }
        }
      }
    }
  }

  static void search(const kernel_tile& tile, const exact_test& test) {
    for (index_t group = 0; group * group_lanes < tile.cols; group += tile_groups) {
      const index_t col = group * group_lanes;
      real scale[group_count];
      for (int g = 0; g < tile_groups; ++g) {
        scale[g] = Op::load_real(tile.col_scale + col + g * group_lanes);
      }
      for (index_t row = 0; row < tile.rows; row += tile_rows) {
        const place where = place_of(tile, row, col);
        if (where == place::outside) break;
        if (where == place::inside) {
          block products;
          multiply(tile, row, group, products);
          real best = margin_of(tile, products.at[0][0], row, scale[0]);
          for (int i = 0; i < tile_rows; ++i) {
            for (int g = 0; g < tile_groups; ++g) {
              if (i + g > 0)
                best = Op::most(best, margin_of(tile, products.at[i][g], row + i, scale[g]));
            }
          }
          if (!Op::any_at_least(best, -tile.band)) continue;
        }
        visit_block(tile, row, group, test);
      }
    }
  }

  // All in one function: where margins go through functions of their own, GCC 12 keeps them in
  // memory, which takes half as long again with AVX2.
  static std::uint64_t count(const kernel_tile& tile, const exact_test& test,
                             std::uint32_t* row_degree, std::uint32_t* col_degree) {
    std::uint64_t kept = 0;
    const auto visit = [&](index_t row, index_t col, std::int32_t raw, float margin) {
      const bool near = margin <= tile.band && margin >= -tile.band;
      const bool keep = near ? test(row, col, raw) : margin > 0;
      row_degree[row] += keep;
      col_degree[col] += keep;
      kept += keep;
    };
    for (index_t group = 0; group * group_lanes < tile.cols; group += tile_groups) {
      const index_t col = group * group_lanes;
      real scale[group_count];
      typename Op::counter columns[group_count];
      for (int g = 0; g < tile_groups; ++g) {
        scale[g] = Op::load_real(tile.col_scale + col + g * group_lanes);
        columns[g] = Op::no_counts();
      }
      for (index_t row = 0; row < tile.rows; row += tile_rows) {
        const place where = place_of(tile, row, col);
        if (where == place::outside) break;
        if (where == place::across) {
          each_pair(tile, row, group, visit);
          continue;
        }
        block products;
        multiply(tile, row, group, products);
        real margins[row_count][group_count];
        for (int i = 0; i < tile_rows; ++i) {
          for (int g = 0; g < tile_groups; ++g) {
            margins[i][g] = margin_of(tile, products.at[i][g], row + i, scale[g]);
          }
        }
        real nearest = Op::magnitude(margins[0][0]);  // the least magnitude, lane by lane
        for (int i = 0; i < tile_rows; ++i) {
          for (int g = 0; g < tile_groups; ++g) {
            if (i + g > 0) nearest = Op::least(nearest, Op::magnitude(margins[i][g]));
          }
        }
        if (Op::any_at_most(nearest, tile.band)) {
          each_pair(tile, row, group, visit);
          continue;
        }
        std::uint32_t in_block = 0;
        for (int i = 0; i < tile_rows; ++i) {
          std::uint32_t in_row = 0;
          for (int g = 0; g < tile_groups; ++g) {
            const std::uint32_t bits = Op::bits_not_negative(margins[i][g]);
            in_row += static_cast<std::uint32_t>(__builtin_popcount(bits));
            Op::add_bits(columns[g], bits);
          }
          row_degree[row + i] += in_row;
          in_block += in_row;
        }
        kept += in_block;
      }
      for (int g = 0; g < tile_groups; ++g) {
        Op::add_counts(columns[g], col_degree + col + g * group_lanes);
      }
    }
    return kept;
  }

  static void sums(const kernel_tile& tile, std::int32_t* out, index_t stride) {
    for (index_t group = 0; group * group_lanes < tile.cols; group += tile_groups) {
      for (index_t row = 0; row < tile.rows; row += tile_rows) {
        block products;
        multiply(tile, row, group, products);
        for (int i = 0; i < tile_rows; ++i) {
          for (int g = 0; g < tile_groups; ++g) {
            Op::store(products.at[i][g], out + (row + i) * stride + (group + g) * group_lanes);
          }
        }
      }
    }
  }

  static constexpr dot_kernels kernels() { return {search, count, sums}; }
};

// Of int32 or of doubles.
template <class Sum>
inline void rho_of_row(const Sum* sums, double square_row, const Sum* square_cols, index_t count,
                       double* out) {
  for (index_t j = 0; j < count; ++j) {
    out[j] = detail::rho_at_scale(sums[j], detail::rho_scale(square_row, square_cols[j]));
  }
}

// Without branches, so that a cut that keeps half of the pairs costs no mispredictions: every
// candidate is written, and overwritten by the next one where it does not pass.
inline index_t select_sums(const sum_row& in, pair_hit* out) {
  std::uint32_t at[most_selected + 1];
  index_t candidates = 0;
  for (index_t j = 0; j < in.count; ++j) {
    const auto x = static_cast<float>(in.sums[j]);
    std::uint32_t bits;
    __builtin_memcpy(&bits, &x, sizeof bits);
    bits = (bits ^ in.sign_flip) & in.sign_keep;
    float with_sign;
    __builtin_memcpy(&with_sign, &bits, sizeof bits);
    at[candidates] = static_cast<std::uint32_t>(j);
    candidates += with_sign - in.row_cut * in.col_scale[j] >= -in.band ? 1 : 0;
  }
  std::int32_t sums[most_selected];
  std::int32_t squares[most_selected];
  double rho[most_selected];
  for (index_t k = 0; k < candidates; ++k) {
    sums[k] = in.sums[at[k]];
    squares[k] = in.square_cols[at[k]];
  }
  rho_of_row(sums, in.square_row, squares, candidates, rho);
  index_t kept = 0;
  for (index_t k = 0; k < candidates; ++k) {
    out[kept] = {in.row, in.col + at[k], rho[k]};
    kept += rho[k] >= in.at_least || rho[k] <= in.at_most ? 1 : 0;
  }
  return kept;
}
