// The choice of the variant, asked without a GPU.
#include "plan/pair_variants.hpp"

#include <string>

#include <gpu/error.hpp>

#include "support/catch.hpp"

namespace {

using gpu::backend;
using gpu::pair_variant;
using gpu::detail::choose_pair_variant;
using gpu::detail::pair_shape;

pair_shape on(int compute_capability, bool warpgroup_code = true) {
  return {.rows = 1000,
          .cols = 30,
          .compute_capability = compute_capability,
          .code_capability = compute_capability,
          .warpgroup_code = warpgroup_code && compute_capability == 90};
}
// A device that runs code for an older one.
pair_shape on_older_code(int compute_capability, int code) {
  pair_shape shape = on(compute_capability, false);
  shape.code_capability = code;
  return shape;
}
pair_variant best(const pair_shape& shape) {
  return choose_pair_variant(backend::cuda, pair_variant::automatic, shape);
}

}  // namespace

TEST_CASE("The best variant follows the device", "[pair_variants]") {
  CHECK(best(on(70)) == pair_variant::shared_tiled);
  CHECK(best(on(75)) == pair_variant::tensor);
  CHECK(best(on(80)) == pair_variant::tensor);
  CHECK(best(on(89)) == pair_variant::tensor);
  CHECK(best(on(90)) == pair_variant::hopper);
  CHECK(best(on(100)) == pair_variant::tensor);
  CHECK(choose_pair_variant(backend::cpu, pair_variant::automatic, {}) == pair_variant::tiled);
}

TEST_CASE("No warpgroup variant without its code", "[pair_variants]") {
  CHECK(best(on(90, false)) == pair_variant::tensor);
  try {
    (void)choose_pair_variant(backend::cuda, pair_variant::hopper, on(90, false));
    FAIL("a variant without code was offered");
  } catch (const gpu::unsupported& refusal) {
    CHECK(std::string(refusal.what()).find("sm_90a") != std::string::npos);
  }
  CHECK_THROWS_AS(choose_pair_variant(backend::cuda, pair_variant::hopper, on(100)),
                  gpu::unsupported);
}

TEST_CASE("The variant follows the code where that is for an older device", "[pair_variants]") {
  CHECK(best(on_older_code(90, 80)) == pair_variant::tensor);
  CHECK(best(on_older_code(90, 75)) == pair_variant::tensor);
  CHECK(best(on_older_code(90, 70)) == pair_variant::shared_tiled);
  CHECK(best(on_older_code(120, 90)) == pair_variant::tensor);
  CHECK(best(on_older_code(86, 80)) == pair_variant::tensor);
  for (const pair_variant variant : {pair_variant::tensor, pair_variant::hopper}) {
    try {
      (void)choose_pair_variant(backend::cuda, variant, on_older_code(90, 70));
      FAIL("a variant without code was offered");
    } catch (const gpu::unsupported& refusal) {
      CHECK(std::string(refusal.what()).find("code was built for 7.0") != std::string::npos);
    }
  }
}

TEST_CASE("A named variant is that variant or refused", "[pair_variants]") {
  for (const auto variant : {pair_variant::naive, pair_variant::shared_tiled, pair_variant::tensor,
                             pair_variant::hopper}) {
    CHECK(choose_pair_variant(backend::cuda, variant, on(90)) == variant);
    if (variant != pair_variant::naive) {
      CHECK_THROWS_AS(choose_pair_variant(backend::cpu, variant, {}), gpu::unsupported);
    }
  }
  CHECK_THROWS_AS(choose_pair_variant(backend::cuda, pair_variant::tensor, on(70)),
                  gpu::unsupported);
  CHECK_THROWS_AS(choose_pair_variant(backend::cuda, pair_variant::tiled, on(90)),
                  gpu::unsupported);
}
