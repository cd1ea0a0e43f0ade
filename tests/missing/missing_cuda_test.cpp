#include <gpu/all_pairs.hpp>

#include "missing/missing_cases.hpp"
#include "support/same_or_nan.hpp"

using gpu_test::pair_target;

namespace {

constexpr pair_target device{.where = gpu::backend::cuda};
constexpr pair_target host{.where = gpu::backend::cpu};
const std::vector<std::pair<gpu::index_t, gpu::index_t>> shapes{
    {2, 3}, {9, 5}, {40, 30}, {33, 100}, {21, 257}};

// Every sink on both backends, bit for bit.
void backends_agree(gpu::measure what, const gpu::matrix<double>& data, double min_abs) {
  const auto on = [&](const pair_target& where, const auto& sink) {
    return gpu::all_pairs(what, data.view(), gpu_test::pairwise_options(where), sink);
  };
  const auto dense = on(device, gpu::dense_sink{});
  const auto wanted = on(host, gpu::dense_sink{});
  std::size_t wrong = 0;
  for (gpu::index_t i = 0; i < data.rows(); ++i) {
    for (gpu::index_t j = 0; j < data.rows(); ++j)
      wrong += !gpu_test::same_or_nan(dense(i, j), wanted(i, j));
  }
  CHECK(wrong == 0);
  CHECK(dense.summary.constant_rows == wanted.summary.constant_rows);
  const bool has_p = what != gpu::measure::cosine;
  const gpu::pair_filter keep{.max_p = has_p ? 1e-3 : 1.0, .min_abs = min_abs};
  CHECK(on(device, gpu::edge_sink{.keep = keep}).summary.checksum ==
        on(host, gpu::edge_sink{.keep = keep}).summary.checksum);
  CHECK(on(device, gpu::count_sink{.keep = keep}).degree ==
        on(host, gpu::count_sink{.keep = keep}).degree);
  CHECK(on(device, gpu::top_k_sink{.k = 7, .keep = keep}).summary.checksum ==
        on(host, gpu::top_k_sink{.k = 7, .keep = keep}).summary.checksum);
  if (!has_p) return;
  const gpu::pair_filter found{.max_p = 0.05, .adjust = gpu::adjustment::benjamini_hochberg};
  const auto edges = on(device, gpu::edge_sink{.keep = found});
  const auto others = on(host, gpu::edge_sink{.keep = found});
  CHECK(edges.summary.checksum == others.summary.checksum);
  CHECK(edges.summary.pairs_tested == others.summary.pairs_tested);
  CHECK(
      std::equal(edges.edges.begin(), edges.edges.end(), others.edges.begin(), others.edges.end()));
}

}  // namespace

TEST_CASE("Missing values on CUDA equal the oracle", "[missing][cuda]") {
  gpu_test::run_missing_cases(device, gpu_test::missing_spearman, shapes);
  gpu_test::run_missing_cases(device, gpu_test::missing_pearson, shapes);
  gpu_test::run_missing_cases(device, gpu_test::missing_cosine, {{40, 30}, {33, 100}});
  gpu_test::run_missing_cases(device, gpu_test::missing_spearman, {{4, 4200}});
}

TEST_CASE("Missing values on CUDA have the CPU's bits", "[missing][cuda]") {
  for (const gpu_test::holes kind : {gpu_test::holes::scattered, gpu_test::holes::many,
                                     gpu_test::holes::masks, gpu_test::holes::tied}) {
    for (const auto& [rows, cols] : std::vector<std::pair<gpu::index_t, gpu::index_t>>{
             {700, 100}, {1500, 31}, {450, 129}, {420, 1300}, {130, 5003}}) {
      INFO(rows << " x " << cols << ", holes " << static_cast<int>(kind));
      const auto data = gpu_test::rows_with_holes(rows, cols, kind, 99);
      backends_agree(gpu::measure::spearman, data, 0.1);
      backends_agree(gpu::measure::pearson, data, 0.1);
      backends_agree(gpu::measure::cosine, data, 0.6137);
    }
  }
}

