#include <type_traits>
#include <vector>

#include <gpu/error.hpp>
#include <gpu/execution.hpp>
#include <gpu/matrix.hpp>

#include "support/catch.hpp"

static_assert(std::is_convertible_v<gpu::matrix_view<int>, gpu::matrix_view<const int>>);
static_assert(!std::is_convertible_v<gpu::matrix_view<const int>, gpu::matrix_view<int>>);
static_assert(!std::is_constructible_v<gpu::device_matrix_view<int>, gpu::matrix_view<int>>);
static_assert(!std::is_constructible_v<gpu::matrix_view<int>, gpu::device_matrix_view<int>>);
static_assert(std::is_trivially_copyable_v<gpu::device_matrix_view<float>>);
static_assert(!std::is_constructible_v<gpu::stream_ref, std::nullptr_t>);

TEST_CASE("A view refuses extents that cannot be", "[views]") {
  std::vector<int> data(6);
  CHECK_THROWS_AS((gpu::matrix_view<int>(data.data(), -1, 3)), gpu::invalid_argument);
  CHECK_THROWS_AS((gpu::matrix_view<int>(data.data(), 2, 3, 2)), gpu::invalid_argument);
  CHECK_THROWS_AS((gpu::matrix_view<int>(nullptr, 2, 3)), gpu::invalid_argument);
  CHECK_NOTHROW(gpu::matrix_view<int>(nullptr, 0, 3));
}

TEST_CASE("A matrix that no memory can hold is refused", "[views]") {
  CHECK_THROWS_AS((gpu::matrix<double>(gpu::index_t{1} << 40, gpu::index_t{1} << 40)),
                  gpu::out_of_memory);
  CHECK_THROWS_AS((gpu::matrix<double>(-1, 2)), gpu::invalid_argument);
}

TEST_CASE("A view with a row stride addresses its rows", "[views]") {
  std::vector<int> data{1, 2, 3, -1, 4, 5, 6, -1};
  const gpu::matrix_view<int> view(data.data(), 2, 3, 4);
  CHECK(view(1, 0) == 4);
  CHECK(view.row(1)[2] == 6);
}
