#include <functional>
#include <vector>

#include <gpu/error.hpp>
#include <gpu/execution.hpp>
#include <gpu/plan.hpp>
#include <gpu/similarity.hpp>

#include "support/catch.hpp"
#include "support/device_offers.hpp"
#include "support/generators.hpp"

namespace {

bool plans(gpu::pair_variant variant) {
  const auto some = gpu_test::random_matrix<float>(3, 5, 1);
  const gpu::pair_options options{.variant = variant, .exec = {.target = gpu::backend::cuda}};
  try {
    (void)gpu::plan_all_pairs(gpu::measure::spearman, some.view(), options, gpu::pair_filter{});
  } catch (const gpu::unsupported&) {
    return false;
  }
  return true;
}

}  // namespace

TEST_CASE("A usable device is found, described and taken", "[backend][cuda]") {
  const auto devices = gpu::available_devices();
  REQUIRE(!devices.empty());
  CHECK(devices[0].compute_major >= 7);
  CHECK(devices[0].memory_bytes > 0);
  CHECK(gpu::resolve_backend({.target = gpu::backend::cuda}) == gpu::backend::cuda);
}

TEST_CASE("A device ordinal that does not exist is refused", "[backend][cuda]") {
  CHECK_THROWS_AS(gpu::resolve_backend({.target = gpu::backend::cuda, .devices = {4096}}),
                  gpu::invalid_argument);
}

TEST_CASE("The library offers what the device can do, and nothing else", "[backend][cuda]") {
  for (const auto variant :
       {gpu::pair_variant::naive, gpu::pair_variant::tiled, gpu::pair_variant::shared_tiled,
        gpu::pair_variant::tensor, gpu::pair_variant::hopper}) {
    INFO(gpu::to_string(variant));
    CHECK(plans(variant) == gpu_test::cuda_must_offer(variant));
  }
}

TEST_CASE("Operations on CUDA ask the progress callback before they begin", "[backend][cuda]") {
  const auto data = gpu_test::random_matrix<double>(30, 30, 4);
  gpu::matrix<double> out(30, 30);
  int asked = 0;
  gpu::progress_reply reply = gpu::progress_reply::proceed;
  const gpu::execution exec{.target = gpu::backend::cuda,
                            .on_progress = [&](const gpu::progress& state) {
                              ++asked;
                              CHECK(state.done == 0);
                              CHECK(state.total == 30);
                              return reply;
                            }};
  const std::vector<std::function<void()>> calls{
      [&] { (void)gpu::rank_rows(data.view(), {.exec = exec}); },
      [&] { (void)gpu::top_k(data.view(), 3, {.exec = exec}); },
      [&] { (void)gpu::top_k_distinct(data.view(), 3, {.exec = exec}); },
      [&] { gpu::matmul(data.view(), data.view(), out.view(), {.exec = exec}); },
      [&] { gpu::mean_filter(data.view(), out.view(), {.window = 3, .exec = exec}); },
      [&] { (void)gpu::pack_bits(data.view(), 0.5, exec); }};
  for (const auto& call : calls) {
    reply = gpu::progress_reply::proceed;
    asked = 0;
    CHECK_NOTHROW(call());
    CHECK(asked == 1);
    reply = gpu::progress_reply::cancel;
    CHECK_THROWS_AS(call(), gpu::cancelled);
    CHECK(asked == 2);
  }
}
