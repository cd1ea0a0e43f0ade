#pragma once
// Arrays of Python on the way in, arrays of the library on the way out. Neither way copies.

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include <bit>
#include <cstddef>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <variant>

#include <gpu/bit_matrix.hpp>
#include <gpu/detail/any_view.hpp>
#include <gpu/matrix_view.hpp>
#include <gpu/pair_sinks.hpp>

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

// A table of any layout and type in device memory, described in the same way with the name of its
// type, and the elements from column to column at the end.
[[nodiscard]] gpu::device_table_view device_table(const nb::tuple& described);

// The view as one of T, or a TypeError.
template <class T>
[[nodiscard]] gpu::device_matrix_view<T> device_view_of(const nb::tuple& described) {
  const any_device_view view = device_view(described);
  const auto* found = std::get_if<gpu::device_matrix_view<T>>(&view);
  if (found == nullptr) throw nb::type_error("the device array has another element type");
  return *found;
}

// What an operation reads of host arrays: rows whose values follow each other, or tables whose rows
// or whose columns do, 64-bit integers among them.
enum class array_form { rows, table };

// The memory of a host array of one or two dimensions, held by Python's buffer protocol for as long
// as this object lives; an array of one dimension is a matrix of one row. Made and destroyed with
// the GIL held.
class host_array {
 public:
  // `name` is the argument's name in error messages.
  host_array(nb::handle array, const char* name, array_form form = array_form::rows);

  [[nodiscard]] int dimensions() const noexcept { return held_->view.ndim; }
  // Of array_form::rows.
  [[nodiscard]] const any_host_view& view() const noexcept { return view_; }
  // Of either form.
  [[nodiscard]] const gpu::detail::any_table& table() const noexcept { return table_; }
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
  void read_layout(const char* name, array_form form);
  void read_type(const char* name, array_form form);
  bool read_columns();
  template <class T>
  void set_view();
  template <class T>
  void set_table();

  std::unique_ptr<held_buffer> held_;
  any_host_view view_;
  gpu::detail::any_table table_;
  gpu::index_t rows_ = 0;
  gpu::index_t cols_ = 0;
  gpu::index_t stride_ = 0;  // from row to row, or from column to column
  bool in_columns_ = false;
};

// The element types that results have in NumPy.
enum class result_type { f32, f64, i8, i16, i32, i64, u8, u16, u32, u64, edge };

template <class T>
constexpr result_type result_type_of() {
  if constexpr (std::is_same_v<T, float>) return result_type::f32;
  if constexpr (std::is_same_v<T, double>) return result_type::f64;
  if constexpr (std::is_integral_v<T>) {
    constexpr int width = std::countr_zero(sizeof(T));
    return static_cast<result_type>(
        static_cast<int>(std::is_signed_v<T> ? result_type::i8 : result_type::u8) + width);
  }
  if constexpr (std::is_same_v<T, gpu::edge>) return result_type::edge;
}

// Memory of the library and what frees it: free(owner).
struct library_memory {
  void* data = nullptr;
  std::size_t bytes = 0;
  void* owner = nullptr;
  void (*free)(void*) noexcept = nullptr;
};

// A NumPy array over `memory`, which it frees at its end (or now, with an exception). `cols` is -1
// for an array of one dimension.
[[nodiscard]] nb::object numpy_array(const library_memory& memory, result_type type,
                                     gpu::index_t rows, gpu::index_t cols);
// The same empty array of int64 at every call, read only.
[[nodiscard]] nb::object no_rows();

// Finds NumPy and makes the type of the objects that hold its memory.
void begin_arrays();

// Moves `container` behind a NumPy array that shows `data()` as T, [rows] or [rows, cols].
template <class T, class Container>
nb::object to_numpy(Container&& container, gpu::index_t rows, gpu::index_t cols = -1) {
  using held_type = std::remove_cvref_t<Container>;
  auto held = std::make_unique<held_type>(std::forward<Container>(container));
  const auto count = static_cast<std::size_t>(cols < 0 ? rows : rows * cols);
  void* const data = held->data();
  held_type* const owner = held.release();
  return numpy_array({.data = data,
                      .bytes = count * sizeof(T),
                      .owner = owner,
                      .free = [](void* p) noexcept { delete static_cast<held_type*>(p); }},
                     result_type_of<T>(), rows, cols);
}

// A vector (std::vector, gpu::array) as an array of its length.
template <class Vector>
nb::object vector_to_numpy(Vector&& values) {
  using value = typename std::remove_cvref_t<Vector>::value_type;
  const auto size = static_cast<gpu::index_t>(values.size());
  return to_numpy<value>(std::forward<Vector>(values), size);
}

// A matrix as an array [rows, cols], or [cols] where the input had one dimension.
template <class T, class Matrix>
nb::object matrix_to_numpy(Matrix&& matrix, int dimensions) {
  const gpu::index_t rows = matrix.rows();
  const gpu::index_t cols = matrix.cols();
  if (dimensions == 1) return to_numpy<T>(std::forward<Matrix>(matrix), cols);
  return to_numpy<T>(std::forward<Matrix>(matrix), rows, cols);
}

// Owns the words of a bit_matrix behind a NumPy array.
struct bit_words_holder {
  gpu::bit_matrix bits;
  std::uint32_t* data() noexcept { return bits.words(); }
};

// The words of bits as an array [rows, words].
inline nb::object bits_to_numpy(gpu::bit_matrix&& bits) {
  const gpu::index_t rows = bits.rows();
  const gpu::index_t words = bits.row_words();
  return to_numpy<std::uint32_t>(bit_words_holder{std::move(bits)}, rows, words);
}

}  // namespace gpu_python
