// The loops of rows with missing values, over an Op that knows one instruction set. Included inside
// the unnamed namespace of a file compiled for it.
//
// An Op is a vector of doubles (kernel_doubles.hpp), whose lanes divide pairwise_lanes, with
//   rows: the rows of a tile;
//   add_where(sum, x, has), add_if(sum, x, has): fused(x, has, sum), where each lane of `has` is 0
//   or 1; add_if where all are equal. Such products are exact, so a sum alone is rounded alike.
template <class Op>
struct pairwise_body {
  using vec = typename Op::vec;
  static constexpr std::size_t row_count = Op::rows;

  struct vec_sums {
    vec xy, x, y, xx, yy;
  };

  // The sums of row_count rows with `lanes` columns.
  static inline __attribute__((always_inline)) void add_tile(const double* const (&rows)[row_count],
                                                             const double* columns, index_t count,
                                                             vec_sums (&sums)[row_count]) {
    for (vec_sums& s : sums) s = {Op::zero(), Op::zero(), Op::zero(), Op::zero(), Op::zero()};
    for (index_t k = 0; k < count; ++k) {
      const index_t at = k * 2 * pairwise_lanes;
      const vec y = Op::load(columns + at);
      const vec has_y = Op::load(columns + at + pairwise_lanes);
      const vec yy = y * y;
      for (std::size_t i = 0; i < row_count; ++i) {
        const vec x = Op::spread(rows[i] + at);
        const vec has_x = Op::spread(rows[i] + at + pairwise_lanes);
        vec_sums& s = sums[i];
        s.xy = Op::fused(x, y, s.xy);
        s.x = Op::add_where(s.x, x, has_y);
        s.y = Op::add_if(s.y, y, has_x);
        s.xx = Op::add_where(s.xx, x * x, has_y);
        s.yy = Op::add_if(s.yy, yy, has_x);
      }
    }
  }

  template <detail::row_centre centre>
  static void block(const pairwise_block& in) {
    const auto group_of = [&](index_t place) {
      return in.values + place / pairwise_lanes * in.cols * 2 * pairwise_lanes;
    };
    for (index_t col = 0; col < in.col_count; col += Op::lanes) {
      const index_t place = in.first_col + col;
      const double* const columns = group_of(place) + place % pairwise_lanes;
      for (index_t row = 0; row < in.row_count; row += static_cast<index_t>(row_count)) {
        const double* rows[row_count];
        for (std::size_t i = 0; i < row_count; ++i) {
          const index_t own = row + static_cast<index_t>(i);
          const index_t at = in.first_row + (own < in.row_count ? own : in.row_count - 1);
          rows[i] = group_of(at) + at % pairwise_lanes;
        }
        vec_sums sums[row_count];
        add_tile(rows, columns, in.cols, sums);
        for (std::size_t i = 0; i < row_count; ++i) {
          if (row + static_cast<index_t>(i) >= in.row_count) continue;
          double of[5][Op::lanes];
          Op::store(of[0], sums[i].xy);
          Op::store(of[1], sums[i].x);
          Op::store(of[2], sums[i].y);
          Op::store(of[3], sums[i].xx);
          Op::store(of[4], sums[i].yy);
          const index_t to = (row + static_cast<index_t>(i)) * in.stride + col;
          for (index_t l = 0; l < Op::lanes; ++l) {
            in.out[to + l] = detail::statistic_of_sums(
                {of[0][l], of[1][l], of[2][l], of[3][l], of[4][l]}, in.counts[to + l], centre);
          }
        }
      }
    }
  }

  static void statistics(const pairwise_block& in) {
    switch (in.centre) {
      case detail::row_centre::mean:
        return block<detail::row_centre::mean>(in);
      case detail::row_centre::none:
        return block<detail::row_centre::none>(in);
    }
  }
};

inline void pairwise_counts(const pairwise_count_block& in) {
  for (index_t i = 0; i < in.row_count; ++i) {
    const std::uint64_t* const x = in.bits + (in.first_row + i) * in.words;
    for (index_t j = 0; j < in.col_count; ++j) {
      const std::uint64_t* const y = in.bits + (in.first_col + j) * in.words;
      int count = 0;
      for (index_t w = 0; w < in.words; ++w) count += __builtin_popcountll(x[w] & y[w]);
      in.out[i * in.stride + j] = count;
    }
  }
}

// Sums of products of two rows that are ranked anew over the columns they share. A centred rank is
// the number of values below less the number above, so each value that falls out moves the ranks of
// those on either side of it.
inline void pairwise_rank_sums(const pairwise_ranks& x, const pairwise_ranks& y,
                               index_t padded_cols, std::int64_t (&out)[3]) {
  constexpr int chunk = pairwise_rank_padding;
  // The ranks of x where y is missing, and the other way round.
  std::int16_t out_of_x[most_pairwise_missing];
  std::int16_t out_of_y[most_pairwise_missing];
  int from_x = 0;
  int from_y = 0;
  for (index_t t = 0; t < y.missing_count; ++t) {
    out_of_x[from_x] = x.ranks[y.missing[t]];
    from_x -= x.present[y.missing[t]];
  }
  for (index_t t = 0; t < x.missing_count; ++t) {
    out_of_y[from_y] = y.ranks[x.missing[t]];
    from_y -= y.present[x.missing[t]];
  }
  // Ranks over the shared columns, 0 elsewhere.
  std::int16_t a[most_pairwise_rank_cols];
  std::int16_t b[most_pairwise_rank_cols];
  for (index_t begin = 0; begin < padded_cols; begin += chunk) {
    const std::int16_t* const u = x.ranks + begin;
    const std::int16_t* const v = y.ranks + begin;
    std::int16_t p[chunk];
    std::int16_t q[chunk];
    for (int l = 0; l < chunk; ++l) p[l] = u[l];
    for (int t = 0; t < from_x; ++t) {
      const std::int16_t bar = out_of_x[t];
      for (int l = 0; l < chunk; ++l) {
        p[l] = static_cast<std::int16_t>(p[l] + (u[l] < bar ? 1 : 0) - (u[l] > bar ? 1 : 0));
      }
    }
    for (int l = 0; l < chunk; ++l) q[l] = v[l];
    for (int t = 0; t < from_y; ++t) {
      const std::int16_t bar = out_of_y[t];
      for (int l = 0; l < chunk; ++l) {
        q[l] = static_cast<std::int16_t>(q[l] + (v[l] < bar ? 1 : 0) - (v[l] > bar ? 1 : 0));
      }
    }
    for (int l = 0; l < chunk; ++l) {
      const auto shared = static_cast<std::int16_t>(x.present[begin + l] & y.present[begin + l]);
      a[begin + l] = static_cast<std::int16_t>(p[l] & shared);
      b[begin + l] = static_cast<std::int16_t>(q[l] & shared);
    }
  }
  std::int64_t xy = 0;
  std::int64_t xx = 0;
  std::int64_t yy = 0;
  const index_t step = pairwise_sum_cols(padded_cols);
  for (index_t begin = 0; begin < padded_cols; begin += step) {
    const index_t end = begin + step < padded_cols ? begin + step : padded_cols;
    std::int32_t some_xy = 0;
    std::int32_t some_xx = 0;
    std::int32_t some_yy = 0;
    for (index_t k = begin; k < end; ++k) {
      some_xy += a[k] * b[k];
      some_xx += a[k] * a[k];
      some_yy += b[k] * b[k];
    }
    xy += some_xy;
    xx += some_xx;
    yy += some_yy;
  }
  out[0] = xy;
  out[1] = xx;
  out[2] = yy;
}