namespace {

// A table of `share` missing values, of `kinds` different values; 0: of values without ties.
gpu::matrix<double> random_rows(gpu::index_t rows, gpu::index_t cols, double share,
                                std::uint64_t kinds, std::mt19937_64& random) {
  const auto unit = [&] { return static_cast<double>(random() >> 11U) * 0x1p-53; };
  gpu::matrix<double> out(rows, cols);
  for (gpu::index_t i = 0; i < rows; ++i) {
    for (gpu::index_t k = 0; k < cols; ++k) {
      const double common = i % 4 == 0 ? 0.02 * static_cast<double>(k % 37) : 0.0;
      const double value = unit() + common;
      const double taken = kinds == 0 ? value : std::floor(value * static_cast<double>(kinds));
      out(i, k) = unit() < share ? gpu_test::missing : taken;
    }
  }
  return out;
}

// A table, or x against y.
struct missing_call {
  gpu::measure what;
  const gpu::matrix<double>& x;
  const gpu::matrix<double>* y;
  gpu::pair_options options;

  template <class Sink>
  [[nodiscard]] auto on(gpu::backend where, const Sink& sink) const {
    gpu::pair_options own = options;
    own.exec.target = where;
    return y == nullptr ? gpu::all_pairs(what, x.view(), own, sink)
                        : gpu::all_pairs(what, x.view(), y->view(), own, sink);
  }
};

// Statistic, n and p of edges, counts, histogram, partners and sums of both backends have the same
// bits.
void sinks_agree(const missing_call& call, const gpu::pair_filter& keep, gpu::index_t k,
                 gpu::neighbor_order order) {
  constexpr auto cuda = gpu::backend::cuda;
  constexpr auto cpu = gpu::backend::cpu;
  const gpu::edge_sink edges{.keep = keep};
  const auto got = call.on(cuda, edges);
  const auto wanted = call.on(cpu, edges);
  CHECK(got.summary.used == cuda);
  CHECK(got.summary.checksum == wanted.summary.checksum);
  CHECK(got.summary.pairs_tested == wanted.summary.pairs_tested);
  CHECK(std::equal(got.edges.begin(), got.edges.end(), wanted.edges.begin(), wanted.edges.end(),
                   [](const gpu::edge& a, const gpu::edge& b) {
                     return a.row == b.row && a.col == b.col &&
                            gpu_test::same_or_nan(a.statistic, b.statistic) &&
                            gpu_test::same_or_nan(a.p, b.p);
                   }));
  const gpu::count_sink counting{.keep = keep, .histogram_bins = 17};
  const auto counts = call.on(cuda, counting);
  const auto wanted_counts = call.on(cpu, counting);
  CHECK(counts.kept == wanted_counts.kept);
  CHECK(counts.degree == wanted_counts.degree);
  CHECK(counts.y_degree == wanted_counts.y_degree);
  CHECK(counts.histogram == wanted_counts.histogram);
  const gpu::top_k_sink best{.k = k, .keep = keep, .order = order};
  const auto partners = call.on(cuda, best);
  const auto wanted_partners = call.on(cpu, best);
  CHECK(partners.count == wanted_partners.count);
  CHECK(partners.summary.checksum == wanted_partners.summary.checksum);
}

void dense_agrees(const missing_call& call) {
  const auto got = call.on(gpu::backend::cuda, gpu::dense_sink{});
  const auto wanted = call.on(gpu::backend::cpu, gpu::dense_sink{});
  const auto single = call.on(gpu::backend::cuda, gpu::dense_sink_f32{});
  std::size_t wrong = 0;
  for (gpu::index_t i = 0; i < got.rows(); ++i) {
    for (gpu::index_t j = 0; j < got.cols(); ++j) {
      wrong += !gpu_test::same_or_nan(got(i, j), wanted(i, j));
      wrong += !gpu_test::same_or_nan(static_cast<double>(single(i, j)),
                                      static_cast<double>(static_cast<float>(wanted(i, j))));
    }
  }
  CHECK(wrong == 0);
}

// Random tables and options: every sink of both backends has the same bits.
void random_calls_agree(gpu::measure what, std::uint64_t seed) {
  // Around every step of the words of a mask.
  constexpr gpu::index_t edges_of_cols[]{3,   4,   31,  32,  33,  34,   64,   65,   127,  128,
                                         129, 256, 257, 512, 513, 1024, 1025, 2048, 2049, 4096};
  constexpr std::uint64_t kinds[]{0, 0, 2, 3, 10, 300};
  std::mt19937_64 random(seed);
  const auto from = [&](std::uint64_t least, std::uint64_t most) {
    return least + random() % (most - least + 1);
  };
  for (int round = 0; round < 60; ++round) {
    const gpu::index_t cols = round < 20
                                  ? edges_of_cols[round]
                                  : static_cast<gpu::index_t>(from(3, round % 9 == 0 ? 900 : 150));
    const std::uint64_t most_rows = cols > 600 ? 40 : cols > 150 ? 90 : 400;
    const auto rows = static_cast<gpu::index_t>(from(2, most_rows));
    const double share = 0.1 * static_cast<double>(from(0, 9));
    const std::uint64_t own_kinds = kinds[from(0, 5)];
    const bool is_against = from(0, 2) == 0;
    auto x = random_rows(rows, cols, share, own_kinds, random);
    x(0, 0) = gpu_test::missing;
    const auto y = random_rows(static_cast<gpu::index_t>(from(1, most_rows)), cols, share / 2,
                               own_kinds, random);
    missing_call call{what, x, is_against ? &y : nullptr,
                      gpu_test::pairwise_options({.where = gpu::backend::cpu})};
    call.options.min_observations =
        from(0, 2) == 0 ? static_cast<gpu::index_t>(from(3, static_cast<std::uint64_t>(cols) + 1))
                        : 3;
    gpu::pair_filter keep{.side = static_cast<gpu::tail>(from(0, 2))};
    if (from(0, 3) > 0) keep.max_p = std::pow(10.0, -static_cast<double>(from(0, 5)));
    if (from(0, 2) == 0) keep.min_abs = 0.1 * static_cast<double>(from(1, 6));
    const bool is_part = from(0, 3) == 0;
    if (is_part) {
      call.options.part = {.index = static_cast<gpu::index_t>(from(0, 2)), .of = 3};
    } else if (from(0, 1) == 0) {
      keep.adjust =
          from(0, 1) == 0 ? gpu::adjustment::bonferroni : gpu::adjustment::benjamini_hochberg;
      keep.max_p = std::min(keep.max_p, 0.3);
    }
    INFO("round " << round << ": " << rows << (is_against ? " against others" : "") << " x " << cols
                  << ", share " << share << ", kinds " << own_kinds << ", max_p " << keep.max_p
                  << ", min_abs " << keep.min_abs << ", tail " << static_cast<int>(keep.side)
                  << ", adjustment " << static_cast<int>(keep.adjust) << ", min_observations "
                  << call.options.min_observations);
    sinks_agree(
        call, keep, static_cast<gpu::index_t>(from(1, 9)),
        from(0, 1) == 0 ? gpu::neighbor_order::by_value : gpu::neighbor_order::by_absolute_value);
    if (!is_part) dense_agrees(call);
  }
}

}  // namespace

