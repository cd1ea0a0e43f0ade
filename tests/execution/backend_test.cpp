#include <cstdlib>
#include <vector>

#include <gpu/backend.hpp>
#include <gpu/error.hpp>
#include <gpu/pearson.hpp>
#include <gpu/plan.hpp>
#include <gpu/spearman.hpp>

#include "support/catch.hpp"
#include "support/skip.hpp"

namespace {

// Sets an environment variable for the life of a scope.
class scoped_variable {
 public:
  scoped_variable(const char* name, const char* value) : name_(name) { setenv(name, value, 1); }
  ~scoped_variable() { unsetenv(name_); }

 private:
  const char* name_;
};

}  // namespace

TEST_CASE("The CPU backend is listed first and always usable", "[backend]") {
  const auto backends = gpu::available_backends();
  REQUIRE(backends.size() == 2);
  CHECK(backends[0].kind == gpu::backend::cpu);
  CHECK(backends[0].usable);
  CHECK(backends[1].kind == gpu::backend::cuda);
  CHECK(backends[1].usable == backends[1].reason.empty());
}

TEST_CASE("A backend asked for in the options is the one that runs", "[backend]") {
  CHECK(gpu::resolve_backend({.target = gpu::backend::cpu}) == gpu::backend::cpu);
  const scoped_variable variable("GPU_SIMILARITY_BACKEND", "cuda");
  CHECK(gpu::resolve_backend({.target = gpu::backend::cpu}) == gpu::backend::cpu);
}

TEST_CASE("The environment decides where the options do not", "[backend]") {
  {
    const scoped_variable variable("GPU_SIMILARITY_BACKEND", "cpu");
    CHECK(gpu::resolve_backend() == gpu::backend::cpu);
  }
  const scoped_variable variable("GPU_SIMILARITY_BACKEND", "tpu");
  CHECK_THROWS_AS(gpu::resolve_backend(), gpu::invalid_argument);
}

TEST_CASE("CUDA never falls back silently", "[backend]") {
  if (gpu::available_backends()[1].usable) {
    gpu_test::note_skip(gpu_test::missing::absence, "CUDA never falls back: there is a device");
    return;
  }
  CHECK_THROWS_AS(gpu::resolve_backend({.target = gpu::backend::cuda}), gpu::backend_unavailable);
  CHECK(gpu::resolve_backend() == gpu::backend::cpu);
}

TEST_CASE("All pairs of device memory need a device", "[backend]") {
  if (gpu::available_backends()[1].usable) {
    gpu_test::note_skip(gpu_test::missing::absence, "no device memory: there is a device");
    return;
  }
  const std::vector<float> never_read(60);
  const gpu::device_matrix_view<const float> data(never_read.data(), 6, 10);
  const gpu::device_count_sink sink;
  CHECK_THROWS_AS(gpu::spearman_all_pairs(data), gpu::backend_unavailable);
  CHECK_THROWS_AS(gpu::pearson_all_pairs(data, gpu::edge_sink{}), gpu::backend_unavailable);
  CHECK_THROWS_AS(gpu::spearman_all_pairs(data, sink), gpu::backend_unavailable);
  CHECK_THROWS_AS(gpu::pearson_all_pairs(data, data, {}, sink), gpu::backend_unavailable);
  CHECK_THROWS_AS(static_cast<void>(gpu::plan_spearman_all_pairs(data, {}, sink)),
                  gpu::backend_unavailable);
  CHECK_THROWS_AS(gpu::spearman_all_pairs(data, {.exec = {.target = gpu::backend::cpu}}, sink),
                  gpu::invalid_argument);
}
