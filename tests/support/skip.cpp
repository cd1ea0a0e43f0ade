#include "support/skip.hpp"

#include <cstdlib>
#include <iostream>

namespace gpu_test {
namespace {

bool is_required(missing what) {
  if (what == missing::absence || what == missing::privilege || what == missing::code) return false;
  const char* variable =
      what == missing::device ? "GPU_SIMILARITY_REQUIRE_CUDA" : "GPU_SIMILARITY_REQUIRE_DATA";
  const char* value = std::getenv(variable);
  return value != nullptr && std::string_view(value) == "1";
}

}  // namespace

int exit_code_with_skips(int tests_failed) {
  bool fails = false;
  for (const skip_note& note : skip_notes()) {
    const bool required = is_required(note.what);
    const char* const how = note.what == missing::code ? "not in this build: "
                            : required                 ? "skipped, but required: "
                                                       : "skipped: ";
    std::cout << how << note.reason << '\n';
    fails = fails || required;
  }
  return fails && tests_failed == EXIT_SUCCESS ? EXIT_FAILURE : tests_failed;
}

}  // namespace gpu_test
