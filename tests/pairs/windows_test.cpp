// All pairs of rows that memory does not hold at once: under a small limit the CPU packs windows of
// 512 rows, and every sink gives what it gives with all rows packed.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <vector>

#include <gpu/error.hpp>
#include <gpu/matrix.hpp>

#include "pearson/pearson_measure.hpp"
#include "spearman/spearman_measure.hpp"
#include "support/catch.hpp"
#include "support/cpu_level.hpp"
#include "support/generators.hpp"
#include "support/pair_cases.hpp"

namespace {

using gpu::index_t;
using gpu_test::pearson_measure;
using gpu_test::spearman_measure;

gpu::pair_options cpu_options(gpu::pair_variant variant = gpu::pair_variant::automatic,
                              gpu::row_folding fold = gpu::row_folding::never) {
  gpu::pair_options out;
  out.variant = variant;
  out.nans = gpu::nan_policy::propagate;
  out.fold = fold;
  out.exec.target = gpu::backend::cpu;
  out.exec.cpu_threads = 2;
  return out;
}

// The same under nearly the least limit there is: with room for a second thread.
template <class Measure, class T>
gpu::pair_options in_windows(const gpu::matrix<T>& data, gpu::pair_options options) {
  options.exec.workspace_bytes = 1;
  try {
    (void)Measure::run(data.view(), options, gpu::count_sink{});
  } catch (const gpu::out_of_memory& refusal) {
    constexpr std::size_t of_a_thread = 256 << 10;
    options.exec.workspace_bytes = refusal.requested_bytes() + of_a_thread;
  }
  REQUIRE(options.exec.workspace_bytes > 1);
  return options;
}

// More than 300 rows with ties, every third of the later ones a noisy copy of an earlier one, some
// of them constant.
template <class T>
gpu::matrix<T> related_rows(index_t rows, index_t cols, unsigned seed) {
  auto out = gpu_test::tied_matrix<T>(rows, cols, seed);
  for (index_t i = 300; i < rows; i += 3) {
    const index_t from = i * 7 % 300;
    for (index_t k = 0; k < cols; ++k) {
      if ((i + k) % 5 != 0) out(i, k) = out(from, k);
    }
  }
  for (const index_t i : {index_t{0}, index_t{256}, index_t{257}, rows - 1}) {
    std::fill_n(out.data() + i * cols, cols, T{1});
  }
  for (index_t i = 600; i < std::min<index_t>(rows, 700); ++i)
    std::fill_n(out.data() + i * cols, cols, T{2});
  return out;
}

bool same_bytes(const gpu::matrix<double>& a, const gpu::matrix<double>& b) {
  bool same = a.rows() == b.rows() && a.cols() == b.cols();
  for (index_t i = 0; same && i < a.rows() * a.cols(); ++i) {
    const double x = a.data()[i];
    const double y = b.data()[i];
    same = x == y || (std::isnan(x) && std::isnan(y));
  }
  return same;
}

const std::vector<gpu::pair_filter> filters{
    {.max_p = 1e-7},
    {.max_p = 1e-4, .side = gpu::tail::less},
    {.max_p = 0.05},
    {.max_p = 1.0, .min_abs = 0.45, .side = gpu::tail::greater},
    {.max_p = 0.05, .adjust = gpu::adjustment::benjamini_hochberg}};

// How a tail chooses among statistics does not depend on the level; support/area_cases.hpp and
// support/pair_sink_cases.hpp try tails at every level.
bool is_left_out(const gpu::pair_filter& keep) {
  return gpu_test::at_named_level() && keep.side != gpu::tail::two_sided;
}

template <class Measure, class T>
void equals_all_at_once(const gpu::matrix<T>& data, const gpu::pair_options& whole) {
  const gpu::pair_options options = in_windows<Measure>(data, whole);
  const auto view = data.view();
  for (const gpu::pair_filter& keep : filters) {
    if (is_left_out(keep)) continue;
    INFO("max_p " << keep.max_p);
    const auto wanted = Measure::run(view, whole, gpu::edge_sink{.keep = keep});
    const auto got = Measure::run(view, options, gpu::edge_sink{.keep = keep});
    const bool same_edges = got.edges == wanted.edges;
    CHECK(same_edges);
    CHECK(got.summary.pairs_tested == wanted.summary.pairs_tested);
    CHECK(got.summary.constant_rows == wanted.summary.constant_rows);
    CHECK(got.summary.nan_rows == wanted.summary.nan_rows);
    CHECK(got.summary.patterns == wanted.summary.patterns);

    std::vector<gpu::edge> streamed;
    const auto collect = [&](std::span<const gpu::edge> batch) {
      streamed.insert(streamed.end(), batch.begin(), batch.end());
    };
    const gpu::edge_order any = gpu::edge_order::unspecified;
    (void)Measure::run(
        view, options,
        gpu::stream_sink{.keep = keep, .consume = collect, .order = any, .batch_edges = 100});
    std::sort(streamed.begin(), streamed.end(), [](const gpu::edge& a, const gpu::edge& b) {
      return a.row != b.row ? a.row < b.row : a.col < b.col;
    });
    const bool same_stream = streamed == wanted.edges;
    CHECK(same_stream);

    for (const index_t bins : {0, 40}) {
      const gpu::count_sink sink{.keep = keep, .histogram_bins = bins};
      const auto counted = Measure::run(view, options, sink);
      const auto counts = Measure::run(view, whole, sink);
      CHECK(counted.kept == wanted.edges.size());
      const bool same_degrees = counted.degree == counts.degree;
      CHECK(same_degrees);
      CHECK(counted.histogram == counts.histogram);
    }
    for (const gpu::neighbor_order order :
         {gpu::neighbor_order::by_value, gpu::neighbor_order::by_absolute_value}) {
      const gpu::top_k_sink sink{.k = 5, .keep = keep, .order = order};
      const auto near = Measure::run(view, options, sink);
      const auto nearest = Measure::run(view, whole, sink);
      const bool same_counts = near.count == nearest.count;
      CHECK(same_counts);
      CHECK(std::memcmp(near.index.data(), nearest.index.data(),
                        static_cast<std::size_t>(data.rows()) * 5 * sizeof(gpu::node_id)) == 0);
      CHECK(same_bytes(near.statistic, nearest.statistic));
    }
  }
  const auto dense = Measure::run(view, options, gpu::dense_sink{});
  const auto matrix = Measure::run(view, whole, gpu::dense_sink{});
  index_t wrong = 0;
  for (index_t i = 0; i < data.rows(); ++i) {
    for (index_t j = 0; j < data.rows(); ++j) {
      wrong +=
          dense(i, j) != matrix(i, j) && !(std::isnan(dense(i, j)) && std::isnan(matrix(i, j)));
    }
  }
  CHECK(wrong == 0);
}

template <class Measure, class T>
void equals_oracle(const gpu::matrix<T>& data) {
  const auto table = Measure::oracle(gpu_test::const_view(data));
  gpu::pair_options options = in_windows<Measure>(data, cpu_options());
  options.p_method = gpu::p_method::t;  // the p of the oracle
  for (const gpu::pair_filter& keep : filters) {
    if (keep.adjust != gpu::adjustment::none) continue;
    INFO("max_p " << keep.max_p);
    const auto got = Measure::run(data.view(), options, gpu::edge_sink{.keep = keep});
    gpu_test::check_edges<Measure>(got.edges, gpu_test::filtered(table, data.cols(), keep),
                                   data.cols(), keep.side);
  }
}

}  // namespace

