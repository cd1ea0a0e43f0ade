// More than 2^32 pairs, elements of a dense result, and bytes of prepared rows: a sample of rows
// against an oracle in integers. Where memory does not suffice, a case is left out.
#include <cuda_runtime_api.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <span>
#include <vector>

#include <gpu/all_pairs.hpp>

#include "reference/correlation_reference.hpp"
#include "support/catch.hpp"
#include "support/device_call.hpp"
#include "support/device_offers.hpp"
#include "support/generators.hpp"

namespace {

using gpu::index_t;
using gpu::pair_variant;

bool has_memory(std::size_t host_bytes, std::size_t device_bytes) {
  std::size_t free_bytes = 0;
  std::size_t total_bytes = 0;
  REQUIRE(cudaMemGetInfo(&free_bytes, &total_bytes) == cudaSuccess);
  const auto host = static_cast<std::size_t>(sysconf(_SC_AVPHYS_PAGES)) *
                    static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  if (free_bytes >= device_bytes && host >= host_bytes) return true;
  gpu_test::note_skip(gpu_test::missing::device,
                      "a large case: " + std::to_string(device_bytes >> 30) +
                          " GiB of the device and " + std::to_string(host_bytes >> 30) +
                          " GiB of the host are not free");
  return false;
}

gpu::pair_options on(pair_variant variant) {
  return {.variant = variant, .exec = {.target = gpu::backend::cuda}};
}

// Ranks of few columns and their square sums, for statistics of any pair.
class rank_table {
 public:
  template <class T>
  explicit rank_table(const gpu::matrix<T>& x) : rows_(x.rows()), cols_(x.cols()) {
    ranks_.reserve(static_cast<std::size_t>(rows_ * cols_));
    for (index_t i = 0; i < rows_; ++i) {
      const auto u = gpu_test::reference_ranks(x.row(i).data(), cols_);
      squares_.push_back(static_cast<double>(gpu_test::reference_product(u, u)));
      for (const std::int64_t rank : u) ranks_.push_back(static_cast<std::int16_t>(rank));
    }
  }
  // NaN where a row has no statistic.
  [[nodiscard]] double rho(index_t i, index_t j) const {
    const std::int16_t* a = &ranks_[static_cast<std::size_t>(i * cols_)];
    const std::int16_t* b = &ranks_[static_cast<std::size_t>(j * cols_)];
    int sum = 0;
    for (index_t k = 0; k < cols_; ++k) sum += a[k] * b[k];
    return sum /
           std::sqrt(squares_[static_cast<std::size_t>(i)] * squares_[static_cast<std::size_t>(j)]);
  }
  [[nodiscard]] index_t rows() const { return rows_; }

