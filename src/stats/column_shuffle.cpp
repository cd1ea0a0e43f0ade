#include "stats/column_shuffle.hpp"

#include <numeric>
#include <utility>

namespace gpu::stats {
namespace {

// The finishing step of SplitMix64: a permutation of the 64-bit numbers that spreads every bit.
std::uint64_t spread(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9U;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBU;
  return x ^ (x >> 31);
}

constexpr std::uint64_t golden_ratio = 0x9E3779B97F4A7C15U;

class counter_stream {
 public:
  counter_stream(std::uint64_t seed, std::uint64_t number)
      : state_(spread(spread(seed + golden_ratio) + number)) {}

  // One of `count` numbers, each as likely: what lies beyond a multiple of `count` is drawn again.
  std::uint64_t below(std::uint64_t count) {
    const std::uint64_t surplus = (0 - count) % count;  // 2^64 modulo count
    for (;;) {
      const std::uint64_t drawn = next();
      if (drawn >= surplus) return drawn % count;
    }
  }

 private:
  std::uint64_t next() { return spread(state_ += golden_ratio); }

  std::uint64_t state_;
};

}  // namespace

void shuffle_columns(std::uint64_t seed, index_t number, std::span<index_t> out) {
  std::iota(out.begin(), out.end(), index_t{0});
  counter_stream stream(seed, static_cast<std::uint64_t>(number));
  for (std::size_t k = out.size(); k > 1; --k) {
    std::swap(out[k - 1], out[static_cast<std::size_t>(stream.below(k))]);
  }
}

}  // namespace gpu::stats
