#include "io/read/read_table.hpp"

#include <fmt/format.h>

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

// What would be said in vain of a file that has numbers alone: `what`.
void check_text_options(const input& file, const text_options& text, const char* what) {
  const char* const option = !text.columns.empty()        ? "--columns"
                             : !text.skip_columns.empty() ? "--skip-columns"
                             : !text.missing.empty()      ? "--na-values"
                                                          : nullptr;
  if (option == nullptr) return;
  throw input_error(file.name(), {}, fmt::format("is {}, and {} is only for text", what, option));
}

// What a reader of a file becomes that has neither turned its rows nor named them.
std::unique_ptr<row_reader> turn_and_name(std::unique_ptr<row_reader> rows, bool turns,
                                          const read_options& options, const std::string& file) {
  if (turns) rows = std::make_unique<transposed_rows>(std::move(rows), options.threads);
  return name_rows(std::move(rows), options.transposes ? 0 : options.text.rows.begin, options,
                   file);
}

}  // namespace

bool is_text(const input& file) {
  return !is_matrix_market(file) && !file.begins_with(npy_magic) && other_suffix(file) == nullptr;
}

std::unique_ptr<row_reader> open_text(std::unique_ptr<line_source> lines,
                                      const read_options& options, const std::string& file) {
  return turn_and_name(std::make_unique<text_rows>(std::move(lines), options, file),
                       options.transposes, options, file);
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
  if (file.begins_with(npy_magic)) {
    check_text_options(file, options.text, "an array");
    const bool is_turned = options.transposes && rows.is_all();
    return turn_and_name(
        choose_rows(open_npy(file.bytes(), file.name(), is_turned, options.threads), rows,
                    file.name()),
        options.transposes && !is_turned, options, file.name());
  }
  if (const char* const suffix = other_suffix(file)) {
    throw input_error(file.name(), {},
                      fmt::format("is named {} but does not begin like one", suffix));
  }
  return open_text(file.lines(), options, file.name());
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
