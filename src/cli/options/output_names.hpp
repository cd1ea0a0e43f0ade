#pragma once
// What the names of the outputs say about their format.

#include <initializer_list>
#include <string>

#include "io/output_form.hpp"

namespace gpu::cli {

/// An option that names an output; without a value where it is not given.
struct named_output {
  const char* option;
  const std::string& path;
};

/// Gives `format` the one that the suffixes say, unless --format was given. `said_by` is what says
/// the format where --format did not, as in "the parts are".
/// @throw usage_error where a suffix is unknown, or two of suffixes and --format contradict
void settle_format(io::result_format& format, bool is_given,
                   std::initializer_list<named_output> outputs, std::string said_by = {});

}  // namespace gpu::cli