TEST_CASE("Random missing values on CUDA have the CPU's bits", "[missing][cuda]") {
  random_calls_agree(gpu::measure::spearman, 20);
  random_calls_agree(gpu::measure::pearson, 21);
}

// Rows of `masks` masks, of which the last leaves two columns and shares none with the one before.
gpu::matrix<double> rows_of_masks(gpu::index_t rows, gpu::index_t cols, gpu::index_t masks,
                                  bool is_tied, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto unit = [&] { return static_cast<double>(random() >> 11U) * 0x1p-53; };
  gpu::matrix<double> out(rows, cols);
  for (gpu::index_t i = 0; i < rows; ++i) {
    for (gpu::index_t k = 0; k < cols; ++k) {
      out(i, k) = is_tied ? std::floor(unit() * 4)
                          : unit() + (i % 3 == 0 ? std::sin(static_cast<double>(k)) : 0.0);
    }
  }
  std::vector<std::vector<bool>> has(static_cast<std::size_t>(masks));
  for (gpu::index_t c = 0; c < masks; ++c) {
    for (gpu::index_t k = 0; k < cols; ++k) {
      bool there = c == 0 || unit() > 0.2;
      if (masks > 3 && c == masks - 1) there = k < 2;
      if (masks > 3 && c == masks - 2) there = k >= 2;
      has[static_cast<std::size_t>(c)].push_back(there);
    }
  }
  for (gpu::index_t i = 0; i < rows; ++i) {
    // Classes lie in no order, and their sizes differ.
    const auto own = static_cast<std::size_t>(std::min<double>(
        unit() * unit() * static_cast<double>(masks) * 1.2, static_cast<double>(masks) - 1));
    for (gpu::index_t k = 0; k < cols; ++k) {
      if (!has[own][static_cast<std::size_t>(k)]) out(i, k) = gpu_test::missing;
    }
  }
  return out;
}

