#pragma once
// Arrays of Python on the way in, arrays of the library on the way out. Neither way copies.

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <variant>

#include <gpu/matrix_view.hpp>

namespace gpu_python {

namespace nb = nanobind;

// A view of one of the element types that the operations take.
using any_host_view =
    std::variant<gpu::matrix_view<const std::int8_t>, gpu::matrix_view<const std::int16_t>,
                 gpu::matrix_view<const std::int32_t>, gpu::matrix_view<const std::uint8_t>,
                 gpu::matrix_view<const std::uint16_t>, gpu::matrix_view<const float>,
                 gpu::matrix_view<const double>>;

// The same in device memory.
using any_device_view =
    std::variant<gpu::device_matrix_view<std::int8_t>, gpu::device_matrix_view<std::int16_t>,
                 gpu::device_matrix_view<std::int32_t>, gpu::device_matrix_view<std::uint8_t>,
                 gpu::device_matrix_view<std::uint16_t>, gpu::device_matrix_view<float>,
                 gpu::device_matrix_view<double>>;

// Device memory as (address, rows, cols, elements from row to row, type character), which the
// Python side reads from the array; it keeps the array alive.
[[nodiscard]] any_device_view device_view(const nb::tuple& described);

// The view as one of T, or a TypeError.
template <class T>
[[nodiscard]] gpu::device_matrix_view<T> device_view_of(const nb::tuple& described) {
  const any_device_view view = device_view(described);
  const auto* found = std::get_if<gpu::device_matrix_view<T>>(&view);
  if (found == nullptr) throw nb::type_error("the device array has another element type");
  return *found;
}

// The memory of a host array of one or two dimensions, held by Python's buffer protocol for as long
// as this object lives; an array of one dimension is a matrix of one row. Made and destroyed with
// the GIL held.
class host_array {
 public:
  // `name` is the argument's name in error messages.
  host_array(nb::handle array, const char* name);

  [[nodiscard]] int dimensions() const noexcept { return held_->view.ndim; }
  [[nodiscard]] const any_host_view& view() const noexcept { return view_; }
  [[nodiscard]] gpu::index_t rows() const noexcept { return rows_; }
  [[nodiscard]] gpu::index_t cols() const noexcept { return cols_; }
  // The elements as T, or a TypeError.
  template <class T>
  [[nodiscard]] gpu::matrix_view<const T> as(const char* name) const {
    const auto* found = std::get_if<gpu::matrix_view<const T>>(&view_);
    if (found == nullptr) wrong_type(name);
    return *found;
  }

 private:
  struct held_buffer {
    Py_buffer view{};
    bool filled = false;
    held_buffer() = default;
    held_buffer(const held_buffer&) = delete;
    held_buffer& operator=(const held_buffer&) = delete;
    ~held_buffer() {
      if (filled) PyBuffer_Release(&view);
    }
  };
  [[noreturn]] void wrong_type(const char* name) const;
  void read_layout(const char* name);

  std::unique_ptr<held_buffer> held_;
  any_host_view view_;
  gpu::index_t rows_ = 0;
  gpu::index_t cols_ = 0;
  gpu::index_t row_stride_ = 0;
};

// Moves `container` behind a NumPy array that shows `data(container)` as T of `shape`.
template <class T, class Container>
nb::object to_numpy(Container&& container, std::initializer_list<std::size_t> shape) {
  using held_type = std::remove_cvref_t<Container>;
  auto held = std::make_unique<held_type>(std::forward<Container>(container));
  auto* data = reinterpret_cast<T*>(held->data());
  nb::capsule owner(held.get(), [](void* p) noexcept { delete static_cast<held_type*>(p); });
  held.release();
  return nb::cast(nb::ndarray<nb::numpy, T>(data, shape, owner));
}

// A matrix as an array [rows, cols], or [cols] where the input had one dimension.
template <class T, class Matrix>
nb::object matrix_to_numpy(Matrix&& matrix, int dimensions) {
  const auto rows = static_cast<std::size_t>(matrix.rows());
  const auto cols = static_cast<std::size_t>(matrix.cols());
  if (dimensions == 1) return to_numpy<T>(std::forward<Matrix>(matrix), {cols});
  return to_numpy<T>(std::forward<Matrix>(matrix), {rows, cols});
}

}  // namespace gpu_python
