#include "io/output_form.hpp"

#include <array>
#include <filesystem>
#include <string_view>
#include <utility>

#include "base/parsed.hpp"
#include "io/io_error.hpp"

namespace gpu::io {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::pair<std::string_view, result_format>, 4> formats{
    {{".tsv", result_format::tsv},
     {".txt", result_format::tsv},
     {".csv", result_format::csv},
     {".npy", result_format::npy}}};

// What the Python package writes, by the call that does.
constexpr std::array<std::pair<std::string_view, std::string_view>, 7> formats_of_python{
    {{".parquet", "pyarrow.parquet.write_table(gs.edges(x, ...).to_arrow(), FILE)"},
     {".arrow", "pyarrow.feather.write_feather(gs.edges(x, ...).to_arrow(), FILE)"},
     {".feather", "pyarrow.feather.write_feather(gs.edges(x, ...).to_arrow(), FILE)"},
     {".mtx", "gs.edges(x, ...).to_matrix_market(FILE)"},
     {".graphml", "gs.edges(x, ...).to_graphml(FILE)"},
     {".sif", "gs.edges(x, ...).to_sif(FILE)"},
     {".ncol", "gs.edges(x, ...).to_ncol(FILE)"}}};

/// Takes the suffix from `name` and returns it in lower case.
std::string take_suffix(fs::path& name) {
  std::string suffix = gpu::detail::lower(name.extension().native());
  name = name.stem();
  return suffix;
}

compression compression_of(std::string_view suffix) {
  if (suffix == ".gz") return compression::gzip;
  return suffix == ".zst" ? compression::zstd : compression::none;
}

std::string known_suffixes() {
  std::string text = ".tsv, .txt, .csv or .npy; text also with .gz";
  if (is_available(compression::zstd)) text += " or .zst";
  return text;
}

}  // namespace

output_form form_of(const std::string& path, bool any) {
  if (path.empty() || path == "-") return {};
  std::error_code unknown;
  const fs::file_status status = fs::status(path, unknown);
  if (fs::exists(status) && !fs::is_regular_file(status)) return {};
  fs::path name = fs::path(path).filename();
  output_form form;
  std::string suffix = take_suffix(name);
  form.packed = compression_of(suffix);
  const std::string packing = suffix;
  if (form.packed != compression::none) suffix = take_suffix(name);
  if (!is_available(form.packed)) {
    throw output_error(path,
                       "this build has no zstd, expected another suffix: " + known_suffixes());
  }
  for (const auto& [known, format] : formats) {
    if (suffix == known) form.format = format;
  }
  if (form.format == result_format::npy && form.packed != compression::none) {
    throw output_error(path, suffix +
                                 " is not compressed again, because its readers would not read it: "
                                 "expected " +
                                 suffix + ", or .tsv" + packing);
  }
  for (const auto& [other, call] : formats_of_python) {
    if (suffix != other) continue;
    throw output_error(path, "the command does not write " + suffix + ": expected " +
                                 known_suffixes() + ". Python does: " + std::string(call));
  }
  // Text that is compressed may have any name in front: edges.gz, edges.2026.gz.
  if (any || form.format || suffix.empty() || form.packed != compression::none) return form;
  throw output_error(path, "the suffix " + suffix + " is not known, expected " + known_suffixes() +
                               "; or say --format");
}

}  // namespace gpu::io
