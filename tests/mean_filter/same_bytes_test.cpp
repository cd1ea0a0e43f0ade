// The bytes of a moving mean depend on input and options alone: not on where the output lies, nor
// on the number of threads.
#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <span>
#include <vector>

#include <gpu/mean_filter.hpp>

#include "support/catch.hpp"

namespace {

using gpu::index_t;

// Normal values with two that cancel to the last bit inside one window, where sums lose most.
std::vector<double> cancelling_values(std::size_t size) {
  std::mt19937_64 random(12);
  std::normal_distribution<double> normal;
  std::vector<double> values(size);
  for (double& value : values) value = normal(random);
  values[size / 3] = 1e17;
  values[size / 3 + 500] = -1e17;
  return values;
}

std::vector<double> means_at(const std::vector<double>& x, std::size_t offset, int threads,
                             index_t window) {
  std::vector<double> room(x.size() + 16);
  const std::span<double> out(room.data() + offset, x.size());
  gpu::mean_filter(x, out,
                   {.window = window,
                    .variant = gpu::mean_filter_variant::block_sums,
                    .exec = {.target = gpu::backend::cpu, .cpu_threads = threads}});
  return {out.begin(), out.end()};
}

std::size_t different_bits(const std::vector<double>& a, const std::vector<double>& b) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < a.size(); ++i) count += std::memcmp(&a[i], &b[i], 8) != 0 ? 1U : 0U;
  return count;
}

}  // namespace

TEST_CASE("Means have the same bytes wherever they go, by however many threads", "[mean_filter]") {
  for (const std::size_t size : {std::size_t{10000}, std::size_t{70001}}) {
    const std::vector<double> x = cancelling_values(size);
    for (const index_t window : {2, 7, 64, 2048, 9001}) {
      const std::vector<double> expected = means_at(x, 0, 1, window);
      for (const int threads : {1, 2, 3, 8}) {
        for (const std::size_t offset : {0U, 1U, 2U, 3U, 5U, 7U, 8U}) {
          INFO("size " << size << " window " << window << " threads " << threads << " offset "
                       << offset);
          CHECK(different_bits(means_at(x, offset, threads, window), expected) == 0);
        }
      }
    }
  }
}

TEST_CASE("Doubles of float input are those of the same values as doubles", "[mean_filter]") {
  std::vector<float> x;
  for (const double value : cancelling_values(20000)) x.push_back(static_cast<float>(value));
  const std::vector<double> wide(x.begin(), x.end());
  for (const index_t window : {1, 3, 17, 100, 2048, 9000, 39999}) {
    const gpu::mean_filter_options options{.window = window, .exec = {.target = gpu::backend::cpu}};
    std::vector<double> means(x.size());
    gpu::mean_filter(x, means, options);
    INFO("window " << window);
    CHECK(different_bits(means, gpu::mean_filter(wide, options)) == 0);
  }
}
