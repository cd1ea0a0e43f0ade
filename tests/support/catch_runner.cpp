// The one source that holds Catch2's implementation, where Catch2 is a header (2.13).
#ifdef GPU_SIMILARITY_CATCH_2
#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>
#else
#include <catch2/catch_session.hpp>
#endif

#include "support/catch_runner.hpp"
#include "support/skip.hpp"

namespace gpu_test {

int run_all_cases(int argc, char** argv) {
  return exit_code_with_skips(Catch::Session().run(argc, argv));
}

}  // namespace gpu_test
