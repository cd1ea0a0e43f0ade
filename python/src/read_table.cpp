// Tables from files, by the reader of the command: the same rules for layouts, names and numbers.
#include "io/read/read_table.hpp"

#include <nanobind/stl/vector.h>

#include <atomic>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <variant>
#include <vector>

#include "arrays.hpp"
#include "bindings.hpp"
#include "io/read/fingerprints/fingerprints.hpp"
#include "options.hpp"

namespace gpu_python {

template <>
struct enum_names<gpu::io::choice> {
  static constexpr auto table = std::to_array<std::pair<std::string_view, gpu::io::choice>>(
      {{"auto", gpu::io::choice::automatic},
       {"yes", gpu::io::choice::yes},
       {"no", gpu::io::choice::no}});
};

template <>
struct enum_names<gpu::io::delimiter> {
  static constexpr auto table = std::to_array<std::pair<std::string_view, gpu::io::delimiter>>(
      {{"auto", gpu::io::delimiter::automatic},
       {"comma", gpu::io::delimiter::comma},
       {"tab", gpu::io::delimiter::tab},
       {"semicolon", gpu::io::delimiter::semicolon},
       {"bar", gpu::io::delimiter::bar},
       {"blanks", gpu::io::delimiter::blanks}});
};

template <>
struct enum_names<gpu::io::fingerprint_format> {
  static constexpr auto table = gpu::io::fingerprint_formats;
};

namespace {

using words = std::vector<std::string>;

std::string text_of(option_reader& reader, const char* key) {
  std::string out;
  const nb::handle value = reader.take(key);
  if (value.is_valid() && !nb::try_cast(value, out)) {
    option_reader::refuse_type(key, value, "a string");
  }
  return out;
}

words words_of(option_reader& reader, const char* key) {
  words out;
  const nb::handle value = reader.take(key);
  if (value.is_valid() && !nb::try_cast(value, out)) {
    option_reader::refuse_type(key, value, "a list of strings");
  }
  return out;
}

// What tables and fingerprints have in common.
gpu::io::read_options options_of(option_reader& reader) {
  gpu::io::read_options options;
  gpu::io::text_options& text = options.text;
  reader.read("header", text.header);
  reader.read("row_names", text.row_names);
  reader.read("delimiter", text.separator);
  if (text_of(reader, "decimal") == ",") text.decimal = ',';
  text.comment = text_of(reader, "comment");
  text.missing = words_of(reader, "na_values");
  text.columns = words_of(reader, "columns");
  text.skip_columns = words_of(reader, "skip_columns");
  text.names_column = text_of(reader, "names_column");
  text.names_file = text_of(reader, "names");
  reader.read("transposes", options.transposes);
  reader.read("cpu_threads", options.threads);
  reader.read("max_bytes", options.max_bytes);
  return options;
}

gpu::io::read_options table_options_of(nb::dict keywords) {
  option_reader reader(std::move(keywords));
  gpu::io::read_options options = options_of(reader);
  reader.read("keeps_sparse", options.keeps_sparse);
  reader.check_all_read();
  return options;
}

// Raises the InvalidArgument of the package with `what` as it is: it begins with a file's name.
[[noreturn]] void refuse_input(const char* what) {
  const nb::object type =
      nb::module_::import_("gpu_similarity._shared.errors").attr("InvalidArgument");
  // Quoted input may be no UTF-8: such bytes are shown as \xfc.
  PyObject* const message = PyUnicode_DecodeUTF8(
      what, static_cast<Py_ssize_t>(std::string_view(what).size()), "backslashreplace");
  if (message == nullptr) nb::raise_python_error();
  PyErr_SetObject(type.ptr(), nb::steal(message).ptr());
  nb::raise_python_error();
}

// read(options) without the GIL. Signals are looked for by the calling thread, which alone may.
template <class Read>
gpu::io::table read_interruptible(gpu::io::read_options options, const Read& read) {
  std::optional<nb::python_error> kept;
  std::atomic<bool> stops{false};
  const auto caller = std::this_thread::get_id();
  options.stop = [&] {
    if (stops || std::this_thread::get_id() != caller) return stops.load();
    const nb::gil_scoped_acquire locked;
    if (PyErr_CheckSignals() != 0) {
      kept.emplace();
      stops = true;
    }
    return stops.load();
  };
  try {
    const nb::gil_scoped_release unlocked;
    return read(options);
  } catch (const gpu::io::interrupted&) {
    if (!kept) throw;
    nb::python_error error = std::move(*kept);
    throw error;
  } catch (const gpu::io::input_error& error) {
    refuse_input(error.what());
  }
}

nb::object text_to_python(std::string_view text) {
  // Bytes that are no UTF-8 survive, as in names of files.
  PyObject* made =
      PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "surrogateescape");
  if (made == nullptr) nb::raise_python_error();
  return nb::steal(made);
}

nb::object row_names_of(const gpu::io::table& table) {
  if (!table.names.given()) return nb::none();
  nb::list out;
  for (gpu::index_t i = 0; i < table.rows(); ++i) out.append(text_to_python(table.names[i]));
  return out;
}

nb::object column_names_of(const gpu::io::table& table) {
  if (!table.columns.given()) return nb::none();
  nb::list out;
  for (const std::string& name : table.columns.names) out.append(text_to_python(name));
  return out;
}

// (values, columns, row_begin, rows, cols): what scipy.sparse.csr_array takes.
nb::tuple sparse_to_python(gpu::io::sparse_matrix matrix) {
  const nb::object values =
      std::visit([](auto& own) { return vector_to_numpy(std::move(own)); }, matrix.values);
  return std::visit(
      [&]<class Index>(gpu::io::sparse_pattern<Index>& own) {
        return nb::make_tuple(values, vector_to_numpy(std::move(own.column)),
                              vector_to_numpy(std::move(own.row_begin)), matrix.rows, matrix.cols);
      },
      matrix.pattern);
}

nb::object values_to_python(gpu::io::table& table) {
  if (table.sparse) return sparse_to_python(std::move(*table.sparse));
  return std::visit(
      [](auto& matrix) -> nb::object {
        using value = typename std::remove_cvref_t<decltype(matrix)>::value_type;
        return matrix_to_numpy<value>(std::move(matrix), 2);
      },
      table.values);
}

nb::list notes_of(const gpu::io::table& table) {
  nb::list notes;
  for (const std::string& note : table.reading.notes) notes.append(text_to_python(note));
  return notes;
}

nb::tuple read_table(const nb::bytes& path, nb::dict keywords) {
  const std::string file(path.c_str(), path.size());
  gpu::io::table table = read_interruptible(
      table_options_of(std::move(keywords)),
      [&](const gpu::io::read_options& options) { return gpu::io::read_table(file, options); });
  const nb::object names = row_names_of(table);
  const nb::object columns = column_names_of(table);
  const nb::list notes = notes_of(table);
  const nb::object values = values_to_python(table);
  return nb::make_tuple(values, names, columns, text_to_python(table.columns.corner),
                        table.reading.rows_named_by, table.reading.columns_named_by, notes,
                        table.missing);
}

// Words [rows, words], columns, names and notes.
nb::tuple read_fingerprints(const nb::bytes& path, nb::dict keywords) {
  const std::string file(path.c_str(), path.size());
  option_reader reader(std::move(keywords));
  const gpu::io::read_options given = options_of(reader);
  gpu::io::fingerprint_options bits;
  reader.read("input_format", bits.format);
  reader.read("bits", bits.bits);
  reader.check_all_read();
  gpu::io::table table = read_interruptible(given, [&](const gpu::io::read_options& options) {
    return gpu::io::read_fingerprints(file, options, bits);
  });
  const nb::object names = row_names_of(table);
  const nb::list notes = notes_of(table);
  const gpu::index_t cols = table.cols();
  return nb::make_tuple(bits_to_numpy(std::move(*table.bits)), cols, names, notes);
}

}  // namespace

void bind_read_table(nb::module_& module) {
  module.def("read_fingerprints", &read_fingerprints, nb::arg("path"), nb::arg("options"));
  module.def("read_table", &read_table, nb::arg("path"), nb::arg("options"));
}

}  // namespace gpu_python
