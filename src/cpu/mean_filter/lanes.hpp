// Long strips of doubles side by side, included by body.hpp (and compiled with it once per
// instruction set): a strip is cut into 8 segments, one a lane; a row is one element of each. So
// the running sums of a row's 8 windows are plain vertical additions.

namespace gpu::cpu::GPU_SIMILARITY_LEVEL {
namespace {

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

// Outputs of a segment: 0 where the strip is too short to be worth it.
inline index_t segment_outputs(const strip_request& request) {
  const index_t segment = request.outputs / (8 * strip_lanes) * 8;
  // An odd number of cache lines apart, lanes do not fall into the same sets of a cache.
  const index_t odd = segment / 8 % 2 == 0 ? segment - 8 : segment;
  return odd >= 512 && odd >= request.window ? odd : 0;
}

}  // namespace
}  // namespace gpu::cpu::GPU_SIMILARITY_LEVEL
