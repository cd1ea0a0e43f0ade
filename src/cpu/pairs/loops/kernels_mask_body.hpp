// The loops of rows with missing values that have few masks, over an Op that knows one instruction
// set. Included inside the unnamed namespace of a file compiled for it, behind
// kernels_pairwise_body.hpp.
//
// An Op is a vector of doubles (kernel_doubles.hpp) and has besides, for sums of products in the
// order of the columns,
//   product_rows: the rows of a tile, which meets pairwise_lanes columns;
// and, of `ints`, a vector of `int16_lanes` 16-bit integers (a divisor of pairwise_rank_padding) or
// of half as many sums of 32 bits:
//   no_ints(), load_ints(int16*), add_products(sums, a, b),
//   totals(sums[4], int32[4]): the sum of each.
template <class Op>
struct mask_body {
  using vec = typename Op::vec;
  static constexpr index_t most_padded =
      round_up(most_mask_rank_cols, index_t{pairwise_rank_padding});
  static constexpr index_t columns_ahead = 8;
  static constexpr index_t cache_line = 64;
  static constexpr std::size_t parts = static_cast<std::size_t>(pairwise_lanes / Op::lanes);

  // Sums of products of rows [begin, begin + product_rows) of the block with a group of columns.
  static inline __attribute__((always_inline)) void add_products(const mask_value_block& in,
                                                                 index_t begin, index_t col) {
    constexpr auto row_count = static_cast<std::size_t>(Op::product_rows);
    const auto group_of = [&](index_t place) {
      return in.values + place / pairwise_lanes * in.cols * 2 * pairwise_lanes;
    };
    const double* rows[row_count];
    for (std::size_t i = 0; i < row_count; ++i) {
      const index_t own = begin + static_cast<index_t>(i);
      const index_t at = in.first_row + (own < in.row_count ? own : in.row_count - 1);
      rows[i] = group_of(at) + at % pairwise_lanes;
    }
    const double* const columns = group_of(in.first_col + col);
    vec sums[row_count][parts];
    for (auto& own : sums) {
      for (vec& sum : own) sum = Op::zero();
    }
    for (index_t k = 0; k < in.cols; ++k) {
      const index_t at = k * 2 * pairwise_lanes;
      vec y[parts];
      for (std::size_t p = 0; p < parts; ++p) {
        y[p] = Op::load(columns + at + static_cast<index_t>(p) * Op::lanes);
      }
      for (std::size_t i = 0; i < row_count; ++i) {
        const vec x = Op::spread(rows[i] + at);
        for (std::size_t p = 0; p < parts; ++p) sums[i][p] = Op::fused(x, y[p], sums[i][p]);
      }
    }
    for (std::size_t i = 0; i < row_count; ++i) {
      const index_t own = begin + static_cast<index_t>(i);
      if (own >= in.row_count) break;
      double* const to = in.out + own * in.stride + col;
      for (std::size_t p = 0; p < parts; ++p) {
        Op::store(to + static_cast<index_t>(p) * Op::lanes, sums[i][p]);
      }
    }
  }

  template <detail::row_centre centre>
  static void visit_values(const mask_value_block& in) {
    for (index_t col = 0; col < in.col_count; col += pairwise_lanes) {
      for (index_t row = 0; row < in.row_count; row += Op::product_rows) {
        add_products(in, row, col);
      }
    }
    const std::uint8_t* const masks = in.mask_of + in.first_col;
    for (index_t r = 0; r < in.row_count; ++r) {
      const mask_row& row = in.rows[r];
      const double* const roots = row.col_roots + in.first_col;
      const double* const col_sums = row.col_sums + in.first_col;
      for (index_t c = 0; c < in.col_count; ++c) {
        const index_t mask = masks[c];
        const double sum = row.out[c];
        const double xy =
            centre == detail::row_centre::mean
                ? __builtin_fma(row.counts[mask], sum, -(row.sums[mask] * col_sums[c]))
                : row.counts[mask] * sum;
        row.out[c] = detail::no_statistic;
        if (may_pass(row, mask, roots[c], xy)) in.visit(r, c, xy);
      }
    }
  }

