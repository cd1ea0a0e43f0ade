#pragma once
// What is refused of covariates and weights, and that the message says it.

#include <string>

#include "columns/column_cases.hpp"

namespace gpu_test {

/// The message of the error that a call throws.
template <class Error, class Call>
std::string message_of(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  } catch (const std::exception& error) {
    return std::string("another error: ") + error.what();
  }
  return "no error";
}

inline bool says(const std::string& message, const std::string& part) {
  return message.find(part) != std::string::npos;
}

#define GPU_TEST_SAYS(message, part)            \
  do {                                          \
    const std::string got_message = (message);  \
    INFO(got_message);                          \
    CHECK(gpu_test::says(got_message, (part))); \
  } while (false)

inline void covariates_outside_their_range_are_refused(const pair_target& target) {
  GPU_TEST_INFO(target);
  const auto data = random_matrix<double>(6, 10, 1);
  const auto z = random_matrix<double>(9, 10, 2);
  const auto refused = [&](gpu::measure what, gpu::matrix_view<const double> covariates) {
    gpu::pair_options options = target.options();
    options.covariates = covariates;
    return message_of<gpu::invalid_argument>(
        [&] { gpu::all_pairs(what, data, options, gpu::edge_sink{}); });
  };
  constexpr auto pearson = gpu::measure::pearson;
  constexpr auto spearman = gpu::measure::spearman;
  GPU_TEST_SAYS(refused(pearson, {z.data(), 2, 9}),
                "options.covariates: got 9 columns, expected 10");
  GPU_TEST_SAYS(refused(pearson, {z.data(), 0, 10}), "options.covariates: got 0 rows");
  GPU_TEST_SAYS(refused(pearson, {z.data(), 8, 10}),
                "options.covariates: got 8 rows, expected at most 7");
  CHECK(refused(pearson, {z.data(), 7, 10}) == "no error");

  auto bad = random_matrix<double>(3, 10, 2);
  bad(1, 4) = std::numeric_limits<double>::quiet_NaN();
  GPU_TEST_SAYS(refused(pearson, bad.view()), "got nan at row 1, column 4");
  bad(1, 4) = std::numeric_limits<double>::infinity();
  GPU_TEST_SAYS(refused(spearman, bad.view()), "got inf at row 1, column 4");
  for (gpu::index_t k = 0; k < 10; ++k) bad(1, k) = 0.1;
  GPU_TEST_SAYS(refused(pearson, bad.view()), "the values of row 1 are all equal");
  GPU_TEST_SAYS(refused(spearman, bad.view()), "the values of row 1 are all equal");
  for (gpu::index_t k = 0; k < 10; ++k) bad(1, k) = 0.1 + (k % 3 == 0 ? 0x1p-56 : 0.0);
  GPU_TEST_SAYS(refused(pearson, bad.view()), "the values of row 1 are all equal");
  for (gpu::index_t k = 0; k < 10; ++k) bad(1, k) = 3 - 2 * bad(0, k);
  GPU_TEST_SAYS(refused(pearson, bad.view()), "row 1 is a constant plus multiples");
  for (gpu::index_t k = 0; k < 10; ++k) bad(1, k) = std::exp(bad(0, k));
  CHECK(refused(pearson, bad.view()) == "no error");
  GPU_TEST_SAYS(refused(spearman, bad.view()), "ranked, row 1 is a constant plus multiples");
  for (gpu::index_t k = 0; k < 10; ++k) bad(1, k) = 1e8 + 1e-3 * bad(0, k) + 1e-4 * bad(2, k);
  for (gpu::index_t k = 0; k < 10; ++k) bad(2, k) = z(5, k);
  CHECK(refused(pearson, bad.view()) == "no error");
}

inline void weights_outside_their_range_are_refused(const pair_target& target) {
  GPU_TEST_INFO(target);
  const auto data = random_matrix<double>(6, 10, 1);
  const auto refused = [&](std::vector<double> weights, double effective = 0,
                           gpu::measure what = gpu::measure::pearson) {
    gpu::pair_options options = target.options();
    options.column_weights = weights;
    options.effective_observations = effective;
    return message_of<gpu::invalid_argument>(
        [&] { gpu::all_pairs(what, data, options, gpu::edge_sink{}); });
  };
  std::vector<double> weights(10, 1.0);
  CHECK(refused(weights) == "no error");
  GPU_TEST_SAYS(refused({1, 2, 3}), "options.column_weights: got 3 weights, expected 10");
  weights[3] = -1;
  GPU_TEST_SAYS(refused(weights), "options.column_weights[3]: got -1");
  weights[3] = std::numeric_limits<double>::quiet_NaN();
  GPU_TEST_SAYS(refused(weights), "options.column_weights[3]: got nan");
  weights[3] = std::numeric_limits<double>::infinity();
  GPU_TEST_SAYS(refused(weights), "options.column_weights[3]: got inf");
  weights.assign(10, 0.0);
  weights[2] = weights[7] = 5;
  GPU_TEST_SAYS(refused(weights), "got 2 that are positive, expected at least 3");
  CHECK(refused(weights, 0, gpu::measure::cosine) == "no error");
  weights.assign(10, 0.0);
  GPU_TEST_SAYS(refused(weights, 0, gpu::measure::cosine), "got 0 that are positive");
  weights.assign(10, 1.0);
  GPU_TEST_SAYS(refused(weights, 2), "options.effective_observations: got 2, expected from 3 to");
  GPU_TEST_SAYS(refused(weights, -1), "options.effective_observations: got -1");
  for (const double wrong : {2.99, -1.0, 2e15, std::numeric_limits<double>::quiet_NaN()}) {
    GPU_TEST_SAYS(refused({}, wrong), "options.effective_observations: got ");
  }
  CHECK(refused({}, 3) == "no error");

  gpu::pair_options options = target.options();
  const auto z = random_matrix<double>(3, 10, 2);
  options.covariates = z.view();
  options.column_weights = weights;
  options.effective_observations = 5;
  GPU_TEST_SAYS(message_of<gpu::invalid_argument>(
                    [&] { gpu::pearson_all_pairs(data, options, gpu::edge_sink{}); }),
                "options.covariates: got 3 rows, expected at most 2");
}