 private:
  index_t rows_;
  index_t cols_;
  std::vector<std::int16_t> ranks_;
  std::vector<double> squares_;
};

std::vector<index_t> sampled_rows(index_t rows, std::size_t count) {
  std::mt19937_64 engine(5);
  std::vector<index_t> out{0, 1, rows / 2, rows - 2, rows - 1};
  while (out.size() < count) {
    out.push_back(static_cast<index_t>(engine() % static_cast<std::uint64_t>(rows)));
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

struct row_answer {
  index_t row;
  std::uint32_t degree;
  std::vector<gpu::node_id> best;  // by magnitude, then the lowest
};

row_answer answer_of(const rank_table& table, index_t row, double cut, std::size_t k) {
  std::vector<std::pair<double, gpu::node_id>> all;
  row_answer out{.row = row, .degree = 0, .best = {}};
  for (index_t j = 0; j < table.rows(); ++j) {
    const double strength = std::abs(table.rho(row, j));
    if (j == row || !(strength >= 0)) continue;
    out.degree += strength >= cut ? 1U : 0U;
    all.emplace_back(-strength, static_cast<gpu::node_id>(j));
  }
  const std::size_t count = std::min(k, all.size());
  std::partial_sort(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count), all.end());
  for (std::size_t e = 0; e < count; ++e) out.best.push_back(all[e].second);
  return out;
}

}  // namespace

TEST_CASE("More than 2^32 pairs in every sink", "[spearman][large]") {
  const index_t rows = 100'003;
  constexpr double loose = 0.375;
  constexpr double strict = 0.8;
  constexpr index_t k = 6;
  const auto x = gpu_test::tied_matrix<std::int8_t>(rows, 30, 61, 0.5, 40);
  const rank_table table(x);
  std::vector<row_answer> loose_answers;
  std::vector<row_answer> strict_answers;
  for (const index_t row : sampled_rows(rows, 30)) {
    loose_answers.push_back(answer_of(table, row, loose, k));
    strict_answers.push_back(answer_of(table, row, strict, k));
  }
  for (const auto variant :
       {pair_variant::shared_tiled, pair_variant::tensor, pair_variant::hopper}) {
    if (!gpu_test::applies(variant)) continue;
    INFO("variant " << gpu::to_string(variant));
    const auto options = on(variant);
    const gpu::pair_filter keep{.min_abs = loose};
    const auto counts = gpu::spearman_all_pairs(
        x.view(), options, gpu::count_sink{.keep = keep, .histogram_bins = 40});
    const auto top = gpu::spearman_all_pairs(x.view(), options, gpu::top_k_sink{.k = k});
    const auto edges =
        gpu::spearman_all_pairs(x.view(), options, gpu::edge_sink{.keep = {.min_abs = strict}});
    std::uint64_t degrees = 0;
    std::uint64_t binned = 0;
    for (const std::uint32_t degree : counts.degree) degrees += degree;
    for (const std::uint64_t bin : counts.histogram) binned += bin;
    CHECK(counts.tested > std::uint64_t{1} << 32);
    CHECK(degrees == 2 * counts.kept);
    CHECK(binned == counts.kept);
    std::vector<std::uint32_t> strict_degree(static_cast<std::size_t>(rows));
    std::size_t wrong = 0;
    for (const gpu::edge& e : edges.edges) {
      ++strict_degree[e.row];
      ++strict_degree[e.col];
      wrong += e.statistic == table.rho(e.row, e.col) ? 0U : 1U;
    }
    for (std::size_t a = 0; a < loose_answers.size(); ++a) {
      const row_answer& wanted = loose_answers[a];
      const auto row = static_cast<std::size_t>(wanted.row);
      wrong += counts.degree[row] == wanted.degree ? 0U : 1U;
      wrong += strict_degree[row] == strict_answers[a].degree ? 0U : 1U;
      wrong += top.count[row] == wanted.best.size() ? 0U : 1U;
      for (std::size_t e = 0; e < wanted.best.size(); ++e) {
        wrong += top.index(wanted.row, static_cast<index_t>(e)) == wanted.best[e] ? 0U : 1U;
      }
    }
    CHECK(wrong == 0);
    std::uint64_t streamed = 0;
    const auto summary = gpu::spearman_all_pairs(
        x.view(), options,
        gpu::stream_sink{.keep = {.min_abs = strict},
                         .consume = [&](std::span<const gpu::edge> e) { streamed += e.size(); },
                         .order = gpu::edge_order::unspecified});
    CHECK(streamed == edges.edges.size());
    CHECK(summary.pairs_kept == streamed);
  }
}

TEST_CASE("A dense result of more than 2^32 pairs and bytes", "[spearman][large]") {
  const index_t rows = 93'001;
  const std::size_t bytes = static_cast<std::size_t>(rows * rows) * sizeof(float);
  if (!has_memory(bytes + bytes / 4, std::size_t{8} << 30)) return;
  const auto x = gpu_test::tied_matrix<std::int8_t>(rows, 8, 62, 0.9, 9);
  const rank_table table(x);
  const auto rho =
      gpu::spearman_all_pairs(x.view(), on(pair_variant::automatic), gpu::dense_sink_f32{});
  std::mt19937_64 engine(6);
  std::size_t wrong = 0;
  const auto check = [&](index_t i, index_t j) {
    const double wanted = table.rho(i, j);
    const float got = rho(i, j);
    const bool same = std::isnan(wanted) ? std::isnan(got) : std::abs(got - wanted) < 1e-6;
    wrong += same ? 0U : 1U;
  };
  for (int e = 0; e < 200'000; ++e) {
    check(static_cast<index_t>(engine() % static_cast<std::uint64_t>(rows)),
          static_cast<index_t>(engine() % static_cast<std::uint64_t>(rows)));
  }
  for (const index_t i : sampled_rows(rows, 8)) {
    for (index_t j = 0; j < rows; ++j) check(i, j);
  }
  CHECK(wrong == 0);
}

TEST_CASE("Prepared rows of more than 2^32 bytes", "[spearman][large]") {
  const index_t rows = 270'001;
  const index_t cols = 8192;  // ranks of two bytes
  const auto values = static_cast<std::size_t>(rows * cols);
  if (!gpu_test::applies(pair_variant::tensor)) return;
  if (!has_memory(2 * values, 8 * values)) return;
  gpu::matrix<std::int8_t> x(rows, cols);
  std::mt19937_64 engine(7);
  for (std::size_t at = 0; at < values; at += sizeof(std::uint64_t)) {
    const std::uint64_t word = engine();
    std::memcpy(x.data() + at, &word, sizeof word);
  }
  // Rows far apart that share most of their values; nothing else comes near the cut.
  const std::pair<index_t, index_t> planted[] = {
      {0, rows - 1}, {5, rows - 2}, {rows / 2, rows - 4}, {rows - 6, rows - 3}};
  std::vector<gpu::edge> wanted;
  for (const auto& [i, j] : planted) {
    std::copy_n(x.row(i).data(), cols / 4 * 3, x.row(j).data());
    const auto a = gpu_test::reference_ranks(x.row(i).data(), cols);
    const auto b = gpu_test::reference_ranks(x.row(j).data(), cols);
    const double squares = static_cast<double>(gpu_test::reference_product(a, a)) *
                           static_cast<double>(gpu_test::reference_product(b, b));
    wanted.push_back(
        {.row = static_cast<gpu::node_id>(i),
         .col = static_cast<gpu::node_id>(j),
         .statistic = static_cast<double>(gpu_test::reference_product(a, b)) / std::sqrt(squares),
         .p = 0});
  }
  const auto got = gpu::spearman_all_pairs(x.view(), on(pair_variant::automatic),
                                           gpu::edge_sink{.keep = {.min_abs = 0.5}});
  REQUIRE(got.edges.size() == wanted.size());
  for (std::size_t e = 0; e < wanted.size(); ++e) {
    CHECK(got.edges[e].row == wanted[e].row);
    CHECK(got.edges[e].col == wanted[e].col);
    CHECK(got.edges[e].statistic == wanted[e].statistic);
  }
}

TEST_CASE("The longest rows of ranks, whose sums take 63 bits", "[spearman][large]") {
  // The longest of products, whose largest limbs stand together, and the longest of all.
  const gpu::index_t cols = GENERATE(2'088'896, 3'000'000);
  gpu::matrix<double> x(4, cols);
  for (gpu::index_t k = 0; k < cols; ++k) {
    x(0, k) = static_cast<double>(k);
    x(1, k) = 2 * x(0, k);
    x(2, k) = -x(0, k);
    x(3, k) = static_cast<double>(k * 104'729 % cols / 3);
  }
  const auto wanted = gpu::spearman_all_pairs(
      x.view(), gpu::pair_options{.exec = {.target = gpu::backend::cpu}}, gpu::dense_sink{});
  for (const auto variant : {gpu::pair_variant::automatic, gpu::pair_variant::shared_tiled,
                             gpu_test::tensor_or_tiles()}) {
    const auto got = gpu::spearman_all_pairs(x.view(), on(variant), gpu::dense_sink{});
    CHECK(std::equal(got.data(), got.data() + 16, wanted.data()));
    CHECK(got(0, 1) == 1.0);
    CHECK(got(1, 2) == -1.0);
    const auto best = gpu::spearman_all_pairs(x.view(), on(variant), gpu::top_k_sink{.k = 1});
    CHECK(best.index(0, 0) == 1);
    CHECK(best.statistic(0, 0) == 1.0);
  }
}

namespace {

// Classes of 1, 2, 4, ... rows in mixed order, some rows constant: a class is a set of tie groups,
// row by row in another order.
gpu::matrix<std::int32_t> classes_of_all_sizes(index_t rows, index_t cols) {
  gpu::matrix<std::int32_t> out(rows, cols);
  std::mt19937_64 engine(11);
  std::vector<std::int32_t> row(static_cast<std::size_t>(cols));
  for (index_t i = 0; i < rows; ++i) {
    // Half of the rows have no ties, a quarter one pair of equal values, and so on.
    int ties = 0;
    for (std::uint64_t draw = engine(); ties < cols - 1 && (draw & 1U) != 0; draw >>= 1) ++ties;
    if (i % 97 == 5) ties = static_cast<int>(cols) - 1;
    for (int k = 0; k < cols; ++k) row[static_cast<std::size_t>(k)] = std::max(k, ties);
    std::shuffle(row.begin(), row.end(), engine);
    std::copy(row.begin(), row.end(), &out(i, 0));
  }
  return out;
}

}  // namespace

TEST_CASE("Many rows are counted by warpgroups as by tensor cores", "[spearman][large]") {
  if (!gpu_test::applies(pair_variant::hopper)) return;
  const auto check = [](const gpu::matrix<std::int32_t>& x, const gpu::pair_filter& keep) {
    const gpu::count_sink sink{.keep = keep, .histogram_bins = 1000};
    const auto got = gpu::spearman_all_pairs(x.view(), on(pair_variant::hopper), sink);
    const auto wanted = gpu::spearman_all_pairs(x.view(), on(pair_variant::tensor), sink);
    CHECK(got.kept == wanted.kept);
    CHECK(got.degree == wanted.degree);
    CHECK(got.histogram == wanted.histogram);
    const gpu_test::device_table<std::int32_t> there(x);
    const auto on_device =
        gpu_test::device_call<gpu_test::device_table<std::int32_t>>{gpu::measure::spearman, there};
    if (keep.adjust == gpu::adjustment::none) CHECK(on_device.counts(sink).degree == wanted.degree);
  };
  check(classes_of_all_sizes(70'000, 30), {.max_p = 0.05, .side = gpu::tail::less});
  check(gpu_test::tied_matrix<std::int32_t>(100'300, 100, 5, 0.7, 9), {.max_p = 0.05});
  check(gpu_test::tied_matrix<std::int32_t>(20'000, 30, 9, 0.97, 3),
        {.max_p = 0.05, .adjust = gpu::adjustment::benjamini_hochberg});
  // Few patterns, so that a screen finds too many pairs and gives up.
  const auto distinct = gpu_test::tied_matrix<std::int32_t>(40, 30, 9);
  gpu::matrix<std::int32_t> repeated(60'000, 30);
  for (index_t i = 0; i < repeated.rows(); ++i) {
    std::copy_n(&distinct(i % 40, 0), 30, &repeated(i, 0));
  }
  check(repeated, {.min_abs = 0.95});
}