  static void values(const mask_value_block& in) {
    switch (in.centre) {
      case detail::row_centre::mean:
        return visit_values<detail::row_centre::mean>(in);
      case detail::row_centre::none:
        return visit_values<detail::row_centre::none>(in);
    }
  }

  static inline __attribute__((always_inline)) void fetch(const std::int16_t* from, index_t count) {
    for (index_t k = 0; k < count; k += cache_line / index_t{sizeof(std::int16_t)}) {
      __builtin_prefetch(from + k);
    }
  }

  // `row_count` rows of one mask with all columns, those of each mask one after the other: of rows
  // and of columns alike, ranks are read once for several pairs.
  template <std::size_t row_count>
  static inline __attribute__((always_inline)) void visit_some(const mask_rank_block& in,
                                                               index_t begin) {
    const mask_row* const rows = in.rows + begin;
    const double* const roots = rows->col_roots + in.first_col;
    const std::int16_t* const columns =
        in.ranks + in.mask_of[rows->place] * in.mask_stride + in.first_col * in.pitch;
    std::int16_t own[row_count][most_padded];
    index_t mask = -1;
    index_t fetched = -1;
    for (index_t at = 0; at < in.col_count; ++at) {
      const index_t c = in.col_order[at];
      if (in.mask_of[in.first_col + c] != mask) {
        mask = in.mask_of[in.first_col + c];
        for (std::size_t i = 0; i < row_count; ++i) {
          const std::int16_t* const from =
              in.ranks + mask * in.mask_stride + rows[i].place * in.pitch;
          for (index_t k = 0; k < in.pitch; ++k) own[i][k] = from[k];
        }
      }
      const std::int16_t* const column = columns + c * in.pitch;
      // They stand apart, where no processor looks ahead by itself; so do a row's ranks by mask.
      const index_t next =
          in.col_order[at + columns_ahead < in.col_count ? at + columns_ahead : at];
      fetch(columns + next * in.pitch, in.pitch);
      const index_t next_mask = in.mask_of[in.first_col + next];
      if (next_mask != fetched) {
        fetched = next_mask;
        for (std::size_t i = 0; i < row_count; ++i) {
          fetch(in.ranks + next_mask * in.mask_stride + rows[i].place * in.pitch, in.pitch);
        }
      }
      typename Op::ints sums[4];
      for (auto& sum : sums) sum = Op::no_ints();
      for (index_t k = 0; k < in.pitch; k += Op::int16_lanes) {
        const typename Op::ints y = Op::load_ints(column + k);
        for (std::size_t i = 0; i < row_count; ++i) {
          sums[i] = Op::add_products(sums[i], Op::load_ints(own[i] + k), y);
        }
      }
      std::int32_t totals[4];
      Op::totals(sums, totals);
      for (std::size_t i = 0; i < row_count; ++i) {
        const double xy = totals[i];
        rows[i].out[c] = detail::no_statistic;
        if (may_pass(rows[i], mask, roots[c], xy)) {
          in.visit(begin + static_cast<index_t>(i), c, xy);
        }
      }
    }
  }

  static void ranks(const mask_rank_block& in) {
    for (index_t begin = 0; begin < in.row_count;) {
      const std::uint8_t mask = in.mask_of[in.rows[begin].place];
      index_t end = begin + 1;
      while (end < in.row_count && end < begin + 4 && in.mask_of[in.rows[end].place] == mask) ++end;
      switch (end - begin) {
        case 4:
          visit_some<4>(in, begin);
          break;
        case 3:
          visit_some<3>(in, begin);
          break;
        case 2:
          visit_some<2>(in, begin);
          break;
        default:
          visit_some<1>(in, begin);
          break;
      }
      begin = end;
    }
  }
};
