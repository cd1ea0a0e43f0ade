#include "io/read/read_table.hpp"

#include <fmt/format.h>

#include <memory>
#include <new>
#include <utility>

#include "io/read/npy_reader.hpp"
#include "io/read/row_choice.hpp"
#include "io/read/sparse/matrix_market.hpp"
#include "io/read/sparse/names_beside.hpp"
#include "io/read/text_reader.hpp"
#include "io/read/transposed_rows.hpp"

namespace gpu::io {

namespace {

// The suffix of a format that is no text, which the name of the file ends in; null for others.
const char* other_suffix(const input& file) {
  for (const char* const suffix : {".npy", ".mtx"}) {
    if (file.name().ends_with(suffix)) return suffix;
  }
  return nullptr;
}

std::unique_ptr<row_reader> open_lines(input& file, const read_options& options) {
  if (const char* const suffix = other_suffix(file)) {
    throw input_error(file.name(), {},
                      fmt::format("is named {} but does not begin like one", suffix));
  }
  return std::make_unique<text_rows>(file.lines(), options, file.name());
}

// What would be said in vain of a file that has numbers alone: `what`.
void check_text_options(const input& file, const text_options& text, const char* what) {
  const char* const option = !text.columns.empty()        ? "--columns"
                             : !text.skip_columns.empty() ? "--skip-columns"
                             : !text.missing.empty()      ? "--na-values"
                                                          : nullptr;
  if (option == nullptr) return;
  throw input_error(file.name(), {}, fmt::format("is {}, and {} is only for text", what, option));
}

}  // namespace

bool is_text(const input& file) {
  return !is_matrix_market(file) && !file.begins_with(npy_magic) && other_suffix(file) == nullptr;
}

std::unique_ptr<row_reader> open_rows(input& file, const read_options& options) {
  const row_range& rows = options.text.rows;
  if (is_matrix_market(file)) {
    check_text_options(file, options.text, "a sparse file");
    if (options.transposes && !rows.is_all()) {
      throw input_error(file.name(), {},
                        "is a sparse file, with which --rows and --transpose do not go together");
    }
    // Their columns become rows while their entries are put in order.
    return choose_rows(open_matrix_market(file, options), rows, file.name());
  }
  std::unique_ptr<row_reader> source;
  bool is_turned = false;
  if (file.begins_with(npy_magic)) {
    check_text_options(file, options.text, "an array");
    is_turned = options.transposes && rows.is_all();
    source = choose_rows(open_npy(file.bytes(), file.name(), is_turned, options.threads), rows,
                         file.name());
  } else {
    source = open_lines(file, options);
  }
  if (options.transposes && !is_turned) {
    source = std::make_unique<transposed_rows>(std::move(source), options.threads);
  }
  return name_rows(std::move(source), options.transposes ? 0 : rows.begin, options, file.name());
}

table read_table(const std::string& path, const read_options& options) {
  return read_file(path, options, [&](input& file) { return open_rows(file, options)->rest(); });
}

table read_file(const std::string& path, const read_options& options,
                const std::function<table(input& file)>& read) {
  try {
    const auto digest = options.digest != nullptr ? std::make_shared<file_digest>() : nullptr;
    input file(input_file(path), options.stop, options.max_bytes, digest, options.threads);
    if (digest) *options.digest = {};
    table out = read(file);
    if (digest) {
      // Behind the file stand the files of names, which were read meanwhile.
      digest->append(*options.digest);
      *options.digest = *digest;
    }
    return out;
  } catch (const error&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw out_of_memory(fmt::format("{}: memory does not suffice to read it", visible(path)), 0);
  }
}

}  // namespace gpu::io
