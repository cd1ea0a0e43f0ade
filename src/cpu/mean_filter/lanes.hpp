// Long strips of doubles, included by body.hpp (and compiled with it once per
// instruction set).
//
// A strip is cut into 8 segments, one a lane; a row is one element of each. Segments run side by
// side, so the running sums of a row's 8 windows are plain vertical additions. Within a segment
// windows are summed in blocks of C elements, C a multiple of 8 and at most the window: with
// w = m C + r, the window of an output in block b is
//   a suffix of block b + the r elements after it + m - 1 block sums + a prefix,
// where the block sums lie on a grid that starts a window further on: they are the totals of the
// prefixes of the m - 1 blocks before, already there. Three additions per output, whatever w is.

namespace gpu::cpu::GPU_SIMILARITY_LEVEL {
namespace {

constexpr index_t longest_lane_block = 2048;
constexpr index_t most_lane_outputs = 64 * strip_lanes;  // of a pass

// Lanes of two vectors whose number has the bit Step take turns.
template <int Step, int... I>
GPU_SIMILARITY_INLINE void exchange(vec& a, vec& b, std::integer_sequence<int, I...>) {
  const vec low = __builtin_shufflevector(a, b, ((I & Step) == 0 ? I : I - Step + lanes)...);
  b = __builtin_shufflevector(a, b, ((I & Step) == 0 ? I + Step : I + lanes)...);
  a = low;
}

template <int Step>
GPU_SIMILARITY_INLINE void transpose_step(vec (&v)[lanes]) {
  if constexpr (Step < lanes) {
    for (int i = 0; i < lanes; ++i) {
      if ((i & Step) == 0) {
        exchange<Step>(v[i], v[i + Step], std::make_integer_sequence<int, lanes>());
      }
    }
    transpose_step<2 * Step>(v);
  }
}

// 8 elements of 8 lanes: at[row][part], from and to one array per lane.
struct lane_block {
  vec at[strip_lanes][parts];
};
GPU_SIMILARITY_INLINE void load_lanes(const double* const* from, index_t offset,
                                      lane_block& block) {
  for (int q = 0; q < parts; ++q) {
    for (int p = 0; p < parts; ++p) {
      vec v[lanes];
      for (int i = 0; i < lanes; ++i) v[i] = load(from[q * lanes + i] + offset + p * lanes);
      transpose_step<1>(v);
      for (int i = 0; i < lanes; ++i) block.at[p * lanes + i][q] = v[i];
    }
  }
}
GPU_SIMILARITY_INLINE void store_lanes(const lane_block& block, double* to, index_t lane_stride,
                                       index_t offset) {
  for (int q = 0; q < parts; ++q) {
    for (int p = 0; p < parts; ++p) {
      vec v[lanes];
      for (int i = 0; i < lanes; ++i) v[i] = block.at[p * lanes + i][q];
      transpose_step<1>(v);
      for (int i = 0; i < lanes; ++i) {
        store(to + (q * lanes + i) * lane_stride + offset + p * lanes, v[i]);
      }
    }
  }
}

// `count` elements of each lane's segment from row `first` on; up to 7 more are read.
struct lane_rows {
  static constexpr index_t most = 64;
  const double* row[strip_lanes];
  alignas(64) double staged[strip_lanes * (most + 8)];

  void stage(const strip_request& request, index_t segment, index_t first, index_t count) {
    for (index_t lane = 0; lane < strip_lanes; ++lane) {
      row[lane] = request.stage(request.first + lane * segment + first, count + 8,
                                staged + lane * (most + 8));
    }
  }
};

template <int C>
GPU_SIMILARITY_INLINE void add_elements(sum_row<C>& to, const vec (&elements)[parts]) {
  for (int q = 0; q < parts; ++q) to.part[q] = add_value<C>(to.part[q], elements[q]);
}

// Of one pass: which windows the error of a sum leaves doubtful.
template <int C>
class doubtful_windows {
 public:
  explicit doubtful_windows(index_t window) {
    // A window takes fewer than window + 64 additions; each adds to the error of the low part.
    const double additions = static_cast<double>(window + 64);
    error_ = vec{} + additions * additions * 0x1p-104;
  }
  // Outputs `first` to first + lanes - 1 of the pass.
  GPU_SIMILARITY_INLINE vec rounded(sum<C> s, index_t first) {
    if constexpr (C < 3) {
      return cpu::GPU_SIMILARITY_LEVEL::rounded<C>(s);
    } else {
      int_vec doubtful;
      const vec value = rounded_once(s, error_, doubtful);
      __builtin_memcpy(at_ + first, &doubtful, sizeof(doubtful));
      return value;
    }
  }
  template <class Resolve>
  GPU_SIMILARITY_INLINE void resolve(index_t count, Resolve resolve) const {
    if constexpr (C == 3) {
      for (index_t i = 0; i < count; ++i) {
        if (at_[i] != 0) resolve(i);
      }
    }
  }

 private:
  vec error_;
  long long at_[C == 3 ? most_lane_outputs : 1];
};

template <int C>
class lane_strips {
 public:
  // Outputs that the lanes compute: 0 where the strip is too short to be worth it.
  static index_t lane_outputs(const strip_request& request) {
    const index_t segment = request.outputs / (8 * strip_lanes) * 8;
    // An odd number of cache lines apart, lanes do not fall into the same sets of a cache.
    const index_t odd = segment / 8 % 2 == 0 ? segment - 8 : segment;
    return odd >= 512 && odd >= request.window ? odd : 0;
  }

