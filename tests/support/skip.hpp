#pragma once
// Cases that do not apply on this machine. Each one is noted with its reason, the entry points list
// the notes at the end, and where nothing may be left out (GPU_SIMILARITY_REQUIRE_CUDA=1 for tests
// that need a GPU, GPU_SIMILARITY_REQUIRE_DATA=1 for known answers) a note fails the program.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gpu_test {

/// What a case lacks.
enum class missing {
  device,     ///< A GPU that can do it.
  code,       ///< Code for what the GPU can do: the build is for older ones.
  data,       ///< A file of known answers.
  privilege,  ///< What the system allows this process.
  absence     ///< A machine without a GPU.
};

struct skip_note {
  missing what;
  std::string reason;
};

/// The notes of this program so far.
inline std::vector<skip_note>& skip_notes() {
  static std::vector<skip_note> notes;
  return notes;
}

/// Notes that a case, or a part of it, does not apply here.
inline void note_skip(missing what, std::string reason) {
  skip_notes().push_back({what, std::move(reason)});
}

/// Prints the notes of this program and returns its exit code: `tests_failed` unless a note is a
/// failure.
int exit_code_with_skips(int tests_failed);

}  // namespace gpu_test
