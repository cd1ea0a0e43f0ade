#pragma once
// In what form a result is written, and what the suffix of a file says about it.

#include <optional>
#include <string>

#include "io/compression.hpp"

namespace gpu::io {

enum class result_format { tsv, csv, npy };

/// What stands between two fields of a line of text.
[[nodiscard]] constexpr char separator_of(result_format format) {
  return format == result_format::csv ? ',' : '\t';
}

struct output_form {
  std::optional<result_format> format = {};  ///< Nothing where the name has no suffix for it.
  compression packed = compression::none;
};

/// What the suffix of `path` says; nothing of a name without suffix, of standard output ("-") and
/// of what is there and no regular file.
/// @param any whether an unknown suffix says nothing either: the format is given elsewhere.
/// @throw output_error that lists the suffixes, where this one is unknown or cannot be written
[[nodiscard]] output_form form_of(const std::string& path, bool any = false);

}  // namespace gpu::io
