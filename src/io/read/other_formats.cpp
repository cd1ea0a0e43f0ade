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

/// What `what` says of a file that Python writes as one that is read: `{}` in it is its name.
std::string python_text(std::string_view what, const std::string& name) {
  // Standard input has no name, and others do not stand in both kinds of quotes.
  const bool is_plain =
      name != "standard input" && name.find_first_of("'\"\\$`!\n") == std::string::npos;
  return fmt::format(fmt::runtime(what), is_plain ? name : "FILE");
}

constexpr std::string_view zip_text =
    "is a zip archive, which is not read here. Write a sparse matrix of scipy.sparse.save_npz as "
    ".mtx: python3 -c \"import scipy.io as o, scipy.sparse as s; o.mmwrite('{0}.mtx', "
    "s.load_npz('{0}'))\". An .xlsx is read as CSV, a dense array as .npy";

constexpr std::string_view anndata_text =
    "is an HDF5 file of AnnData, which is not read here. Write its genes as a sparse file: python3 "
    "-c \"import anndata, scipy.io as o, scipy.sparse as s; a = anndata.read_h5ad('{0}'); "
    "o.mmwrite('{0}.mtx', s.coo_array(a.X.T)); open('{0}.names', "
    "'w').write('\\n'.join(a.var_names))\" then gpu-similarity ... {0}.mtx --names {0}.names";

constexpr std::string_view hdf5_text =
    "is an HDF5 file, which is not read here. Write its genes as a sparse file: python3 -c "
    "\"import "
    "h5py, scipy.io as o, scipy.sparse as s; m = h5py.File('{0}')['matrix']; o.mmwrite('{0}.mtx', "
    "s.csc_array((m['data'][:], m['indices'][:], m['indptr'][:]), shape=m['shape'][:])); "
    "open('{0}.names', 'w').write('\\n'.join(m['features/name'].asstr()))\" then gpu-similarity "
    "... {0}.mtx --names {0}.names";

}  // namespace

std::string other_format(std::string_view head, const std::string& name) {
  if (head.starts_with(hdf5_magic)) {
    return python_text(name.ends_with(".h5ad") ? anndata_text : hdf5_text, name);
  }
  if (head.starts_with("PK\x03\x04")) return python_text(zip_text, name);
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