  lane_strips(const strip_request& request, index_t segment)
      : request_(request), segment_(segment) {
    const index_t w = request.window;
    const index_t most = w < longest_lane_block ? w : longest_lane_block;
    sums_ = (w + most - 1) / most;
    block_ = w / (8 * sums_) * 8;
    rest_ = w - sums_ * block_;
    suffix_ = request.scratch;
    history_ = suffix_ + block_ * row_doubles<C>;
  }

  void run() {
    for (index_t k = 1; k < sums_; ++k) {  // the prefixes of the blocks before the first
      sum_row<C> total = zero_row<C>();
      add_elements_of(request_.window - k * block_, block_, total);
      put_history(-k, total);
    }
    for (index_t b = 0; b * block_ < segment_; ++b) filter_block(b);
  }

 private:
  void filter_block(index_t b) {
    const index_t first = b * block_;
    read_suffixes(first);
    sum_row<C> base = zero_row<C>();
    if (rest_ > 0) add_elements_of(first + block_, rest_, base);
    for (index_t k = b - sums_ + 1; k < b; ++k) add_row<C>(base, get_history(k));
    const index_t left = segment_ - first;
    // Without block sums nobody asks for the bare prefix: it starts from the base.
    sum_row<C> prefix = sums_ == 1 ? base : zero_row<C>();
    const index_t rows = left < block_ ? left : block_;
    for (index_t o = 0; o < rows; o += pass_rows) {
      const index_t count = rows - o < pass_rows ? rows - o : pass_rows;
      const double* suffix = suffix_ + o * row_doubles<C>;
      if (sums_ == 1) {
        write_pass<false>(first + o, count, suffix, base, prefix);
      } else {
        write_pass<true>(first + o, count, suffix, base, prefix);
      }
    }
    if (sums_ > 1) put_history(b, prefix);
  }

  // Suffix sums of the block, from its end.
  void read_suffixes(index_t first) {
    sum_row<C> running = zero_row<C>();
    index_t o = block_;
    while (o > 0) {
      const index_t count = o < pass_rows ? o : pass_rows;
      o -= count;
      rows_.stage(request_, segment_, first + o, count);
      for (index_t k = count - 8; k >= 0; k -= 8) {
        lane_block block;
        load_lanes(rows_.row, k, block);
        for (int i = 7; i >= 0; --i) {
          add_elements<C>(running, block.at[i]);
          put_row<C>(suffix_ + (o + k + i) * row_doubles<C>, strip_lanes, running);
        }
      }
    }
  }

  template <bool AddsBase>
  GPU_SIMILARITY_INLINE void write_pass(index_t first, index_t count, const double* suffix,
                                        const sum_row<C>& base, sum_row<C>& running) {
    rows_.stage(request_, segment_, first + request_.window, count);
    alignas(64) double values[strip_lanes * pass_rows];
    sum_row<C> prefix = running;
    const vec inverse = vec{} + 1.0 / request_.divisor;
    const vec divisor = vec{} + request_.divisor;
    doubtful_windows<C> doubts(request_.window);
    for (index_t k = 0; k < count; k += 8) {
      lane_block block;
      load_lanes(rows_.row, k, block);
      for (int i = 0; i < 8; ++i) {
        sum_row<C> total = get_row<C>(suffix + (k + i) * row_doubles<C>, strip_lanes);
        if (AddsBase) add_row<C>(total, base);
        add_row<C>(total, prefix);
        add_elements<C>(prefix, block.at[i]);
        for (int q = 0; q < parts; ++q) {
          const vec sum_of = doubts.rounded(total.part[q], (k + i) * strip_lanes + q * lanes);
          block.at[i][q] = divided(sum_of, divisor, inverse);
        }
      }
      store_lanes(block, values, pass_rows, k);
    }
    running = prefix;
    doubts.resolve(count * strip_lanes, [&](index_t i) {
      const index_t lane = i % strip_lanes;
      const index_t row = i / strip_lanes;
      values[lane * pass_rows + row] =
          sum_exactly(request_, lane * segment_ + first + row) / request_.divisor;
    });
    for (index_t lane = 0; lane < strip_lanes; ++lane) {
      request_.emit(request_.first + lane * segment_ + first, count, values + lane * pass_rows);
    }
  }

  // Adds `count` rows from row `first` on.
  void add_elements_of(index_t first, index_t count, sum_row<C>& to) {
    for (index_t done = 0; done < count; done += pass_rows) {
      const index_t rows = count - done < pass_rows ? count - done : pass_rows;
      rows_.stage(request_, segment_, first + done, rows);
      for (index_t k = 0; k < rows; k += 8) {
        lane_block block;
        load_lanes(rows_.row, k, block);
        const index_t valid = rows - k < 8 ? rows - k : 8;
        for (index_t i = 0; i < valid; ++i) add_elements<C>(to, block.at[i]);
      }
    }
  }

  double* history_at(index_t b) {
    const index_t slot = (b + sums_) % sums_;
    return history_ + slot * row_doubles<C>;
  }
  void put_history(index_t b, const sum_row<C>& total) {
    put_row<C>(history_at(b), strip_lanes, total);
  }
  sum_row<C> get_history(index_t b) { return get_row<C>(history_at(b), strip_lanes); }

  static constexpr index_t pass_rows = lane_rows::most;
  const strip_request& request_;
  const index_t segment_;
  index_t sums_;   // m
  index_t block_;  // C
  index_t rest_;   // r
  double* suffix_;
  double* history_;  // block sums, in a ring
  lane_rows rows_;
};

}  // namespace
}  // namespace gpu::cpu::GPU_SIMILARITY_LEVEL