TEST_CASE("Windows of ranks give what all rows give", "[windows]") {
  equals_all_at_once<spearman_measure>(related_rows<std::int32_t>(1300, 30, 1), cpu_options());
  equals_all_at_once<spearman_measure>(related_rows<float>(1100, 50, 2), cpu_options());
  equals_all_at_once<spearman_measure>(related_rows<std::uint16_t>(800, 150, 3), cpu_options());
  equals_all_at_once<spearman_measure>(related_rows<std::int8_t>(800, 20, 4),
                                       cpu_options(gpu::pair_variant::naive));
}

TEST_CASE("Windows of scaled rows give what all rows give", "[windows]") {
  equals_all_at_once<pearson_measure>(related_rows<double>(1300, 30, 5), cpu_options());
  equals_all_at_once<pearson_measure>(related_rows<std::int16_t>(800, 70, 6), cpu_options());
  equals_all_at_once<pearson_measure>(related_rows<float>(800, 20, 7),
                                      cpu_options(gpu::pair_variant::naive));
}

TEST_CASE("Windows of few long rows give what all rows give", "[windows]") {
  const auto reals = related_rows<double>(420, 5600, 21);
  // Less than the rows themselves take.
  CHECK(in_windows<pearson_measure>(reals, cpu_options()).exec.workspace_bytes < 420 * 5600 * 8);
  equals_all_at_once<pearson_measure>(reals, cpu_options());
  equals_all_at_once<spearman_measure>(related_rows<float>(420, 12'000, 22), cpu_options());
}

TEST_CASE("Windows leave rows with NaN out", "[windows]") {
  auto data = related_rows<double>(1100, 30, 8);
  for (index_t i = 5; i < 1100; i += 90) data(i, i % 30) = std::numeric_limits<double>::quiet_NaN();
  equals_all_at_once<spearman_measure>(data, cpu_options());
  equals_all_at_once<pearson_measure>(data, cpu_options());
}

TEST_CASE("Windows of patterns give what all rows give", "[windows]") {
  auto data = related_rows<std::int32_t>(1500, 30, 9);
  for (index_t i = 200; i < 1500; i += 4) {
    std::copy_n(data.data() + i * 13 % 200 * 30, 30, data.data() + i * 30);
  }
  const auto options = cpu_options(gpu::pair_variant::automatic, gpu::row_folding::always);
  equals_all_at_once<spearman_measure>(data, options);
}

TEST_CASE("Rows that no window needs fit after all", "[windows]") {
  // All but 400 are constant.
  auto data = gpu_test::tied_matrix<std::int32_t>(2000, 30, 10);
  for (index_t i = 0; i < 2000; ++i) {
    if (i % 5 != 2) std::fill_n(data.data() + i * 30, 30, 3);
  }
  equals_all_at_once<spearman_measure>(data, cpu_options());
  std::fill_n(data.data(), 2000 * 30, 3);
  const auto options = in_windows<spearman_measure>(data, cpu_options());
  CHECK(gpu::spearman_all_pairs(data.view(), options, gpu::edge_sink{}).edges.empty());
  CHECK(gpu::spearman_all_pairs(data.view(), options, gpu::count_sink{}).kept == 0);
  CHECK(gpu::spearman_all_pairs(data.view(), options, gpu::top_k_sink{}).count[7] == 0);
}

TEST_CASE("Windows give what the oracle gives", "[windows]") {
  equals_oracle<spearman_measure>(related_rows<std::int32_t>(900, 30, 11));
  equals_oracle<pearson_measure>(related_rows<double>(900, 30, 12));
}

TEST_CASE("Windows end with the progress callback's word", "[windows]") {
  const auto data = related_rows<std::int32_t>(1300, 30, 13);
  auto options = in_windows<spearman_measure>(data, cpu_options());
  std::uint64_t done = 0;
  std::uint64_t total = 1;
  options.exec.on_progress = [&](const gpu::progress& state) {
    done = state.done;
    total = state.total;
    CHECK(state.done <= state.total);
    return gpu::progress_reply::proceed;
  };
  (void)gpu::spearman_all_pairs(data.view(), options, gpu::edge_sink{.keep = {.max_p = 0.01}});
  CHECK(done == total);
  options.exec.on_progress = [](const gpu::progress& state) {
    return state.stage == "pairs" ? gpu::progress_reply::cancel : gpu::progress_reply::proceed;
  };
  CHECK_THROWS_AS(gpu::spearman_all_pairs(data.view(), options, gpu::top_k_sink{}), gpu::cancelled);
}

TEST_CASE("An edge that is a batch of its own is delivered once", "[windows]") {
  // One edge in the first panel of rows, which fills a batch, and one in a later panel.
  auto data = gpu_test::random_matrix<double>(3000, 40, 14);
  for (const index_t i : {index_t{10}, index_t{2000}}) {
    std::copy_n(data.data() + i * 40, 40, data.data() + (i + 1) * 40);
  }
  for (const auto order : {gpu::edge_order::by_row_then_column, gpu::edge_order::unspecified}) {
    std::vector<gpu::node_id> rows;
    const auto take = [&](std::span<const gpu::edge> batch) {
      for (const gpu::edge& e : batch) rows.push_back(e.row);
    };
    const gpu::stream_sink sink{
        .keep = {.min_abs = 0.999}, .consume = take, .order = order, .batch_edges = 1};
    const auto summary = gpu::spearman_all_pairs(data.view(), cpu_options(), sink);
    CHECK(rows == std::vector<gpu::node_id>{10, 2000});
    CHECK(summary.pairs_kept == 2);
  }
}
