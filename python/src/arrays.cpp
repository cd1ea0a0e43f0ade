#include "arrays.hpp"

#include <cstring>
#include <string>

namespace gpu_python {
namespace {

template <class T>
any_host_view make_view(const Py_buffer& buffer, gpu::index_t rows, gpu::index_t cols,
                        gpu::index_t row_stride) {
  return gpu::matrix_view<const T>(static_cast<const T*>(buffer.buf), rows, cols, row_stride);
}

// The character of the struct module that names the element type, in the machine's byte order.
char type_character(const Py_buffer& buffer) {
  const char* format = buffer.format == nullptr ? "B" : buffer.format;
  if (*format == '@' || *format == '=' || *format == '<') ++format;
  return std::strlen(format) == 1 ? *format : '\0';
}

template <class T>
any_device_view make_device_view(const nb::tuple& described) {
  const auto address = nb::cast<std::uintptr_t>(described[0]);
  return gpu::device_matrix_view<T>(
      reinterpret_cast<T*>(address), nb::cast<gpu::index_t>(described[1]),
      nb::cast<gpu::index_t>(described[2]), nb::cast<gpu::index_t>(described[3]));
}

}  // namespace

any_device_view device_view(const nb::tuple& described) {
  switch (nb::cast<const char*>(described[4])[0]) {
    case 'b':
      return make_device_view<std::int8_t>(described);
    case 'h':
      return make_device_view<std::int16_t>(described);
    case 'i':
      return make_device_view<std::int32_t>(described);
    case 'B':
      return make_device_view<std::uint8_t>(described);
    case 'H':
      return make_device_view<std::uint16_t>(described);
    case 'f':
      return make_device_view<float>(described);
    case 'd':
      return make_device_view<double>(described);
    default:
      throw nb::type_error("the device array has an element type that is not taken");
  }
}

host_array::host_array(nb::handle array, const char* name)
    : held_(std::make_unique<held_buffer>()) {
  if (PyObject_GetBuffer(array.ptr(), &held_->view, PyBUF_RECORDS_RO) != 0)
    nb::raise_python_error();
  held_->filled = true;
  read_layout(name);
  const Py_buffer& buffer = held_->view;
  switch (type_character(buffer)) {
    case 'b':
      view_ = make_view<std::int8_t>(buffer, rows_, cols_, row_stride_);
      break;
    case 'h':
      view_ = make_view<std::int16_t>(buffer, rows_, cols_, row_stride_);
      break;
    case 'i':
      view_ = make_view<std::int32_t>(buffer, rows_, cols_, row_stride_);
      break;
    case 'B':
      view_ = make_view<std::uint8_t>(buffer, rows_, cols_, row_stride_);
      break;
    case 'H':
      view_ = make_view<std::uint16_t>(buffer, rows_, cols_, row_stride_);
      break;
    case 'f':
      view_ = make_view<float>(buffer, rows_, cols_, row_stride_);
      break;
    case 'd':
      view_ = make_view<double>(buffer, rows_, cols_, row_stride_);
      break;
    default:
      wrong_type(name);
  }
}

void host_array::read_layout(const char* name) {
  const Py_buffer& buffer = held_->view;
  if (buffer.ndim != 1 && buffer.ndim != 2) {
    throw nb::value_error((std::string(name) + ": got " + std::to_string(buffer.ndim) +
                           " dimensions, expected 1 or 2")
                              .c_str());
  }
  const Py_ssize_t* shape = buffer.shape;
  const Py_ssize_t* strides = buffer.strides;
  const int last = buffer.ndim - 1;
  rows_ = buffer.ndim == 2 ? shape[0] : 1;
  cols_ = shape[last];
  row_stride_ = rows_ > 1 ? strides[0] / buffer.itemsize : cols_;
  const bool packed = cols_ <= 1 || strides[last] == buffer.itemsize;
  const bool aligned =
      reinterpret_cast<std::uintptr_t>(buffer.buf) % static_cast<std::uintptr_t>(buffer.itemsize) ==
      0;
  const bool whole = rows_ <= 1 || strides[0] % buffer.itemsize == 0;
  if (!(packed && aligned && whole && row_stride_ >= cols_)) {
    throw nb::value_error(
        (std::string(name) + ": expected aligned rows whose elements follow each other in memory")
            .c_str());
  }
}

void host_array::wrong_type(const char* name) const {
  const Py_buffer& buffer = held_->view;
  throw nb::type_error((std::string(name) + ": elements of type '" +
                        (buffer.format ? buffer.format : "B") + "' are not taken here")
                           .c_str());
}

}  // namespace gpu_python
