#pragma once
// What random calls are drawn from, and how a wrong answer is told.

#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <random>
#include <stdexcept>
#include <string>

#include <gpu/index.hpp>

namespace gpu_test {

/// An answer that is not the one wanted.
class wrong_answer : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

inline void expect(bool holds, const std::string& what) {
  if (!holds) throw wrong_answer(what);
}

/// What a call draws from, and the sizes that it keeps to.
class dice {
 public:
  dice(std::uint64_t seed, gpu::index_t most_rows) : random_(seed), most_rows_(most_rows) {}

  /// Uniform in [low, high].
  gpu::index_t between(gpu::index_t low, gpu::index_t high) {
    return std::uniform_int_distribution<gpu::index_t>(low, high < low ? low : high)(random_);
  }
  template <class T>
  T one_of(std::initializer_list<T> all) {
    return *std::next(all.begin(), between(0, static_cast<gpu::index_t>(all.size()) - 1));
  }
  bool coin() { return between(0, 1) == 1; }
  std::uint64_t seed() { return random_(); }
  /// Rows of a table; 16 at least at the smallest size.
  gpu::index_t rows() { return between(1, most_rows_); }
  [[nodiscard]] gpu::index_t most_rows() const { return most_rows_; }

 private:
  std::mt19937_64 random_;
  gpu::index_t most_rows_;
};

}  // namespace gpu_test
