#include "stats/significance/significance.hpp"

#include "support/catch.hpp"

// R 4.2.2, qnorm(p, lower.tail = FALSE).
TEST_CASE("Normal quantiles are R's", "[p_value][confidence]") {
  struct literal {
    double p, z;
  };
  for (const literal& each : {literal{0.25, 0.67448975019608171},
                              {0.1, 1.2815515655446008},
                              {0.05, 1.6448536269514726},
                              {0.025, 1.9599639845400538},
                              {0.005, 2.5758293035488999},
                              {1e-4, 3.71901648545568},
                              {1e-8, 5.61200124417479},
                              {1e-15, 7.9413453261709952},
                              {1e-300, 37.047096299361201},
                              {0.975, -1.9599639845400536}}) {
    CHECK(gpu::stats::normal_upper_quantile(each.p) == Approx(each.z).epsilon(1e-14));
  }
  CHECK(gpu::stats::normal_upper_quantile(0.5) == 0.0);
}
