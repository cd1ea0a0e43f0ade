#pragma once
// The cases that every measure, backend and variant of all pairs must pass. A test program calls
// them with a measure (tests/spearman/spearman_measure.hpp, tests/pearson/pearson_measure.hpp) and
// the targets it has: the CPU programs here, the CUDA programs with the same cases.
//
// A measure has: run(view, options, sink), plan(view, options, filter), oracle(view),
// same(got, wanted) for a statistic, same_dense(got, wanted).

#include <cstdint>

#include "support/pair_call_cases.hpp"
#include "support/pair_input_cases.hpp"
#include "support/pair_sink_cases.hpp"

namespace gpu_test {

/// Every case but the tables of element types.
template <class Measure>
void run_common_pair_cases(const pair_target& target) {
  SECTION("dense equals the oracle in every shape") {
    dense_equals_oracle_in_every_shape<Measure>(target);
  }
  SECTION("every element type and stride") {
    dense_takes_element_type<Measure, std::int8_t>(target);
    dense_takes_element_type<Measure, std::int16_t>(target);
    dense_takes_element_type<Measure, std::int32_t>(target);
    dense_takes_element_type<Measure, std::uint8_t>(target);
    dense_takes_element_type<Measure, std::uint16_t>(target);
    dense_takes_element_type<Measure, float>(target);
    dense_takes_element_type<Measure, double>(target);
  }
  SECTION("edges equal the filtered oracle") {
    edges_equal_filtered_oracle<Measure>(target);
  }
  SECTION("an exception of the consumer reaches the caller") {
    an_exception_of_the_consumer_reaches_the_caller<Measure>(target);
  }
  SECTION("top-k equals the sorted oracle") {
    top_k_equals_sorted_oracle<Measure>(target);
  }
  SECTION("constant rows have no statistic") {
    constant_rows_have_no_statistic<Measure>(target);
  }
  SECTION("NaN is refused or kept to its row") {
    nan_is_refused_or_kept_to_its_row<Measure>(target);
  }
  SECTION("small inputs give small results") {
    small_inputs_give_small_results<Measure>(target);
  }
  SECTION("arguments outside their range are refused") {
    arguments_outside_their_range_are_refused<Measure>(target);
  }
  SECTION("progress is told and cancels") {
    progress_is_told_and_cancels<Measure>(target);
  }
  SECTION("the plan tells what a run would keep") {
    plan_tells_what_a_run_would_keep<Measure>(target);
  }
}

}  // namespace gpu_test