TEST_CASE("Rows that share few masks have the CPU's bits on CUDA", "[missing][cuda]") {
  for (const gpu::index_t masks : {1, 2, 5, 20}) {
    for (const auto& [rows, cols] : std::vector<std::pair<gpu::index_t, gpu::index_t>>{
             {700, 3}, {901, 30}, {700, 64}, {700, 65}, {650, 128}, {650, 200}, {2500, 100}}) {
      for (const bool is_tied : {false, true}) {
        INFO(rows << " x " << cols << ", " << masks << " masks, tied " << is_tied);
        const auto data = rows_of_masks(rows, cols, masks, is_tied, 7);
        backends_agree(gpu::measure::spearman, data, 0.1);
        if (rows > 1000) continue;
        backends_agree(gpu::measure::pearson, data, 0.1);
        backends_agree(gpu::measure::cosine, data, 0.6137);
      }
    }
  }
}

TEST_CASE("Rows that share few masks, in pieces and against others", "[missing][cuda]") {
  const auto data = rows_of_masks(3000, 60, 11, false, 8);
  const auto x = rows_of_masks(700, 60, 6, true, 9);
  for (const gpu::measure what : {gpu::measure::spearman, gpu::measure::pearson}) {
    const auto options = [](const pair_target& where, std::size_t bytes) {
      auto out = gpu_test::pairwise_options(where);
      out.exec.workspace_bytes = bytes;
      return out;
    };
    const gpu::edge_sink strict{.keep = {.max_p = 1e-4}};
    const auto wanted = gpu::all_pairs(what, data.view(), options(host, 0), strict);
    for (const std::size_t bytes : {std::size_t{0}, std::size_t{48} << 20}) {
      const auto got = gpu::all_pairs(what, data.view(), options(device, bytes), strict);
      CHECK(got.summary.checksum == wanted.summary.checksum);
      CHECK(got.summary.pairs_tested == wanted.summary.pairs_tested);
    }
    const auto against = [&](const pair_target& where) {
      return gpu::all_pairs(what, x.view(), data.view(), options(where, 0), strict);
    };
    CHECK(against(device).summary.checksum == against(host).summary.checksum);
    const auto part = [&](const pair_target& where) {
      auto own = options(where, 0);
      own.part = {.index = 1, .of = 3};
      return gpu::all_pairs(what, data.view(), own, strict);
    };
    CHECK(part(device).summary.checksum == part(host).summary.checksum);
  }
}

TEST_CASE("Few missing values on CUDA", "[missing][cuda][small]") {
  const auto data = gpu_test::rows_with_holes(40, 37, gpu_test::holes::tied, 5);
  backends_agree(gpu::measure::spearman, data, 0.1);
  backends_agree(gpu::measure::pearson, data, 0.1);
  backends_agree(gpu::measure::spearman,
                 gpu_test::rows_with_holes(20, 300, gpu_test::holes::many, 6), 0.1);
  backends_agree(gpu::measure::spearman, rows_of_masks(100, 37, 3, true, 5), 0.1);
  backends_agree(gpu::measure::spearman, rows_of_masks(100, 130, 2, true, 5), 0.1);
  backends_agree(gpu::measure::pearson, rows_of_masks(100, 37, 3, false, 5), 0.1);
}
