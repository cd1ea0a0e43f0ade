#include "arrays.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <initializer_list>
#include <string>
#include <string_view>

namespace gpu_python {
namespace {

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

// What numpy_array() needs of NumPy; made with the module, never freed.
struct numpy_names {
  PyObject* ndarray;
  std::array<PyObject*, 12> types;  // in the order of result_type
  PyObject* nothing;
};
numpy_names* numpy = nullptr;

nb::list fields(std::initializer_list<std::pair<const char*, const char*>> all) {
  nb::list out;
  for (const auto& [name, type] : all) out.append(nb::make_tuple(name, type));
  return out;
}

numpy_names* find_numpy() {
  const nb::module_ module = nb::module_::import_("numpy");
  const nb::object dtype = module.attr("dtype");
  auto* found = new numpy_names{};
  found->ndarray = nb::object(module.attr("ndarray")).release().ptr();
  std::size_t i = 0;
  for (const char* name : {"f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"}) {
    found->types[i++] = dtype(name).release().ptr();
  }
  static_assert(sizeof(gpu::edge) == 24);
  found->types[i] =
      dtype(fields({{"row", "<u4"}, {"col", "<u4"}, {"statistic", "<f8"}, {"p", "<f8"}}))
          .release()
          .ptr();
  nb::object nothing = module.attr("empty")(0, "i8");
  nothing.attr("flags").attr("writeable") = false;
  found->nothing = nothing.release().ptr();
  return found;
}

// The object that an array of a result has as its base: the buffer protocol over library_memory.
// A class of nanobind would do, but its instances cost several times these.
struct memory_object {
  PyObject_HEAD library_memory memory;
};
PyTypeObject* memory_type = nullptr;  // made with the module, never freed

int get_buffer(PyObject* self, Py_buffer* view, int flags) noexcept {
  const library_memory& memory = reinterpret_cast<memory_object*>(self)->memory;
  return PyBuffer_FillInfo(view, self, memory.data, static_cast<Py_ssize_t>(memory.bytes), 0,
                           flags);
}

void free_memory(PyObject* self) noexcept {
  const library_memory& memory = reinterpret_cast<memory_object*>(self)->memory;
  memory.free(memory.owner);
  PyTypeObject* type = Py_TYPE(self);
  PyObject_Free(self);
  Py_DECREF(type);
}

PyTypeObject* make_memory_type() {
  std::array<PyType_Slot, 3> slots{{{Py_tp_dealloc, reinterpret_cast<void*>(&free_memory)},
                                    {Py_bf_getbuffer, reinterpret_cast<void*>(&get_buffer)},
                                    {0, nullptr}}};
  PyType_Spec spec{.name = "gpu_similarity._core._Memory",
                   .basicsize = sizeof(memory_object),
                   .itemsize = 0,
                   .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                   .slots = slots.data()};
  PyObject* type = PyType_FromSpec(&spec);
  if (type == nullptr) nb::raise_python_error();
  return reinterpret_cast<PyTypeObject*>(type);
}

nb::object held(const library_memory& memory) {
  auto* object = PyObject_New(memory_object, memory_type);
  if (object == nullptr) {
    memory.free(memory.owner);
    nb::raise_python_error();
  }
  object->memory = memory;
  return nb::steal(reinterpret_cast<PyObject*>(object));
}

}  // namespace

nb::object numpy_array(const library_memory& memory, result_type type, gpu::index_t rows,
                       gpu::index_t cols) {
  const nb::object holder = held(memory);
  const nb::object shape =
      cols < 0 ? nb::object(nb::int_(rows)) : nb::object(nb::make_tuple(rows, cols));
  PyObject* dtype = numpy->types[static_cast<std::size_t>(type)];
  PyObject* array =
      PyObject_CallFunctionObjArgs(numpy->ndarray, shape.ptr(), dtype, holder.ptr(), nullptr);
  if (array == nullptr) nb::raise_python_error();
  return nb::steal(array);
}

nb::object no_rows() {
  return nb::borrow(numpy->nothing);
}

void begin_arrays() {
  numpy = find_numpy();
  memory_type = make_memory_type();
}

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

gpu::device_table_view device_table(const nb::tuple& described) {
  static constexpr std::array names{"int8",    "int16",   "int32",    "uint8",  "uint16", "float32",
                                    "float64", "float16", "bfloat16", "uint32", "int64",  "uint64"};
  const auto place = std::ranges::find(names, nb::cast<std::string_view>(described[4]));
  if (place == names.end()) throw nb::type_error("the table has an element type that is not taken");
  return {reinterpret_cast<const void*>(nb::cast<std::uintptr_t>(described[0])),
          static_cast<gpu::device_element>(place - names.begin()),
          nb::cast<gpu::index_t>(described[1]),
          nb::cast<gpu::index_t>(described[2]),
          nb::cast<gpu::index_t>(described[3]),
          nb::cast<gpu::index_t>(described[5])};
}

template <class T>
void host_array::set_table() {
  const auto* const data = static_cast<const T*>(held_->view.buf);
  if (in_columns_) {
    table_ = gpu::column_matrix_view<const T>(data, rows_, cols_, stride_);
  } else {
    table_ = gpu::matrix_view<const T>(data, rows_, cols_, stride_);
  }
}

template <class T>
void host_array::set_view() {
  set_table<T>();
  if (!in_columns_) view_ = std::get<gpu::matrix_view<const T>>(table_);
}

host_array::host_array(nb::handle array, const char* name, array_form form)
    : held_(std::make_unique<held_buffer>()) {
  if (PyObject_GetBuffer(array.ptr(), &held_->view, PyBUF_RECORDS_RO) != 0)
    nb::raise_python_error();
  held_->filled = true;
  read_layout(name, form);
  read_type(name, form);
}

void host_array::read_type(const char* name, array_form form) {
  const Py_buffer& buffer = held_->view;
  const char type = type_character(buffer);
  const auto is = [&](const char* types, std::size_t bytes) {
    return std::strchr(types, type) != nullptr &&
           static_cast<std::size_t>(buffer.itemsize) == bytes;
  };
  if (type == '\0') wrong_type(name);
  if (form == array_form::table) {
    if (is("lq", 8)) return set_table<std::int64_t>();
    if (is("LQ", 8)) return set_table<std::uint64_t>();
    if (is("IL", 4)) return set_table<std::uint32_t>();
  }
  switch (type) {
    case 'b':
      return set_view<std::int8_t>();
    case 'h':
      return set_view<std::int16_t>();
    case 'i':
      return set_view<std::int32_t>();
    case 'B':
      return set_view<std::uint8_t>();
    case 'H':
      return set_view<std::uint16_t>();
    case 'f':
      return set_view<float>();
    case 'd':
      return set_view<double>();
    default:
      wrong_type(name);
  }
}

// Whether each column is packed; the rows are not.
bool host_array::read_columns() {
  const Py_buffer& buffer = held_->view;
  if (buffer.ndim != 2 || cols_ < 2) return false;
  const Py_ssize_t* strides = buffer.strides;
  const bool packed = rows_ <= 1 || strides[0] == buffer.itemsize;
  if (!packed || strides[1] % buffer.itemsize != 0) return false;
  stride_ = strides[1] / buffer.itemsize;
  in_columns_ = stride_ >= rows_;
  return in_columns_;
}

void host_array::read_layout(const char* name, array_form form) {
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
  stride_ = rows_ > 1 ? strides[0] / buffer.itemsize : cols_;
  const bool packed = cols_ <= 1 || strides[last] == buffer.itemsize;
  const bool aligned =
      reinterpret_cast<std::uintptr_t>(buffer.buf) % static_cast<std::uintptr_t>(buffer.itemsize) ==
      0;
  const bool whole = rows_ <= 1 || strides[0] % buffer.itemsize == 0;
  if (aligned && packed && whole && stride_ >= cols_) return;
  if (aligned && form == array_form::table && read_columns()) return;
  throw nb::value_error(
      (std::string(name) + ": expected aligned rows whose elements follow each other in memory")
          .c_str());
}

void host_array::wrong_type(const char* name) const {
  const Py_buffer& buffer = held_->view;
  throw nb::type_error((std::string(name) + ": elements of type '" +
                        (buffer.format ? buffer.format : "B") + "' are not taken here")
                           .c_str());
}

}  // namespace gpu_python
