#include "io/read/other_formats.hpp"

#include <array>

namespace gpu::io {
namespace {

struct known_format {
  std::string_view magic;
  std::string_view what;
};

constexpr std::array<known_format, 8> formats{{
    {{"\xFD"
      "7zXZ\0",
      6},
     "is compressed by xz, expected text, .npy, or either with gzip or zstd: xz -dc FILE | "
     "gpu-similarity ... -"},
    {"BZh91AY&",
     "is compressed by bzip2, expected text, .npy, or either with gzip or zstd: bzip2 -dc FILE | "
     "gpu-similarity ... -"},
    {"PAR1",
     "is a Parquet file, expected text or .npy: in Python, gpu_similarity takes "
     "pandas.read_parquet(FILE)"},
    {{"ARROW1\0\0", 8},
     "is an Arrow file, expected text or .npy: in Python, gpu_similarity takes pandas, Polars and "
     "pyarrow tables"},
    {"\x89HDF\r\n\x1A\n",
     "is an HDF5 file (.h5, .h5ad), expected text or .npy: in Python, gpu_similarity takes "
     "AnnData"},
    {"RDX3\nX\n", "is an R data file, expected text or .npy: write.table() writes text"},
    {"\xFF\xFE",
     "is UTF-16 text, expected UTF-8: iconv -f UTF-16 -t UTF-8 FILE | gpu-similarity ... -"},
    {"\xFE\xFF",
     "is UTF-16 text, expected UTF-8: iconv -f UTF-16 -t UTF-8 FILE | gpu-similarity ... -"},
}};

constexpr std::string_view unmarked_utf16 =
    "looks like UTF-16 text, expected UTF-8: iconv -f UTF-16LE -t UTF-8 FILE | gpu-similarity ... "
    "- "
    "(UTF-16BE where the most significant byte comes first)";

}  // namespace

std::string_view other_format(std::string_view head) {
  for (const known_format& format : formats) {
    if (head.starts_with(format.magic)) return format.what;
  }
  // Every other byte of ASCII text is 0.
  if (head.size() < 4) return "";
  const bool is_little = head[0] != 0 && head[1] == 0 && head[2] != 0 && head[3] == 0;
  const bool is_big = head[0] == 0 && head[1] != 0 && head[2] == 0 && head[3] != 0;
  return is_little || is_big ? unmarked_utf16 : "";
}

}  // namespace gpu::io