inline void columns_are_refused_where_they_do_not_go(const pair_target& target) {
  GPU_TEST_INFO(target);
  const auto data = random_matrix<double>(6, 10, 1);
  const auto z = random_matrix<double>(1, 10, 2);
  const std::vector<double> weights(10, 2.0);
  gpu::pair_options partial = target.options();
  partial.covariates = z.view();
  gpu::pair_options weighted = target.options();
  weighted.column_weights = weights;
  const auto refused = [&](gpu::measure what, const gpu::pair_options& options, const auto& sink) {
    return message_of<gpu::unsupported>([&] { gpu::all_pairs(what, data, options, sink); });
  };
  GPU_TEST_SAYS(refused(gpu::measure::bicor, partial, gpu::edge_sink{}),
                "options.covariates: not offered for Bicor, only for spearman, pearson");
  GPU_TEST_SAYS(refused(gpu::measure::cosine, partial, gpu::edge_sink{}),
                "options.covariates: not offered for Cosine, only for spearman, pearson");
  GPU_TEST_SAYS(refused(gpu::measure::spearman, weighted, gpu::edge_sink{}),
                "options.column_weights: not offered for Spearman, only for pearson, cosine");
  GPU_TEST_SAYS(refused(gpu::measure::bicor, weighted, gpu::edge_sink{}),
                "options.column_weights: not offered for Bicor");
  GPU_TEST_SAYS(refused(gpu::measure::pearson, weighted, gpu::edge_sink{.keep = {.max_p = 0.1}}),
                "without options.effective_observations has no significance test");
  gpu::pair_options folded = partial;
  folded.fold = gpu::row_folding::always;
  GPU_TEST_SAYS(
      refused(gpu::measure::spearman, folded, gpu::edge_sink{}),
      "options.fold: always is not offered with options.covariates, expected automatic or never");
  gpu::pair_options pairwise = partial;
  pairwise.nans = gpu::nan_policy::pairwise;
  GPU_TEST_SAYS(refused(gpu::measure::pearson, pairwise, gpu::edge_sink{}),
                "options.nans: pairwise is not offered with options.covariates");
  gpu::pair_options counted = weighted;
  counted.effective_observations = 10;
  GPU_TEST_SAYS(refused(gpu::measure::cosine, counted, gpu::edge_sink{}),
                "options.effective_observations: not offered for Cosine");
  counted = target.options();
  counted.effective_observations = 7.5;
  GPU_TEST_SAYS(refused(gpu::measure::cosine, counted, gpu::edge_sink{}),
                "options.effective_observations: not offered for Cosine");
  GPU_TEST_SAYS(
      refused(gpu::measure::kendall, counted, gpu::edge_sink{}),
      "options.effective_observations: not offered for Kendall, only for spearman, pearson, bicor");
  counted.p_method = gpu::p_method::exact;
  GPU_TEST_SAYS(refused(gpu::measure::spearman, counted, gpu::edge_sink{}),
                "options.p_method: exact is not offered with options.effective_observations");
  counted.p_method = gpu::p_method::t;
  counted.nans = gpu::nan_policy::pairwise;
  GPU_TEST_SAYS(refused(gpu::measure::pearson, counted, gpu::edge_sink{}),
                "options.nans: pairwise is not offered with options.effective_observations");

  gpu::matrix<std::int64_t> large(3, 10);
  for (gpu::index_t k = 0; k < 30; ++k) large.data()[k] = (std::int64_t{1} << 60) + k * k;
  GPU_TEST_SAYS(message_of<gpu::invalid_argument>(
                    [&] { gpu::pearson_all_pairs(large, partial, gpu::edge_sink{}); }),
                "expected integers up to 2^53");
  CHECK(gpu::spearman_all_pairs(large, partial, gpu::edge_sink{}).summary.pairs_tested <= 3);
}

inline void plans_know_of_columns(const pair_target& target) {
  GPU_TEST_INFO(target);
  const auto data = random_matrix<double>(300, 20, 1);
  for (const column_job& job : some_jobs(20)) {
    GPU_TEST_JOB_INFO(job);
    const bool tests = job.has_test();
    const gpu::pair_filter keep =
        tests ? gpu::pair_filter{.max_p = 0.01} : gpu::pair_filter{.min_abs = 0.5};
    const auto plan =
        gpu::plan_all_pairs(job.what, data, job.options(target), gpu::edge_sink{.keep = keep});
    const auto got =
        gpu::all_pairs(job.what, data, job.options(target), gpu::edge_sink{.keep = keep});
    // A table that is no larger than the sample is counted as it is.
    CHECK(std::abs(plan.kept_estimate - static_cast<double>(got.edges.size())) < 1e-6);
  }
}

}  // namespace gpu_test
