#pragma once
// Where an output path leads: found out before anything is computed, so that outputs which would
// destroy each other, or the input, are told apart from those which would not.

#include <sys/types.h>

#include <string>

namespace gpu::io {

enum class output_kind {
  replaced,   ///< A regular file, or a name that is free: written under another name and renamed.
  in_place,   ///< A FIFO or a device: opened and written, never replaced.
  descriptor  ///< A file that this process has open: standard output, /dev/fd/N.
};

/// A place to write to, links followed.
struct output_target {
  std::string name;  ///< For messages: the path as it was given, or "standard output".
  std::string path;  ///< Behind all links; empty for a descriptor.
  output_kind kind = output_kind::replaced;
  int descriptor = -1;       ///< Of kind `descriptor`.
  bool exists = false;       ///< Whether there is such a file; of `replaced` only.
  bool is_terminal = false;  ///< Whether a person reads it as it is written.
  /// An open folder that `path` is a name in, without links; it outlives the output. Of `replaced`
  /// only; less than 0: `path` stands for itself.
  int folder = -1;
};

/// Follows `path`; "-", /dev/stdout, /dev/fd/N and /proc/self/fd/N are descriptors.
/// @throw output_error where it can be no output: a directory, a folder that is not there, a file
///   that may not be written, a descriptor that is not open for writing.
[[nodiscard]] output_target resolve_output(const std::string& path);

/// Whether writing both would mix or lose bytes: one file, under whatever names, or one pipe.
/// Character devices take any number of writers.
[[nodiscard]] bool is_same_output(const output_target& a, const output_target& b);

/// Whether writing `output` would destroy `input` ("-": standard input), which is read from it.
[[nodiscard]] bool is_same_file(const output_target& output, const std::string& input);

}  // namespace gpu::io
