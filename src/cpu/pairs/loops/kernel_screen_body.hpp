// The walk of an 8-bit screen over a tile, block by block. Included inside the unnamed namespace of
// a file compiled for one instruction set, before what describes its blocks.
//
// A Block is rows x groups sums of 16 lanes that fit the registers, and
//   vector                           the type of 16 sums
//   multiply(tile, row, group, sums) the products of a block, each with its row's bias
//   spread(limit), most(a, b)        of vectors
//   any(vector, limit)               whether a lane reaches the limit
//   lanes(vector, limit)             a bit for each lane that does, bits_per_lane apart
template <class Block>
struct screen_body {
  using vector = typename Block::vector;
  using block_sums =
      vector[static_cast<std::size_t>(Block::rows)][static_cast<std::size_t>(Block::groups)];
  static constexpr index_t rows = Block::rows;
  static constexpr index_t groups = Block::groups;
  static constexpr index_t cols = groups * group_lanes;

  // The pairs of a block that may reach the cut.
  static __attribute__((noinline)) void visit(const screen_tile& tile, const exact_test& test,
                                              index_t row, index_t group) {
    block_sums sum;
    Block::multiply(tile, row, group, sum);
    const vector limit = Block::spread(tile.limit);
    for (index_t i = row; i < row + rows && i < tile.rows; ++i) {
      for (index_t g = 0; g < groups; ++g) {
        std::uint32_t lanes = Block::lanes(
            sum[static_cast<std::size_t>(i - row)][static_cast<std::size_t>(g)], limit);
        for (; lanes != 0; lanes &= lanes - 1) {
          const index_t j = (group + g) * group_lanes + __builtin_ctz(lanes) / Block::bits_per_lane;
          if (j < tile.cols && j + tile.diagonal > i) (void)test(i, j, 0);
        }
      }
    }
  }

  static void search(const screen_tile& tile, const exact_test& test) {
    const vector limit = Block::spread(tile.limit);
    for (index_t group = 0; group * group_lanes < tile.cols; group += groups) {
      for (index_t row = 0; row < tile.rows; row += rows) {
        if (group * group_lanes + cols - 1 + tile.diagonal <= row) break;
        block_sums sum;
        Block::multiply(tile, row, group, sum);
        vector most = Block::most(sum[0][0], sum[0][1]);
        for (int i = 1; i < rows; ++i) {
          most = Block::most(most, Block::most(sum[i][0], sum[i][1]));
        }
        if (Block::any(most, limit)) visit(tile, test, row, group);
      }
    }
  }
};
