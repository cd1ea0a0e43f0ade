// The loops of the moving mean, compiled once per instruction set: the including file defines
// GPU_SIMILARITY_LEVEL (a namespace) and GPU_SIMILARITY_VECTOR_BYTES. No include guard, and no
// function of the standard library: an inline one compiled here could be the copy that the linker
// keeps for machines without these instructions.
//
// Elements are taken 8 at a time as rows. T(J)[l] is the sum of the 8 elements from 8 J + l on,
// built by doubling (1, 2, 4, 8 elements). A window of w = 8 q + r elements is q of these rows,
// I to I + q - 1, lane by lane, and r elements more at row I + q, taken from the sums of 4, 2 and
// 1. The q rows are summed as van Herk and Gil-Werman do for minima: with rows in blocks of q (or
// fewer), a window is a suffix of one block, whole blocks, and a prefix of the last; suffixes and
// prefixes are running sums inside a block, so nothing outside a window ever enters its sum.
// Additions per output: 3 (doubling) + 2 (suffix, prefix) + 1 to 4 (joining), whatever w is.

#if GPU_SIMILARITY_VECTOR_BYTES > 16 || defined(__x86_64__)
#include <immintrin.h>
#endif

#include "cpu/mean_filter_strip.hpp"

namespace gpu::cpu::GPU_SIMILARITY_LEVEL {
namespace {

#define GPU_SIMILARITY_INLINE inline __attribute__((always_inline))

typedef double vec __attribute__((vector_size(GPU_SIMILARITY_VECTOR_BYTES)));
typedef double loose_vec
    __attribute__((vector_size(GPU_SIMILARITY_VECTOR_BYTES), aligned(8), may_alias));
constexpr int lanes = GPU_SIMILARITY_VECTOR_BYTES / 8;
constexpr int parts = static_cast<int>(strip_lanes) / lanes;

GPU_SIMILARITY_INLINE vec load(const double* p) {
  return *reinterpret_cast<const loose_vec*>(p);
}
GPU_SIMILARITY_INLINE void store(double* p, vec v) {
  *reinterpret_cast<loose_vec*>(p) = v;
}

// A sum as one or two doubles: the second holds what rounding lost (Knuth's exact sum of two).
template <bool Compensated>
struct sum {
  vec high;
  vec low;
};

template <bool Compensated>
GPU_SIMILARITY_INLINE sum<Compensated> add(sum<Compensated> a, sum<Compensated> b) {
  const vec high = a.high + b.high;
  if constexpr (!Compensated) {
    return {high, vec{}};
  } else {
    const vec part = high - a.high;
    const vec lost = (a.high - (high - part)) + (b.high - part);
    return {high, (a.low + b.low) + lost};
  }
}

// As above for one element: its low part would be 0.
template <bool Compensated>
GPU_SIMILARITY_INLINE sum<Compensated> add_value(sum<Compensated> a, vec b) {
  const vec high = a.high + b;
  if constexpr (!Compensated) {
    return {high, vec{}};
  } else {
    const vec part = high - a.high;
    const vec lost = (a.high - (high - part)) + (b - part);
    return {high, a.low + lost};
  }
}

// Arrays of sums: the low parts stand `Stride` doubles after the high ones.
template <bool Compensated>
GPU_SIMILARITY_INLINE sum<Compensated> get(const double* p, index_t stride) {
  if constexpr (Compensated) {
    return {load(p), load(p + stride)};
  } else {
    return {load(p), vec{}};
  }
}
template <bool Compensated>
GPU_SIMILARITY_INLINE void put(double* p, index_t stride, sum<Compensated> s) {
  store(p, s.high);
  if constexpr (Compensated) store(p + stride, s.low);
}

// high alone where the sum is infinite or NaN: what was lost is NaN there.
template <bool Compensated>
GPU_SIMILARITY_INLINE vec rounded(sum<Compensated> s) {
  if constexpr (!Compensated) {
    return s.high;
  } else {
    const vec total = s.high + s.low;
    return total == total ? total : s.high;
  }
}

// sum / divisor, correctly rounded from the rounded inverse where there is a fused multiply-add
// (Markstein); the first estimate alone where it is infinite or NaN.
GPU_SIMILARITY_INLINE vec divided(vec sum_of, vec divisor, vec inverse) {
#if GPU_SIMILARITY_VECTOR_BYTES == 64
  const vec estimate = sum_of * inverse;
  const vec rest = _mm512_fnmadd_pd(estimate, divisor, sum_of);
  return rest == rest ? _mm512_fmadd_pd(rest, inverse, estimate) : estimate;
#elif GPU_SIMILARITY_VECTOR_BYTES == 32
  const vec estimate = sum_of * inverse;
  const vec rest = _mm256_fnmadd_pd(estimate, divisor, sum_of);
  return rest == rest ? _mm256_fmadd_pd(rest, inverse, estimate) : estimate;
#else
  static_cast<void>(inverse);
  return sum_of / divisor;
#endif
}

// One row: 8 sums.
template <bool Compensated>
struct sum_row {
  sum<Compensated> part[parts];
};
template <bool C>
GPU_SIMILARITY_INLINE sum_row<C> get_row(const double* p, index_t stride) {
  sum_row<C> row;
  for (int i = 0; i < parts; ++i) row.part[i] = get<C>(p + i * lanes, stride);
  return row;
}
template <bool C>
GPU_SIMILARITY_INLINE void put_row(double* p, index_t stride, const sum_row<C>& row) {
  for (int i = 0; i < parts; ++i) put<C>(p + i * lanes, stride, row.part[i]);
}
template <bool C>
GPU_SIMILARITY_INLINE void add_row(sum_row<C>& to, const sum_row<C>& row) {
  for (int i = 0; i < parts; ++i) to.part[i] = add<C>(to.part[i], row.part[i]);
}
template <bool C>
GPU_SIMILARITY_INLINE sum_row<C> zero_row() {
  sum_row<C> row;
  for (int i = 0; i < parts; ++i) row.part[i] = {vec{}, vec{}};
  return row;
}

// In a buffer of rows a row's high parts stand first, then its low parts.
template <bool C>
constexpr index_t row_doubles = C ? 2 * strip_lanes : strip_lanes;

// The sums of 1, 2, 4 and 8 elements from each element of one pass.
constexpr index_t level_doubles = strip_pass_elements + 32;
struct levels {
  const double* one;
  double two[2 * level_doubles];
  double four[2 * level_doubles];
  double eight[2 * level_doubles];
  double staged[level_doubles];
};

template <bool C>
GPU_SIMILARITY_INLINE void double_level(const double* from, double* to, index_t shift,
                                        index_t count) {
  for (index_t e = 0; e < count; e += lanes) {
    put<C>(to + e, level_doubles,
           add<C>(get<C>(from + e, level_doubles), get<C>(from + e + shift, level_doubles)));
  }
}

// Fills the levels for rows first_row to first_row + rows - 1, as far as a window of 8 q + r needs
// them: `eight` where q > 0, the others where their bit of r is set or a longer one needs them.
template <bool C>
void fill_levels(levels& at, const strip_request& request, index_t first_row, index_t rows,
                 bool has_eight, index_t rest) {
  const index_t count = rows * strip_lanes;
  at.one = request.stage(request.context, request.first + first_row * strip_lanes,
                         count + strip_overread, at.staged);
  if (!has_eight && rest < 2) return;
  for (index_t e = 0; e < count + 16; e += lanes) {
    const sum<C> a{load(at.one + e), vec{}};
    const sum<C> b{load(at.one + e + 1), vec{}};
    put<C>(at.two + e, level_doubles, add<C>(a, b));
  }
  if (!has_eight && rest < 4) return;
  double_level<C>(at.two, at.four, 2, count + 8);
  if (has_eight) double_level<C>(at.four, at.eight, 4, count);
}

// Adds the last r < 8 elements of the windows whose q rows end before pass row `row`.
template <bool C>
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

template <bool C>
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
          store(values + (k - emitted_from) * strip_lanes + i * lanes,
                divided(rounded<C>(total.part[i]), divisor, inverse));
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
    request_.emit(request_.context, request_.first + from, count < left ? count : left, values);
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

#include "cpu/mean_filter_lanes.hpp"

namespace gpu::cpu::GPU_SIMILARITY_LEVEL {
namespace {

// Windows below 8 elements: each from its elements.
template <bool C, int Window>
void run_short_window(const strip_request& request) {
  const vec divisor = vec{} + request.divisor;
  const vec inverse = vec{} + 1.0 / request.divisor;
  double staged[level_doubles];
  alignas(64) double values[strip_pass_elements];
  for (index_t first = 0; first < request.outputs; first += strip_pass_elements) {
    const index_t left = request.outputs - first;
    const index_t count = left < strip_pass_elements ? left : strip_pass_elements;
    const index_t rounded_up = (count + strip_lanes - 1) / strip_lanes * strip_lanes;
    const double* from =
        request.stage(request.context, request.first + first, rounded_up + strip_lanes, staged);
    for (index_t i = 0; i < rounded_up; i += strip_lanes) {
      sum_row<C> total;
      for (int q = 0; q < parts; ++q) {
        total.part[q] = {load(from + i + q * lanes), vec{}};
        for (int k = 1; k < Window; ++k) {
          total.part[q] = add_value<C>(total.part[q], load(from + i + k + q * lanes));
        }
        store(values + i + q * lanes, divided(rounded<C>(total.part[q]), divisor, inverse));
      }
    }
    request.emit(request.context, request.first + first, count, values);
  }
}

template <bool C>
void run_strip(const strip_request& request) {
  switch (request.window) {
    case 1:
      return run_short_window<C, 1>(request);
    case 2:
      return run_short_window<C, 2>(request);
    case 3:
      return run_short_window<C, 3>(request);
    case 4:
      return run_short_window<C, 4>(request);
    case 5:
      return run_short_window<C, 5>(request);
    case 6:
      return run_short_window<C, 6>(request);
    case 7:
      return run_short_window<C, 7>(request);
    default:
      break;
  }
  strip_request rest = request;
  if (C || request.window >= 64) {
    const index_t segment = lane_strips<C>::lane_outputs(request);
    if (segment > 0) {
      lane_strips<C> work(request, segment);
      work.run();
      rest.first += segment * strip_lanes;
      rest.outputs -= segment * strip_lanes;
    }
  }
  if (rest.outputs == 0) return;
  strip<C> work(rest);
  work.run();
}

// Past the caches: whole vectors from the first aligned one on.
void copy_streaming(void* to, const void* from, index_t bytes) {
  auto* target = static_cast<char*>(to);
  const auto* source = static_cast<const char*>(from);
  index_t done = 0;
#if defined(__x86_64__)
  constexpr index_t step = GPU_SIMILARITY_VECTOR_BYTES;
  const auto address = reinterpret_cast<unsigned long long>(target);
  const index_t head = static_cast<index_t>((step - address % step) % step);
  if (head < bytes) {
    __builtin_memcpy(target, source, static_cast<unsigned long>(head));
    for (done = head; done + step <= bytes; done += step) {
#if GPU_SIMILARITY_VECTOR_BYTES == 64
      _mm512_stream_si512(reinterpret_cast<__m512i*>(target + done),
                          _mm512_loadu_si512(source + done));
#elif GPU_SIMILARITY_VECTOR_BYTES == 32
      _mm256_stream_si256(reinterpret_cast<__m256i*>(target + done),
                          _mm256_loadu_si256(reinterpret_cast<const __m256i*>(source + done)));
#else
      _mm_stream_si128(reinterpret_cast<__m128i*>(target + done),
                       _mm_loadu_si128(reinterpret_cast<const __m128i*>(source + done)));
#endif
    }
  }
#endif
  __builtin_memcpy(target + done, source + done, static_cast<unsigned long>(bytes - done));
}

void correlate(const double* elements, const double* weights, index_t weight_count, index_t count,
               double* values) {
  constexpr index_t unroll = 4 * lanes;
  index_t i = 0;
  for (; i + unroll <= count; i += unroll) {
    vec total[4] = {};
    for (index_t k = 0; k < weight_count; ++k) {
      for (int part = 0; part < 4; ++part) {
        total[part] += weights[k] * load(elements + i + k + part * lanes);
      }
    }
    for (int part = 0; part < 4; ++part) store(values + i + part * lanes, total[part]);
  }
  for (; i < count; ++i) {
    double total = 0;
    for (index_t k = 0; k < weight_count; ++k) total += weights[k] * elements[i + k];
    values[i] = total;
  }
}

}  // namespace

extern const strip_kernels strips;
const strip_kernels strips = {run_strip<true>, run_strip<false>, correlate, copy_streaming};

}  // namespace gpu::cpu::GPU_SIMILARITY_LEVEL
