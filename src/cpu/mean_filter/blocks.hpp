// Sums of blocks along a row, included by body.hpp (and compiled with it once per
// instruction set).
//
// Elements are taken 8 at a time as rows. T(J)[l] is the sum of the 8 elements from 8 J + l on,
// built by doubling (1, 2, 4, 8 elements). A window of w = 8 q + r elements is q of these rows,
// I to I + q - 1, lane by lane, and r elements more at row I + q, taken from the sums of 4, 2 and
// 1. The q rows are summed as van Herk and Gil-Werman do for minima: with rows in blocks of q (or
// fewer), a window is a suffix of one block, whole blocks, and a prefix of the last; suffixes and
// prefixes are running sums inside a block, so nothing outside a window ever enters its sum.
// Additions per output: 3 (doubling) + 2 (suffix, prefix) + 1 to 4 (joining), whatever w is.

namespace gpu::cpu::GPU_SIMILARITY_LEVEL {
namespace {

// The sums of 1, 2, 4 and 8 elements from each element of one pass.
constexpr index_t level_doubles = strip_pass_elements + 32;
struct levels {
  const double* one;
  double two[3 * level_doubles];
  double four[3 * level_doubles];
  double eight[3 * level_doubles];
  double staged[level_doubles];
};

template <int C>
GPU_SIMILARITY_INLINE void double_level(const double* from, double* to, index_t shift,
                                        index_t count) {
  for (index_t e = 0; e < count; e += lanes) {
    put<C>(to + e, level_doubles,
           add<C>(get<C>(from + e, level_doubles), get<C>(from + e + shift, level_doubles)));
  }
}

// Fills the levels for rows first_row to first_row + rows - 1, as far as a window of 8 q + r needs
// them: `eight` where q > 0, the others where their bit of r is set or a longer one needs them.
template <int C>
void fill_levels(levels& at, const strip_request& request, index_t first_row, index_t rows,
                 bool has_eight, index_t rest) {
  const index_t count = rows * strip_lanes;
  at.one =
      request.stage(request.first + first_row * strip_lanes, count + strip_overread, at.staged);
  if (!has_eight && rest < 2) return;
  for (index_t e = 0; e < count + 16; e += lanes) {
    const sum<C> a{load(at.one + e)};
    const sum<C> b{load(at.one + e + 1)};
    put<C>(at.two + e, level_doubles, add<C>(a, b));
  }
  if (!has_eight && rest < 4) return;
  double_level<C>(at.two, at.four, 2, count + 8);
  if (has_eight) double_level<C>(at.four, at.eight, 4, count);
}

// Adds the last r < 8 elements of the windows whose q rows end before pass row `row`.
template <int C>
GPU_SIMILARITY_INLINE void add_rest(sum_row<C>& to, const levels& at, index_t row, index_t rest) {
  index_t e = row * strip_lanes;
  if (rest & 4) {
    add_row<C>(to, get_row<C>(at.four + e, level_doubles));
    e += 4;
  }
  if (rest & 2) {
    add_row<C>(to, get_row<C>(at.two + e, level_doubles));
    e += 2;
  }
  if (rest & 1) {
    for (int i = 0; i < parts; ++i) {
      to.part[i] = add_value<C>(to.part[i], load(at.one + e + i * lanes));
    }
  }
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
  long long at_[C == 3 ? strip_pass_elements : 1];
};

template <int C>
class strip {
 public:
  explicit strip(const strip_request& request)
      : request_(request),
        q_(request.window / strip_lanes),
        rest_(request.window % strip_lanes),
        block_(q_ < strip_block_rows ? q_ : strip_block_rows),
        whole_(block_ == 0 ? 0 : (q_ - block_) / block_),
        output_rows_((request.outputs + strip_lanes - 1) / strip_lanes) {
    history_rows_ = 1;
    while (history_rows_ < block_ + strip_pass_rows) history_rows_ *= 2;
    history_ = request.scratch;
    suffix_ = history_ + history_rows_ * row_doubles<C>;
    block_sums_ = suffix_ + block_ * row_doubles<C>;
  }

  void run() {
    if (q_ > block_) sum_blocks();
    for (index_t row = -q_; row < output_rows_; row += strip_pass_rows) {
      if (q_ > block_ && row + strip_pass_rows <= 0) continue;  // only the history needs these
      const index_t last = output_rows_ - row;
      pass(row, last < strip_pass_rows ? last : strip_pass_rows);
    }
  }

