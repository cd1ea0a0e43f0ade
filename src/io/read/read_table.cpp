#include "io/read/read_table.hpp"

#include <fmt/format.h>

#include <memory>
#include <new>
#include <utility>

#include "io/read/npy_reader.hpp"
#include "io/read/parquet/parquet_reader.hpp"
#include "io/read/text_reader.hpp"
#include "io/read/transposed_rows.hpp"

namespace gpu::io {

namespace {

std::unique_ptr<row_source> open_lines(input& file, const read_options& options) {
  if (file.begins_with(npy_magic)) return std::make_unique<npy_rows>(file.bytes(), file.name());
  if (file.begins_with(parquet_magic)) return open_parquet(file, options);
  for (const char* const suffix : {".npy", ".parquet"}) {
    if (!file.name().ends_with(suffix)) continue;
    throw input_error(file.name(), {},
                      fmt::format("is named {} but does not begin like one", suffix));
  }
  return std::make_unique<text_rows>(file.lines(), options, file.name());
}

}  // namespace

std::unique_ptr<row_source> open_rows(input& file, const read_options& options) {
  auto source = open_lines(file, options);
  if (!options.transposes) return source;
  return std::make_unique<transposed_rows>(std::move(source), options.threads);
}

table read_table(const std::string& path, const read_options& options) {
  try {
    const auto digest = options.digest != nullptr ? std::make_shared<file_digest>() : nullptr;
    input file(path, options.stop, options.max_bytes, digest);
    table out = open_rows(file, options)->rest();
    if (digest) *options.digest = *digest;
    return out;
  } catch (const error&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw out_of_memory(fmt::format("{}: memory does not suffice to read it", printable(path)), 0);
  }
}

}  // namespace gpu::io
