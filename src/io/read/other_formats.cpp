#include "io/read/other_formats.hpp"

#include <fmt/format.h>

#include <array>

namespace gpu::io {
namespace {

struct known_format {
  std::string_view magic;
  std::string_view what;
};

constexpr std::string_view utf32 =
    "is UTF-32 text, expected UTF-8: iconv -f UTF-32 -t UTF-8 FILE | gpu-similarity ... -";

// What is left behind the layers that are taken off.
constexpr std::string_view compressed_again =
    "is compressed more than four times, expected text or .npy, or either with gzip or zstd once";

constexpr std::array<known_format, 11> formats{{
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
    {"RDX3\nX\n", "is an R data file, expected text or .npy: write.table() writes text"},
    // Before UTF-16, whose mark is the first half of this one.
    {{"\xFF\xFE\0\0", 4}, utf32},
    {{"\0\0\xFE\xFF", 4}, utf32},
    {"\x1F\x8B", compressed_again},
    {"\x28\xB5\x2F\xFD", compressed_again},
    {"\xFF\xFE",
     "is UTF-16 text, expected UTF-8: iconv -f UTF-16 -t UTF-8 FILE | gpu-similarity ... -"},
    {"\xFE\xFF",
     "is UTF-16 text, expected UTF-8: iconv -f UTF-16 -t UTF-8 FILE | gpu-similarity ... -"},
}};

constexpr std::string_view unmarked_utf16 =
    "looks like UTF-16 text, expected UTF-8: iconv -f UTF-16LE -t UTF-8 FILE | gpu-similarity ... "
    "- "
    "(UTF-16BE where the most significant byte comes first)";

constexpr std::string_view unmarked_utf32 =
    "looks like UTF-32 text, expected UTF-8: iconv -f UTF-32LE -t UTF-8 FILE | gpu-similarity ... "
    "- "
    "(UTF-32BE where the most significant byte comes first)";

constexpr std::string_view hdf5_magic = "\x89HDF\r\n\x1A\n";

/// The line of Python that writes an HDF5 file as one that is read, genes as rows.
std::string hdf5_text(const std::string& name) {
  // Standard input has no name, and others do not stand in both kinds of quotes.
  const bool is_plain =
      name != "standard input" && name.find_first_of("'\"\\$`!\n") == std::string::npos;
  const std::string file = is_plain ? name : "FILE";
  constexpr std::string_view anndata =
      "import anndata, scipy.sparse as s; a = anndata.read_h5ad('{0}'); s.save_npz('{0}.npz', "
      "s.csr_array(a.X.T)); open('{0}.names', 'w').write('\\n'.join(a.var_names))";
  constexpr std::string_view tenx =
      "import h5py, scipy.sparse as s; m = h5py.File('{0}')['matrix']; s.save_npz('{0}.npz', "
      "s.csc_array((m['data'][:], m['indices'][:], m['indptr'][:]), shape=m['shape'][:])); "
      "open('{0}.names', 'w').write('\\n'.join(m['features/name'].asstr()))";
  const bool is_anndata = name.ends_with(".h5ad");
  const std::string line = fmt::format(fmt::runtime(is_anndata ? anndata : tenx), file);
  return fmt::format(
      "is an HDF5 file{}, which is not read here. Write its genes as a sparse file: python3 -c "
      "\"{}\" then gpu-similarity ... {}.npz --names {}.names",
      is_anndata ? " of AnnData" : "", line, file, file);
}

}  // namespace

std::string other_format(std::string_view head, const std::string& name) {
  if (head.starts_with(hdf5_magic)) return hdf5_text(name);
  for (const known_format& format : formats) {
    if (head.starts_with(format.magic)) return std::string(format.what);
  }
  // Of each letter of ASCII text one byte is not 0.
  if (head.size() < 4) return {};
  const auto has_text_at = [&](bool first, bool second, bool third, bool fourth) {
    return (head[0] != 0) == first && (head[1] != 0) == second && (head[2] != 0) == third &&
           (head[3] != 0) == fourth;
  };
  if (has_text_at(true, false, true, false) || has_text_at(false, true, false, true)) {
    return std::string(unmarked_utf16);
  }
  if (has_text_at(true, false, false, false) || has_text_at(false, false, false, true)) {
    return std::string(unmarked_utf32);
  }
  return {};
}

}  // namespace gpu::io
