// std::mdspan as a matrix in host memory, with a standard library that has it: ./dev clang builds
// and runs this with the sources of gpu::matrix alone. What operations make of it is in
// tests/execution/inputs_test.cpp.
#include <array>
#include <cstdio>
#include <mdspan>
#include <type_traits>

#include <gpu/error.hpp>
#include <gpu/matrix_input.hpp>

namespace {

int failures = 0;

void check(bool right, const char* what) {
  if (right) return;
  std::fprintf(stderr, "mdspan: %s\n", what);
  ++failures;
}

template <class Call>
bool refuses(const Call& call) {
  try {
    call();
  } catch (const gpu::invalid_argument&) {
    return true;
  }
  return false;
}

using any_extents = std::dextents<int, 2>;
template <class Layout>
using matrix_of = std::mdspan<double, any_extents, Layout>;

static_assert(gpu::matrix_like<matrix_of<std::layout_right>>);
static_assert(gpu::matrix_like<matrix_of<std::layout_stride>>);
static_assert(gpu::matrix_like<std::mdspan<const float, std::extents<std::size_t, 3, 5>>>);
static_assert(!gpu::matrix_like<matrix_of<std::layout_left>>);
static_assert(gpu::column_matrix_like<matrix_of<std::layout_left>>);
static_assert(!gpu::matrix_like<std::mdspan<double, std::dextents<int, 1>>>);
static_assert(!gpu::matrix_like<std::mdspan<double, std::dextents<int, 3>>>);
static_assert(gpu::detail::output_matrix<matrix_of<std::layout_right>>);
static_assert(!gpu::detail::output_matrix<std::mdspan<const double, any_extents>>);

void check_layouts() {
  std::array<double, 21> cells{};
  const auto whole = gpu::view_of(std::mdspan(cells.data(), 3, 7));
  static_assert(std::is_same_v<decltype(whole), const gpu::matrix_view<double>>);
  check(whole.data() == cells.data() && whole.rows() == 3 && whole.cols() == 7 &&
            whole.row_stride() == 7,
        "layout_right");
  const std::mdspan<const double, std::extents<std::size_t, 3, 7>> fixed(cells.data());
  check(gpu::view_of(fixed).cols() == 7, "extents known to the compiler");

  const any_extents part(3, 5);
  const std::layout_stride::mapping rows_apart(part, std::array{7, 1});
  const auto block = gpu::view_of(std::mdspan(cells.data() + 1, rows_apart));
  check(block.rows() == 3 && block.cols() == 5 && block.row_stride() == 7, "columns 1 to 5");

  const std::mdspan<const double, any_extents, std::layout_left> turned(cells.data(), part);
  const auto columns = gpu::transposed(turned);
  static_assert(std::is_same_v<decltype(columns), const gpu::matrix_view<const double>>);
  check(columns.rows() == 5 && columns.cols() == 3 && columns.row_stride() == 3, "layout_left");

  const std::layout_stride::mapping columns_apart(any_extents(3, 3), std::array{7, 2});
  check(refuses([&] { static_cast<void>(gpu::view_of(std::mdspan(cells.data(), columns_apart))); }),
        "every other column is refused");
  const std::layout_stride::mapping one_column(any_extents(3, 1), std::array{7, 2});
  check(gpu::view_of(std::mdspan(cells.data(), one_column)).row_stride() == 7, "one column");
  const std::layout_stride::mapping one_row(any_extents(1, 5), std::array{1, 1});
  check(gpu::view_of(std::mdspan(cells.data(), one_row)).cols() == 5, "one row");
  check(gpu::view_of(std::mdspan(cells.data(), 0, 5)).empty(), "no rows");
  check(gpu::view_of(std::mdspan(cells.data(), 3, 0)).empty(), "no columns");
}

}  // namespace

int main() {
  check_layouts();
  return failures == 0 ? 0 : 1;
}
