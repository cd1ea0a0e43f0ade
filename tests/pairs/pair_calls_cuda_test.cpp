// Calls of all pairs on CUDA: progress, callbacks that throw, and what is refused. Their answers:
// soak_cuda.
#include "pairs/cpu_parity.hpp"

#include <span>
#include <stdexcept>

using gpu::pair_variant;
using namespace gpu_test;

TEST_CASE("progress is reported and cancels on CUDA") {
  const auto x = tied_matrix<std::uint8_t>(2000, 30, 15);
  gpu::pair_options options = cuda_options(pair_variant::automatic);
  std::uint64_t last = 0;
  std::uint64_t total = 0;
  options.exec.on_progress = [&](const gpu::progress& state) {
    if (state.stage == "pairs") last = state.done, total = state.total;
    return gpu::progress_reply::proceed;
  };
  static_cast<void>(spearman_op::run(x, options, gpu::count_sink{}));
  CHECK(total == 2000 * 1999 / 2);
  CHECK(last == total);
  options.exec.on_progress = [](const gpu::progress&) { return gpu::progress_reply::cancel; };
  CHECK_THROWS_AS(spearman_op::run(x, options, gpu::count_sink{}), gpu::cancelled);
  CHECK_THROWS_AS(spearman_op::run(x, options, gpu::edge_sink{}), gpu::cancelled);
}

TEST_CASE("a callback that throws ends a CUDA run") {
  const auto x = tied_matrix<std::uint8_t>(300, 30, 16);
  gpu::stream_sink sink;
  sink.consume = [](std::span<const gpu::edge>) { throw std::runtime_error("enough"); };
  CHECK_THROWS_AS(spearman_op::run(x, cuda_options(pair_variant::automatic), sink),
                  std::runtime_error);
}

TEST_CASE("more columns than a variant takes is unsupported") {
  const auto x = random_matrix<float>(3, 5000, 17);
  CHECK_THROWS_AS(spearman_op::run(x, cuda_options(pair_variant::naive), gpu::count_sink{}),
                  gpu::unsupported);
}

TEST_CASE("less memory than a call takes is said on CUDA") {
  const auto x = tied_matrix<std::int16_t>(1500, 40, 13);
  CHECK_THROWS_AS(
      spearman_op::run(x, cuda_options(pair_variant::automatic, 1000), gpu::count_sink{}),
      gpu::out_of_memory);
}
