#pragma once
// Arrays of one dimension in an .npz.

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include <gpu/array.hpp>
#include <gpu/index.hpp>

#include "io/read/sparse/zip_archive.hpp"
#include "io/sparse_matrix.hpp"

namespace gpu::io {

class npz_arrays {
 public:
  /// All of them outlive this.
  npz_arrays(const zip_archive& archive, const std::string& file)
      : archive_(archive), file_(file) {}

  /// Whether there is an array NAME.
  [[nodiscard]] bool holds(std::string_view name) const;
  /// A scalar of text, as SciPy says the format.
  /// @throw input_error, as all of these
  [[nodiscard]] std::string text(std::string_view name) const;
  /// How many elements an array has.
  [[nodiscard]] index_t length(std::string_view name) const;
  /// Integers of any width, none below `least` or above `most`. The array has `count` of them.
  template <class Index>
  [[nodiscard]] array<Index> integers(std::string_view name, index_t count, index_t least,
                                      index_t most) const;
  /// Numbers: of their own type, bool as int8; int64, uint32 and uint64 as int32, where they fit.
  [[nodiscard]] any_sparse_values values(std::string_view name, index_t count) const;

 private:
  struct opened;
  [[nodiscard]] opened open(std::string_view name) const;
  [[nodiscard]] opened open_vector(std::string_view name, index_t count) const;
  template <class T>
  void check_bools(std::string_view name, const array<T>& values) const;
  [[noreturn]] void fail(std::string_view name, const std::string& what) const;

  const zip_archive& archive_;
  const std::string& file_;
};

}  // namespace gpu::io
