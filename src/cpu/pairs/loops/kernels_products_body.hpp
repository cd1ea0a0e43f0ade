// Sums of products of blocks of wide rows, over an Op that knows one instruction set. Included
// inside the unnamed namespace of a file compiled for it, after cpu/pairs/loops/kernel_body.hpp.
//
// An Op has, beside what kernel_body asks of one of 16-bit values,
//   add_to(sum, double*)            adds 16 sums to as many doubles
template <class Op>
struct product_body {
  static constexpr index_t tile_rows = Op::rows;
  static constexpr index_t tile_groups = Op::groups;
  static constexpr index_t tile_cols = tile_groups * group_lanes;
  static constexpr std::size_t row_count = Op::rows;
  static constexpr std::size_t group_count = Op::groups;
  // Steps of the rows and columns that a block reads again and again: 512 bytes of each.
  static constexpr index_t chunk_steps = 128;

  // The rows of a tile, from the chunk's first step on; what is behind the last row is it again.
  struct row_steps {
    const std::uint8_t* at[row_count];
  };

  static inline __attribute__((always_inline)) void add_tile(const product_block& in,
                                                             const row_steps& rows,
                                                             const std::uint8_t* columns,
                                                             index_t steps, index_t row_count_left,
                                                             double* out) {
    constexpr index_t step_of_group = group_lanes * step_bytes;
    for (index_t begin = 0; begin < steps; begin += in.exact_steps) {
      const index_t end = begin + in.exact_steps < steps ? begin + in.exact_steps : steps;
      typename Op::sum sums[row_count][group_count];
      for (std::size_t i = 0; i < row_count; ++i) {
        for (std::size_t g = 0; g < group_count; ++g) sums[i][g] = Op::zero();
      }
      for (index_t k = begin * step_of_group; k < end * step_of_group; k += step_of_group) {
        typename Op::column column[group_count];
        for (std::size_t g = 0; g < group_count; ++g) {
          column[g] = Op::load(columns + static_cast<index_t>(g) * in.group_bytes + k);
        }
        for (std::size_t i = 0; i < row_count; ++i) {
          for (std::size_t g = 0; g < group_count; ++g) {
            Op::accumulate(sums[i][g], column[g], rows.at[i] + k);
          }
        }
      }
      for (std::size_t i = 0; i < row_count; ++i) {
        if (static_cast<index_t>(i) >= row_count_left) continue;
        for (std::size_t g = 0; g < group_count; ++g) {
          Op::add_to(sums[i][g], out + static_cast<index_t>(i) * in.out_stride +
                                     static_cast<index_t>(g) * group_lanes);
        }
      }
    }
  }

  static void add(const product_block& in) {
    const index_t whole = chunk_steps / in.exact_steps * in.exact_steps;
    const index_t chunk = whole > 0 ? whole : in.exact_steps;
    for (index_t step = 0; step < in.steps; step += chunk) {
      const index_t steps = step + chunk < in.steps ? chunk : in.steps - step;
      const index_t first_byte = step * group_lanes * step_bytes;
      for (index_t col = 0; col < in.cols; col += tile_cols) {
        const std::uint8_t* columns = in.columns + col / group_lanes * in.group_bytes + first_byte;
        for (index_t row = 0; row < in.rows; row += tile_rows) {
          if (col + tile_cols - 1 + in.diagonal <= row) break;
          row_steps rows;
          for (std::size_t i = 0; i < row_count; ++i) {
            const index_t own = row + static_cast<index_t>(i);
            const index_t place = in.first_row + (own < in.rows ? own : in.rows - 1);
            rows.at[i] = in.data + place / group_lanes * in.group_bytes + first_byte +
                         place % group_lanes * step_bytes;
          }
          add_tile(in, rows, columns, steps, in.rows - row, in.out + row * in.out_stride + col);
        }
      }
    }
  }
};

// Exact in 64 bits, whatever the length.
template <class Integer>
inline std::int64_t dot_of(const Integer* x, const Integer* y, index_t count) {
  std::int64_t sum = 0;
  for (index_t k = 0; k < count; ++k) sum += std::int64_t{x[k]} * y[k];
  return sum;
}