 private:
  // Rows I + q of the outputs I = first to first + rows - 1; negative I only feed the history.
  GPU_SIMILARITY_INLINE void pass(index_t first, index_t rows) {
    fill_levels<C>(levels_, request_, first + q_, rows, q_ > 0, rest_);
    alignas(64) double values[strip_pass_elements];
    index_t emitted_from = -1;
    sum_row<C> prefix = prefix_;
    const vec divisor = vec{} + request_.divisor;
    const vec inverse = vec{} + 1.0 / request_.divisor;
    doubtful_windows<C> doubts(request_.window);
    for (index_t k = 0; k < rows; ++k) {
      const index_t output = first + k;
      if (output >= 0) {
        if (emitted_from < 0) emitted_from = k;
        sum_row<C> total = zero_row<C>();
        if (q_ > 0) {
          if (position_ == 0) prefix = start_block(output);
          total = get_row<C>(suffix_ + position_ * row_doubles<C>, strip_lanes);
          add_row<C>(total, prefix);
          if (++position_ == block_) position_ = 0;
        }
        if (rest_ != 0) add_rest<C>(total, levels_, k, rest_);
        for (int i = 0; i < parts; ++i) {
          const index_t at = (k - emitted_from) * strip_lanes + i * lanes;
          store(values + at, divided(doubts.rounded(total.part[i], at), divisor, inverse));
        }
      }
      if (q_ > 0) {
        const sum_row<C> here = get_row<C>(levels_.eight + k * strip_lanes, level_doubles);
        put_row<C>(history(output + q_), strip_lanes, here);
        if (output >= 0) add_row<C>(prefix, here);
      }
    }
    prefix_ = prefix;
    if (emitted_from < 0) return;
    const index_t from = (first + emitted_from) * strip_lanes;
    const index_t count = (rows - emitted_from) * strip_lanes;
    const index_t left = request_.outputs - from;
    const index_t valid = count < left ? count : left;
    doubts.resolve(
        valid, [&](index_t i) { values[i] = sum_exactly(request_, from + i) / request_.divisor; });
    request_.emit(request_.first + from, valid, values);
  }

  // Suffix sums of the block that starts at row `row`; returns the sum of what its windows hold
  // between the block and row + q.
  sum_row<C> start_block(index_t row) {
    if (q_ > block_) read_rows(row, block_);
    sum_row<C> running = zero_row<C>();
    for (index_t o = block_ - 1; o >= 0; --o) {
      add_row<C>(running, get_row<C>(history(row + o), strip_lanes));
      put_row<C>(suffix_ + o * row_doubles<C>, strip_lanes, running);
    }
    sum_row<C> between = zero_row<C>();
    if (q_ == block_) return between;
    const index_t next = row / block_ + 1;
    for (index_t b = next; b < next + whole_; ++b) {
      add_row<C>(between, get_row<C>(block_sums_ + b * row_doubles<C>, strip_lanes));
    }
    add_rows((next + whole_) * block_, row + q_, between);
    return between;
  }

  // The rows first to first + count - 1, read again into the history.
  void read_rows(index_t first, index_t count) {
    for (index_t row = first; row < first + count; row += strip_pass_rows) {
      const index_t left = first + count - row;
      const index_t rows = left < strip_pass_rows ? left : strip_pass_rows;
      fill_levels<C>(reread_, request_, row, rows, true, 0);
      for (index_t k = 0; k < rows; ++k) {
        put_row<C>(history(row + k), strip_lanes,
                   get_row<C>(reread_.eight + k * strip_lanes, level_doubles));
      }
    }
  }

  void add_rows(index_t first, index_t end, sum_row<C>& to) {
    for (index_t row = first; row < end; row += strip_pass_rows) {
      const index_t rows = end - row < strip_pass_rows ? end - row : strip_pass_rows;
      fill_levels<C>(reread_, request_, row, rows, true, 0);
      for (index_t k = 0; k < rows; ++k) {
        add_row<C>(to, get_row<C>(reread_.eight + k * strip_lanes, level_doubles));
      }
    }
  }

  // Windows longer than a block's limit: the sums of all whole blocks.
  void sum_blocks() {
    const index_t blocks = (output_rows_ + q_) / block_;
    for (index_t b = 1; b < blocks; ++b) {
      sum_row<C> total = zero_row<C>();
      add_rows(b * block_, (b + 1) * block_, total);
      put_row<C>(block_sums_ + b * row_doubles<C>, strip_lanes, total);
    }
  }

  GPU_SIMILARITY_INLINE double* history(index_t row) {
    return history_ + (row & (history_rows_ - 1)) * row_doubles<C>;
  }

  const strip_request& request_;
  const index_t q_;      // whole rows of a window
  const index_t rest_;   // elements beyond them
  const index_t block_;  // rows of a block
  const index_t whole_;  // whole blocks in every window beyond its own block
  const index_t output_rows_;
  index_t history_rows_;
  index_t position_ = 0;  // of the output row in its block
  double* history_;       // the last rows, in a ring
  double* suffix_;
  double* block_sums_;
  sum_row<C> prefix_ = {};
  levels levels_;
  levels reread_;
};

}  // namespace
}  // namespace gpu::cpu::GPU_SIMILARITY_LEVEL
