#pragma once
// What covariates and weights must and must not change, for any backend.

#include <string>
#include <string_view>

#include "columns/column_cases.hpp"
#include "columns/column_refusals.hpp"
#include "support/csr_cases.hpp"

namespace gpu_test {

/// Edges without p are no equal ones.
inline std::string bytes_of(const gpu::edge_list& list) {
  std::string out;
  add_result(out, list);
  return out;
}

/// x against y, prepared rows and parts are the whole.
inline void column_doors_agree(const pair_target& target) {
  GPU_TEST_INFO(target);
  constexpr gpu::index_t cols = 26;
  const auto both = area_rows<float>(130, cols, 13);
  const gpu::matrix_view<const float> x(both.data(), 50, cols);
  const gpu::matrix_view<const float> y(both.data() + 50 * cols, 80, cols);
  for (const column_job& job : some_jobs(cols)) {
    GPU_TEST_JOB_INFO(job);
    const gpu::pair_options options = job.options(target);
    const gpu::edge_sink sink{.keep = {.min_abs = 0.2}};
    std::vector<gpu::edge> wanted;
    for (const gpu::edge& e : gpu::all_pairs(job.what, both, options, sink).edges) {
      if (e.row < 50 && e.col >= 50) wanted.push_back({e.row, e.col - 50, e.statistic, e.p});
    }
    CHECK(wanted.size() > 100);
    const auto check = [&](const gpu::edge_list& got) {
      CHECK(got.edges.size() == wanted.size());
      CHECK(std::equal(got.edges.begin(), got.edges.end(), wanted.begin(), wanted.end(),
                       [](const gpu::edge& a, const gpu::edge& b) {
                         return a.row == b.row && a.col == b.col && a.statistic == b.statistic &&
                                same_or_nan(a.p, b.p);
                       }));
      CHECK(got.summary.observations ==
            (job.has_test() ? job.observations(cols) : gpu::observation_count()));
    };
    check(gpu::all_pairs(job.what, x, y, options, sink));
    const bool has_columns = job.covariates.rows() > 0 || !job.weights.empty();
    const auto prepared = gpu::prepare_rows(job.what, y, has_columns ? options : target.options());
    check(gpu::all_pairs(job.what, x, prepared, options, sink));
    if (has_columns) {
      check(gpu::all_pairs(job.what, x, prepared, target.options(), sink));  // those of y
    } else {
      CHECK_THROWS_AS(gpu::prepare_rows(job.what, y, options), gpu::unsupported);
    }
    CHECK(prepared.constant_rows().size() ==
          gpu::all_pairs(job.what, y, options, gpu::count_sink{}).summary.constant_rows.size());
    gpu::pair_options others = options;
    const std::vector<double> ones(cols, 1.0);
    others.column_weights = ones;
    if (job.what != gpu::measure::spearman) {
      CHECK_THROWS_AS(gpu::all_pairs(job.what, x, prepared, others, sink), gpu::invalid_argument);
    }
    if (has_columns) {
      const auto plain = gpu::prepare_rows(job.what, y, target.options());
      CHECK_THROWS_AS(gpu::all_pairs(job.what, x, plain, options, sink), gpu::invalid_argument);
    }

    const auto table = [&](const gpu::pair_options& part, const auto& any) {
      return gpu::all_pairs(job.what, both, part, any);
    };
    const auto rectangle = [&](const gpu::pair_options& part, const auto& any) {
      return gpu::all_pairs(job.what, x, y, part, any);
    };
    for (const gpu::index_t of : {1, 3, 7}) {
      check_row_parts(table, options, of);
      check_row_parts(rectangle, options, of);
      if (!job.has_test()) continue;
      check_parts(table, options, of);
      check_parts(rectangle, options, of);
    }
  }
}

/// Rows in the span of the covariates, constant rows, and values that are no numbers.
inline void rows_without_a_rest_have_no_statistic(const pair_target& target) {
  GPU_TEST_INFO(target);
  constexpr gpu::index_t cols = 40;
  const auto z = random_matrix<double>(3, cols, 5);
  auto data = random_matrix<double>(14, cols, 6);
  const auto noise = random_matrix<double>(1, cols, 7);
  for (gpu::index_t k = 0; k < cols; ++k) {
    data(1, k) = 0.3 * z(0, k) - 1.7 * z(1, k) + 0.1 * z(2, k) + 11.3;
    data(2, k) = z(1, k);
    data(3, k) = 1e6 + 1e-3 * z(0, k);
    data(4, k) = 7.7;
    data(5, k) = 1e-300 * (z(0, k) - z(2, k));
    data(6, k) = 1e300 * (z(0, k) - z(2, k));
    data(7, k) = z(0, k) + 1e-7 * noise(0, k);  // little is left, but it counts
    data(8, k) = 1e5 + noise(0, k);
  }
  data(10, 3) = std::numeric_limits<double>::infinity();
  data(12, 5) = std::numeric_limits<double>::quiet_NaN();
  gpu::pair_options options = target.options();
  options.covariates = z.view();
  GPU_TEST_SAYS(message_of<gpu::invalid_argument>(
                    [&] { gpu::pearson_all_pairs(data, options, gpu::edge_sink{}); }),
                "data: got NaN at row 12, column 5");
  options.nans = gpu::nan_policy::propagate;
  const auto got = gpu::pearson_all_pairs(data, options, gpu::edge_sink{});
  CHECK(got.summary.constant_rows == std::vector<gpu::index_t>{1, 2, 3, 4, 5, 6});
  CHECK(got.summary.infinite_rows == std::vector<gpu::index_t>{10});
  CHECK(got.summary.nan_rows == std::vector<gpu::index_t>{12});
  const auto of_7_and_8 = std::find_if(got.edges.begin(), got.edges.end(),
                                       [](const gpu::edge& e) { return e.row == 7 && e.col == 8; });
  REQUIRE(of_7_and_8 != got.edges.end());
  CHECK(of_7_and_8->statistic > 1 - 1e-6);

  // Ranks know nothing of infinity; those of a covariate's monotone change are its own.
  for (gpu::index_t k = 0; k < cols; ++k) data(9, k) = std::exp(3 * z(2, k));
  const auto ranks = gpu::spearman_all_pairs(data, options, gpu::edge_sink{});
  CHECK(ranks.summary.constant_rows == std::vector<gpu::index_t>{2, 3, 4, 7, 9});
  CHECK(ranks.summary.nan_rows == std::vector<gpu::index_t>{12});
}

/// Weights that are all alike are none, bit for bit; a weight of 0 is a column that is not there,
/// and one of 3 is a column that is there three times.
inline void weights_are_what_they_say(const pair_target& target) {
  GPU_TEST_INFO(target);
  constexpr gpu::index_t rows = 40;
  constexpr gpu::index_t cols = 23;
  const auto data = area_rows<double>(rows, cols, 51);
  for (const gpu::measure what : {gpu::measure::pearson, gpu::measure::cosine}) {
    const auto plain = gpu::all_pairs(what, data, target.options(), gpu::edge_sink{});
    for (const double weight : {1.0, 4.0, 0x1p-1000}) {
      const std::vector<double> alike(cols, weight);
      gpu::pair_options options = target.options();
      options.column_weights = alike;
      options.effective_observations = what == gpu::measure::pearson ? cols : 0;
      const auto got = gpu::all_pairs(what, data, options, gpu::edge_sink{});
      CHECK(got.summary.checksum == plain.summary.checksum);
      CHECK(got.summary.constant_rows == plain.summary.constant_rows);
      CHECK(bytes_of(got) == bytes_of(plain));
    }
    std::vector<double> weights(cols);
    std::vector<gpu::index_t> source;
    for (gpu::index_t k = 0; k < cols; ++k) {
      weights[static_cast<std::size_t>(k)] = static_cast<double>(k % 4);
      for (gpu::index_t copy = 0; copy < k % 4; ++copy) source.push_back(k);
    }
    const auto many = static_cast<gpu::index_t>(source.size());
    gpu::matrix<double> repeated(rows, many);
    gpu::matrix<double> z(2, cols);
    gpu::matrix<double> repeated_z(2, many);
    const auto drawn = random_matrix<double>(2, cols, 52);
    for (gpu::index_t k = 0; k < many; ++k) {
      const gpu::index_t from = source[static_cast<std::size_t>(k)];
      for (gpu::index_t i = 0; i < rows; ++i) repeated(i, k) = data(i, from);
      for (gpu::index_t i = 0; i < 2; ++i) repeated_z(i, k) = drawn(i, from);
    }
    const bool has_test = what == gpu::measure::pearson;
    for (const bool with_covariates : {false, true}) {
      if (with_covariates && !has_test) continue;
      gpu::pair_options options = target.options();
      options.column_weights = weights;
      options.effective_observations = has_test ? many : 0;
      gpu::pair_options expanded = target.options();
      if (with_covariates) {
        options.covariates = drawn.view();
        expanded.covariates = repeated_z.view();
      }
      const auto got = gpu::all_pairs(what, data, options, gpu::edge_sink{}).edges;
      const auto wanted = gpu::all_pairs(what, repeated, expanded, gpu::edge_sink{}).edges;
      REQUIRE(got.size() == wanted.size());
      gpu::index_t wrong = 0;
      for (std::size_t e = 0; e < got.size(); ++e) {
        wrong += !near(got[e].statistic, wanted[e].statistic);
        // p falls steeply where the statistic is near 1.
        wrong += has_test && std::abs(got[e].statistic) < 0.99 &&
                 !near(got[e].p, wanted[e].p, 1e-9 * wanted[e].p);
      }
      CHECK(wrong == 0);
    }
  }
}

/// Multiples of the covariates and a constant, added to rows, change nothing.
inline void what_is_added_of_covariates_is_taken_off(const pair_target& target) {
  GPU_TEST_INFO(target);
  constexpr gpu::index_t cols = 33;
  const auto data = random_matrix<double>(25, cols, 61);
  const auto z = random_matrix<double>(4, cols, 62);
  gpu::matrix<double> moved(25, cols);
  for (gpu::index_t i = 0; i < 25; ++i) {
    for (gpu::index_t k = 0; k < cols; ++k) {
      const double a = static_cast<double>(i % 7) - 3;
      moved(i, k) = data(i, k) + 5 + a * z(0, k) - 2 * a * z(1, k) + z(2, k) + 0.5 * z(3, k);
    }
  }
  gpu::pair_options options = target.options();
  options.covariates = z.view();
  const auto wanted = gpu::pearson_all_pairs(data, options, gpu::edge_sink{}).edges;
  const auto got = gpu::pearson_all_pairs(moved, options, gpu::edge_sink{}).edges;
  REQUIRE(got.size() == wanted.size());
  gpu::index_t wrong = 0;
  for (std::size_t e = 0; e < got.size(); ++e) {
    wrong += !near(got[e].statistic, wanted[e].statistic);
  }
  CHECK(wrong == 0);
}

}  // namespace gpu_test
