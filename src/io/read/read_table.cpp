#include "io/read/read_table.hpp"

#include <string_view>

#include "io/read/npy_reader.hpp"
#include "io/read/text_reader.hpp"

namespace gpu::io {

table read_table(const std::string& path, const read_options& options) {
  input file(path, options.stop);
  if (file.begins_with(npy_magic)) return read_npy(*file.bytes(), file.name());
  if (path.ends_with(".npy")) {
    throw input_error(path, {}, "is named .npy but does not begin like one");
  }
  return read_text(*file.lines(), options, file.name());
}

}  // namespace gpu::io
