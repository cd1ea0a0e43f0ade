#include <cstddef>
#include <string>

#include <gpu/all_pairs.hpp>
#include <gpu/error.hpp>

#include "pairs/measure_cases.hpp"

namespace {

constexpr gpu_test::pair_target cpu{.where = gpu::backend::cpu};

}  // namespace

TEST_CASE("Ranks of a descriptor alone have every sink", "[measure]") {
  gpu_test::rank_sinks_equal_the_oracle(cpu);
}

TEST_CASE("Ranks that fold have the folded sinks", "[measure]") {
  gpu_test::folded_sinks_hold_the_edges(cpu);
}

TEST_CASE("Unit rows of a descriptor alone have every sink", "[measure]") {
  gpu_test::run_unit_cases(cpu);
}

TEST_CASE("What a descriptor lacks is refused before any work", "[measure]") {
  gpu_test::what_is_not_described_is_refused(cpu);
}

TEST_CASE("Measures are found by their names", "[measure]") {
  for (const gpu::measure what : gpu::all_measures()) {
    CHECK(gpu::measure_of(gpu::to_string(what)) == what);
    CHECK(gpu::info_of(what).what == what);
    CHECK(gpu::info_of(what).least_cols >= 1);
  }
  CHECK_THROWS_AS(gpu::measure_of("Spearman"), gpu::invalid_argument);
  std::string message;
  try {
    (void)gpu::info_of(gpu::measure{99});
  } catch (const gpu::invalid_argument& e) {
    message = e.what();
  }
  const std::size_t last = gpu::all_measures().size() - 1;
  CHECK(message == "measure: got 99, expected 0 to " + std::to_string(last));
  CHECK(gpu::to_string(gpu::measure{99}) == "unknown");
  const auto data = gpu_test::tied_matrix<std::int32_t>(4, 9, 3);
  CHECK_THROWS_AS(gpu::all_pairs(gpu::measure{99}, data.view()), gpu::invalid_argument);
}
