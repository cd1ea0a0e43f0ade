// Extents of any integer type, as users have them, without a warning.
#include <cstddef>
#include <vector>

#include <gpu/similarity.hpp>

void use(const std::vector<int>& values, const int* data, std::size_t rows, std::size_t cols,
         int few, unsigned some, long long many) {
  const gpu::matrix_view<const int> x{data, rows, cols};
  const gpu::matrix_view<const int> strided{data, rows, few, cols};
  const gpu::matrix_view<const int> of_values{values.data(), 3, values.size() / 3};
  const gpu::device_matrix_view<const int> on_device{data, some, many};
  const gpu::device_vector_view<const int> vector{data, values.size()};
  const gpu::matrix<float> own(rows, few);
  const gpu::matrix<float> other{some, many};
  const auto viewed = gpu::as_matrix(values, rows, few);
  static_cast<void>(gpu::spearman_all_pairs(x, gpu::edge_sink{.keep = {.max_p = 1e-6}}));
  static_cast<void>(strided);
  static_cast<void>(of_values);
  static_cast<void>(on_device);
  static_cast<void>(vector);
  static_cast<void>(viewed);
}
