// Few rows against many, whose statistics are computed while the many are prepared: the bits of the
// CPU, around the edges of warps, of groups of rows and of short rows.
#include <cstdint>
#include <limits>

#include "pairs/device_results.hpp"

namespace {

using gpu::index_t;
using gpu_test::device_table;

// Random rows, one of zeros, one that has a NaN, and one whose elements are far apart.
template <class T>
gpu::matrix<T> hard_rows(index_t rows, index_t cols, std::uint64_t seed) {
  auto out = gpu_test::random_matrix<T>(rows, cols, seed);
  for (index_t k = 0; k < cols; ++k) {
    if (rows > 2) out(2, k) = 0;
    if constexpr (std::is_floating_point_v<T>) {
      constexpr T tiny = std::numeric_limits<T>::min();
      if (rows > 4 && k % 3 != 0) out(4, k) *= tiny;
    }
  }
  if constexpr (std::is_floating_point_v<T>) {
    if (rows > 3) out(3, cols - 1) = std::numeric_limits<T>::quiet_NaN();
  }
  return out;
}

template <class T>
void check_shape(index_t few, index_t many, index_t cols, std::uint64_t seed) {
  INFO(few << " x " << many << " x " << cols << " of " << sizeof(T) << " bytes");
  const auto x = hard_rows<T>(few, cols, seed);
  const auto y = hard_rows<T>(many, cols, seed + 1);
  const gpu_test::test_stream stream;
  const device_table<T> on_device(x, few % 3);
  const device_table<T> other(y, many % 2);
  for (const gpu::measure what : {gpu::measure::pearson, gpu::measure::cosine}) {
    gpu::pair_options options{.nans = gpu::nan_policy::propagate};
    options.exec.target = gpu::backend::cpu;
    const auto wanted = gpu::all_pairs(what, x, y, options, gpu::dense_sink{});
    const auto wanted_edges =
        gpu::all_pairs(what, x, y, options, gpu::edge_sink{.keep = {.min_abs = 0.2}});
    options.exec = {.target = gpu::backend::cuda, .stream = stream.get()};
    const gpu_test::device_call<device_table<T>> call{what, on_device, &other, options};
    CHECK(gpu_test::same_values(call.template dense<double>(few, few % 2), wanted));
    CHECK(gpu_test::same_list(call.run(gpu::edge_sink{.keep = {.min_abs = 0.2}}).edges,
                              wanted_edges.edges));
    gpu_test::check_device_results(call, {.min_abs = 0.3}, 3, few % 2, 1e-5);
  }
}

}  // namespace

TEST_CASE("Few rows against many have the bits of the CPU", "[pairs][device]") {
  std::uint64_t seed = 1;
  for (const index_t cols : {3, 8, 16, 127, 128, 129, 1000, 4000}) {
    for (const index_t few : {1, 4, 5, 17, 128}) {
      check_shape<float>(few, seed % 2 == 0 ? 33 : 700, cols, seed);
      check_shape<double>(few, 31, cols, seed + 100);
      check_shape<std::int8_t>(few, 65, cols, seed + 200);
      ++seed;
    }
  }
  check_shape<float>(1, 300, 5000, seed);
  check_shape<float>(3, 300, 4001, seed + 1);
}
