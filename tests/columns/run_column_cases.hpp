#pragma once
// Every case of covariates and weights.

#include "columns/column_cases.hpp"
#include "columns/column_refusals.hpp"
#include "columns/column_relations.hpp"

namespace gpu_test {

inline void run_column_cases(const pair_target& target) {
  SECTION("the oracle in every shape") {
    column_statistics_equal_the_oracle_in_every_shape(target);
  }
  SECTION("numpy's values") {
    column_statistics_equal_numpy(target);
  }
  SECTION("known bits") {
    column_statistics_have_known_bits(target);
  }
  SECTION("the recursion for one and two covariates") {
    partial_correlation_is_the_recursion(target);
  }
  SECTION("every sink and cut") {
    column_sinks_equal_the_oracle(target);
  }
  SECTION("adjustments equal the textbook") {
    column_adjustments_equal_the_textbook(target);
  }
  SECTION("x against y, prepared rows and parts agree with the whole") {
    column_doors_agree(target);
  }
  SECTION("rows without a rest have no statistic") {
    rows_without_a_rest_have_no_statistic(target);
  }
  SECTION("weights are what they say") {
    weights_are_what_they_say(target);
  }
  SECTION("what is added of covariates is taken off") {
    what_is_added_of_covariates_is_taken_off(target);
  }
  SECTION("covariates outside their range are refused") {
    covariates_outside_their_range_are_refused(target);
  }
  SECTION("weights outside their range are refused") {
    weights_outside_their_range_are_refused(target);
  }
  SECTION("columns are refused where they do not go") {
    columns_are_refused_where_they_do_not_go(target);
  }
  SECTION("plans know of columns") {
    plans_know_of_columns(target);
  }
}

}  // namespace gpu_test
