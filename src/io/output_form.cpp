#include "io/output_form.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <string_view>
#include <utility>

#include "io/io_error.hpp"
#include "io/parquet.hpp"

namespace gpu::io {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::pair<std::string_view, result_format>, 9> formats{
    {{".tsv", result_format::tsv},
     {".txt", result_format::tsv},
     {".csv", result_format::csv},
     {".npy", result_format::npy},
     {".parquet", result_format::parquet},
     {".mtx", result_format::matrix_market},
     {".graphml", result_format::graphml},
     {".sif", result_format::sif},
     {".ncol", result_format::ncol}}};

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

/// Takes the suffix from `name` and returns it in lower case.
std::string take_suffix(fs::path& name) {
  std::string suffix = lower(name.extension());
  name = name.stem();
  return suffix;
}

compression compression_of(std::string_view suffix) {
  if (suffix == ".gz") return compression::gzip;
  return suffix == ".zst" ? compression::zstd : compression::none;
}

std::string known_suffixes() {
  std::string text = ".tsv, .txt, .csv or .npy, ";
  if (has_parquet()) text += "of pairs also .parquet, ";
  text += "of edges also .mtx, .graphml, .sif or .ncol; text also with .gz";
  if (is_available(compression::zstd)) text += " or .zst";
  return text;
}

}  // namespace

const char* word_of(result_format format) {
  switch (format) {
    case result_format::tsv:
      return "tsv";
    case result_format::csv:
      return "csv";
    case result_format::npy:
      return "npy";
    case result_format::parquet:
      return "parquet";
    case result_format::matrix_market:
      return "mtx";
    case result_format::graphml:
      return "graphml";
    case result_format::sif:
      return "sif";
    case result_format::ncol:
      return "ncol";
  }
  return "";
}

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
  const bool is_array = form.format == result_format::npy || form.format == result_format::parquet;
  if (is_array && form.packed != compression::none) {
    throw output_error(path, suffix +
                                 " is not compressed again, because its readers would not read it: "
                                 "expected " +
                                 suffix + ", or .tsv" + packing);
  }
  if (form.format == result_format::parquet && !has_parquet()) {
    throw output_error(path, std::string(no_parquet) + ". Expected " + known_suffixes());
  }
  if (suffix == ".arrow" || suffix == ".feather") {
    throw output_error(path,
                       "the command does not write " + suffix + ": expected " + known_suffixes() +
                           ". Python does: "
                           "pyarrow.feather.write_feather(gs.edges(x, ...).to_arrow(), FILE)");
  }
  // Text that is compressed may have any name in front: edges.gz, edges.2026.gz.
  if (any || form.format || suffix.empty() || form.packed != compression::none) return form;
  throw output_error(path, "the suffix " + suffix + " is not known, expected " + known_suffixes() +
                               "; or say --format");
}

}  // namespace gpu::io
