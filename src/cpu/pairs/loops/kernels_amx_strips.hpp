// Products of a tile by AMX, strip by strip. Included inside the unnamed namespace of a file
// compiled for AMX.
//
// A strip is 16 rows by 32 columns, two tiles of sums. The tile unit, the stores of its sums and
// the vectors that look at them each need about as many cycles, so three strips are in flight:
// while the products of one are formed, the sums of the one before are stored, and those of the one
// before that are looked at. Measured on Sapphire Rapids, one thread, 32 columns, 1e9 pairs/s:
// 32 x 32 blocks one after the other 9.8 (and 33 on two threads); strips with two buffers 21.7,
// with four 24.0; the products alone 42, products and stores 27.

constexpr index_t strip_rows = 16;
constexpr index_t strip_cols = 2 * group_lanes;
constexpr index_t tile_steps = 16;  // of 4 bytes: one row of a tile

// Tiles 0 to 3 are sums (two strips), 4 is rows, 6 and 7 are columns.
void load_shapes(index_t steps) {
  const int chunk = static_cast<int>(steps < tile_steps ? steps : tile_steps);
  amx_shapes shapes;
  for (int t = 0; t < 4; ++t) shapes.set(t, strip_rows, 64);
  shapes.set(4, strip_rows, chunk * 4);
  shapes.set(5, strip_rows, chunk * 4);
  shapes.set(6, chunk, 64);
  shapes.set(7, chunk, 64);
  shapes.load();
}

// The sums of one strip, and where it lies in its tile.
struct strip {
  alignas(64) std::int32_t sums[2][strip_rows][group_lanes];
  index_t row = -1;  // none
  index_t group = 0;

  [[nodiscard]] index_t col() const { return group * group_lanes; }
};

// Multiplies the strips of a tile above the diagonal, columns outside, and hands each to
// take(strip). Signed says whether columns are; else they are unsigned bytes.
template <bool Signed, class Tile, class Take>
class strip_pipeline {
 public:
  strip_pipeline(const Tile& tile, Take& take)
      : take_(take),
        columns_(tile.columns),
        row_steps_(tile.row_steps),
        steps_(tile.steps),
        rows_(tile.rows),
        cols_(tile.cols),
        diagonal_(tile.diagonal) {}

  void run() {
    load_shapes(steps_);
    for (index_t group = 0; group * group_lanes < cols_; group += 2) {
      // Rows that have a column of the strip above the diagonal.
      const index_t last = group * group_lanes + strip_cols - 1 + diagonal_;
      const index_t end = last < rows_ ? last : rows_;
      if (end <= 0) continue;
      if (steps_ <= tile_steps) load_columns(columns_of(group), columns_of(group + 1));
      for (index_t row = 0; row < end; row += strip_rows) step(row, group);
    }
    step(-1, 0);
    step(-1, 0);
    _tile_release();
  }

 private:
  [[nodiscard]] const std::uint8_t* columns_of(index_t group) const {
    return columns_ + group * steps_ * group_lanes * step_bytes;
  }
  static void load_columns(const std::uint8_t* first, const std::uint8_t* second) {
    _tile_loadd(6, first, 64);
    _tile_loadd(7, second, 64);
  }

  void step(index_t row, index_t group) {
    switch (count_++ % 4) {
      case 0:
        return turn<0>(row, group);
      case 1:
        return turn<1>(row, group);
      case 2:
        return turn<2>(row, group);
      default:
        return turn<3>(row, group);
    }
  }

  // The products of strip n, the stores of strip n - 1, a look at strip n - 2.
  template <int Turn>
  inline __attribute__((always_inline)) void turn(index_t row, index_t group) {
    strip& now = ring_[Turn];
    strip& before = ring_[(Turn + 3) % 4];
    const strip& ready = ring_[(Turn + 2) % 4];
    now.row = row;
    now.group = group;
    if (row >= 0) {
      if constexpr (Turn % 2 == 0) {
        _tile_zero(0);
        _tile_zero(1);
      } else {
        _tile_zero(2);
        _tile_zero(3);
      }
      multiply<Turn % 2>(row, group);
    }
    if constexpr (Turn % 2 == 0) {
      _tile_stored(2, before.sums[0], 64);
      _tile_stored(3, before.sums[1], 64);
    } else {
      _tile_stored(0, before.sums[0], 64);
      _tile_stored(1, before.sums[1], 64);
    }
    if (ready.row >= 0) take_(ready);
  }

  template <int Side>
  inline __attribute__((always_inline)) void multiply(index_t row, index_t group) {
    const std::uint8_t* rows = row_steps_ + row * steps_ * step_bytes;
    const index_t row_bytes = steps_ * step_bytes;
    _tile_loadd(4, rows, row_bytes);
    if (steps_ > tile_steps) load_columns(columns_of(group), columns_of(group + 1));
    accumulate<Side>();
    for (index_t k = tile_steps; k < steps_; k += tile_steps) {
      _tile_loadd(4, rows + k * step_bytes, row_bytes);
      load_columns(columns_of(group) + k * group_lanes * step_bytes,
                   columns_of(group + 1) + k * group_lanes * step_bytes);
      accumulate<Side>();
    }
  }

  template <int Side>
  static inline __attribute__((always_inline)) void accumulate() {
    if constexpr (Signed && Side == 0) {
      _tile_dpbssd(0, 4, 6);
      _tile_dpbssd(1, 4, 7);
    } else if constexpr (Signed) {
      _tile_dpbssd(2, 4, 6);
      _tile_dpbssd(3, 4, 7);
    } else if constexpr (Side == 0) {
      _tile_dpbsud(0, 4, 6);
      _tile_dpbsud(1, 4, 7);
    } else {
      _tile_dpbsud(2, 4, 6);
      _tile_dpbsud(3, 4, 7);
    }
  }

  Take& take_;
  const std::uint8_t* columns_;
  const std::uint8_t* row_steps_;
  index_t steps_;
  index_t rows_;
  index_t cols_;
  index_t diagonal_;
  unsigned count_ = 0;
  strip ring_[4];
};

template <bool Signed, class Tile, class Take>
void for_each_strip(const Tile& tile, Take&& take) {
  // The intrinsics do not say that they read memory: what was prepared is to be there.
  asm volatile("" : : : "memory");
  strip_pipeline<Signed, Tile, std::remove_reference_t<Take>>(tile, take).run();
}
