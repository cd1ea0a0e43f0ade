#include "io/read/read_table.hpp"

#include <fmt/format.h>

#include <new>
#include <string_view>

#include "io/read/npy_reader.hpp"
#include "io/read/text_reader.hpp"

namespace gpu::io {

namespace {

table read_any_table(const std::string& path, const read_options& options) {
  input file(path, options.stop, options.max_bytes);
  if (file.begins_with(npy_magic)) return read_npy(*file.bytes(), file.name());
  if (path.ends_with(".npy")) {
    throw input_error(path, {}, "is named .npy but does not begin like one");
  }
  return read_text(*file.lines(), options, file.name());
}

}  // namespace

table read_table(const std::string& path, const read_options& options) {
  try {
    return read_any_table(path, options);
  } catch (const std::bad_alloc&) {
    throw out_of_memory(fmt::format("{}: memory does not suffice to read it", printable(path)), 0);
  }
}

}  // namespace gpu::io
