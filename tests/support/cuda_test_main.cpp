// Entry point of the tests that need a GPU. Without one they are skipped, visibly: exit code 77,
// which ctest reports as skipped. With GPU_SIMILARITY_REQUIRE_CUDA=1 that is a failure instead, and
// so is each single case that the device does not suit.
#include <cstdlib>
#include <iostream>
#include <string_view>

#include <gpu/execution.hpp>

#include "support/catch_runner.hpp"
#ifdef GPU_SIMILARITY_TEST_INTERNALS
#include "plan/forced/forced_ways.hpp"
#endif

namespace {

constexpr int exit_skipped = 77;

bool cuda_is_required() {
  const char* value = std::getenv("GPU_SIMILARITY_REQUIRE_CUDA");
  return value != nullptr && std::string_view(value) == "1";
}

}  // namespace

int main(int argc, char** argv) {
  ::setenv("GPU_SIMILARITY_BACKEND", "cuda", 0);  // small tables would go to the CPU
  const auto backends = gpu::available_backends();
  if (!backends.back().usable) {
    std::cout << "no usable CUDA device (" << backends.back().reason << "): "
              << (cuda_is_required() ? "required by GPU_SIMILARITY_REQUIRE_CUDA, failing\n"
                                     : "tests skipped\n");
    return cuda_is_required() ? EXIT_FAILURE : exit_skipped;
  }
#ifdef GPU_SIMILARITY_TEST_INTERNALS
  // Small tables are to reach every way; soak_cuda also has those that they take.
  gpu::detail::ways_in_force().cuda.never_short = true;
#endif
  return gpu_test::run_all_cases(argc, argv);
}
