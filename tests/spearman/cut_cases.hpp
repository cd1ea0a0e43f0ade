#pragma once
// Pairs that sit on the cut: rows built so that many statistics equal it, among one class of equal
// square sums, many tiny ones, classes that end inside tiles and rows that repeat. Every sink, with
// rows folded and not, must keep what an oracle in integers keeps, whichever engine decides.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <numeric>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <gpu/all_pairs.hpp>
#include <gpu/p_value.hpp>

#include "reference/correlation_reference.hpp"
#include "support/catch.hpp"
#include "support/pair_cases.hpp"

namespace gpu_test {

/// Which values of a row are made equal, and with that how many rows have the same sum of squares.
enum class tie_classes {
  one,         ///< None: one class.
  every_size,  ///< Half of the rows have none, a quarter one tie, and so on.
  tiny,        ///< At random: nearly every row is a class.
  blocks,   ///< Classes one less than, equal to and one more than a block of rows, and of one row.
  repeated  ///< As tiny, but few different rows.
};
inline constexpr std::pair<tie_classes, const char*> all_tie_classes[] = {
    {tie_classes::one, "one class"},
    {tie_classes::every_size, "classes of every size"},
    {tie_classes::tiny, "tiny classes"},
    {tie_classes::blocks, "classes around blocks"},
    {tie_classes::repeated, "repeated rows"}};

/// Which of `cols` values in order are as large as the one before, of row i of a block of `block`
/// rows at most.
inline std::vector<bool> ties_of(tie_classes kind, gpu::index_t i, gpu::index_t cols,
                                 gpu::index_t block, std::mt19937_64& engine) {
  std::vector<bool> out(static_cast<std::size_t>(cols));
  const auto tie_lowest = [&](gpu::index_t ties) {
    for (gpu::index_t k = 1; k <= std::min(ties, cols - 2); ++k) {
      out[static_cast<std::size_t>(k)] = true;
    }
  };
  switch (kind) {
    case tie_classes::one:
      break;
    case tie_classes::every_size: {
      gpu::index_t ties = 0;
      for (std::uint64_t draw = engine(); (draw & 1U) != 0; draw >>= 1) ++ties;
      tie_lowest(ties);
      break;
    }
    case tie_classes::blocks: {
      const gpu::index_t sizes[] = {1, block - 1, 1, block, 2, block + 1, block / 4 + 1};
      gpu::index_t ties = 0;
      for (gpu::index_t end = 0; ties < 7 && i >= (end += sizes[ties]);) ++ties;
      tie_lowest(2 * ties);
      break;
    }
    case tie_classes::tiny:
    case tie_classes::repeated:
      for (std::size_t k = 1; k + 1 < out.size(); ++k) out[k] = engine() % 3 == 0;
      break;
  }
  return out;
}

/// Rows around a few profiles, some of the other sign, so that statistics of every strength and
/// many equal ones come up; some rows are constant.
inline gpu::matrix<std::int32_t> rows_near_cuts(tie_classes kind, gpu::index_t block,
                                                gpu::index_t cols, std::uint64_t seed) {
  const gpu::index_t rows = 4 * block - block / 8;
  std::mt19937_64 engine(seed);
  std::vector<std::vector<std::int32_t>> profiles(5);
  for (auto& profile : profiles) {
    profile.resize(static_cast<std::size_t>(cols));
    std::iota(profile.begin(), profile.end(), 0);
    std::shuffle(profile.begin(), profile.end(), engine);
  }
  std::vector<gpu::index_t> place(static_cast<std::size_t>(rows));
  std::iota(place.begin(), place.end(), gpu::index_t{0});
  std::shuffle(place.begin(), place.end(), engine);
  gpu::matrix<std::int32_t> out(rows, cols);
  for (gpu::index_t i = 0; i < rows; ++i) {
    if (kind == tie_classes::repeated) engine.seed(seed + static_cast<std::uint64_t>(i % 37));
    auto row = profiles[engine() % profiles.size()];
    // A swap of neighbours moves rho by little, one of any two by much.
    for (std::uint64_t swaps = engine() % 9; swaps > 0; --swaps) {
      const std::uint64_t a = engine() % row.size();
      const std::uint64_t b = swaps < 6 ? (a + 1) % row.size() : engine() % row.size();
      std::swap(row[a], row[b]);
    }
    const std::vector<bool> tied = ties_of(kind, i, cols, block, engine);
    std::vector<std::int32_t> level(row.size());
    for (std::size_t k = 1; k < level.size(); ++k) level[k] = level[k - 1] + (tied[k] ? 0 : 1);
    const std::int32_t sign = engine() % 3 == 0 ? -1 : 1;
    const bool constant = kind != tie_classes::one && i % 97 == 41;
    for (gpu::index_t k = 0; k < cols; ++k) {
      const auto value = static_cast<std::size_t>(row[static_cast<std::size_t>(k)]);
      out(place[static_cast<std::size_t>(i)], k) = constant ? 7 : sign * level[value];
    }
  }
  return out;
}

/// Cuts that many pairs meet exactly: the most frequent magnitude from each of these on.
inline std::vector<double> frequent_cuts(const std::vector<reference_pair>& pairs) {
  std::map<double, int> times;
  for (const reference_pair& pair : pairs) ++times[std::abs(pair.statistic)];
  std::vector<double> out;
  for (const double from : {0.3, 0.7, 0.87}) {
    auto best = times.lower_bound(from);
    for (auto at = best; at != times.end() && at->first < from + 0.04; ++at) {
      if (at->second > best->second) best = at;
    }
    if (best != times.end()) out.push_back(best->first);
  }
  if (times.count(1.0) != 0) out.push_back(1.0);
  return out;
}

/// The weakest statistic that a filter keeps, as a magnitude; with a cut on p, p is asked downwards
/// from `near`, whose p that cut is.
inline double weakest_kept(const gpu::pair_filter& keep, gpu::index_t cols, double near) {
  if (keep.max_p == 1) return keep.min_abs;
  for (double below = near; gpu::correlation_p_value(below, cols, keep.side) <= keep.max_p;) {
    near = below;
    below = std::nextafter(below, 0.0);
  }
  return near;
}

inline std::vector<gpu::edge> ordered(std::vector<gpu::edge> edges) {
  std::sort(edges.begin(), edges.end(), [](const gpu::edge& a, const gpu::edge& b) {
    return std::pair(a.row, a.col) < std::pair(b.row, b.col);
  });
  return edges;
}

/// CUDA's naive variant keeps no ranks to fold by.
inline bool folds(const pair_target& target) {
  return target.where == gpu::backend::cpu || target.variant != gpu::pair_variant::naive;
}

/// One input with what the oracle says of it, and the sinks of one engine held against that.
class cut_check {
  // First, for its type is deduced.
  template <class Sink>
  [[nodiscard]] auto run(const Sink& sink) const {
    return gpu::spearman_all_pairs(data_, options_, sink);
  }

 public:
  cut_check(const gpu::matrix<std::int32_t>& data, const pair_target& target)
      : data_(data.view()),
        target_(target),
        table_(reference_spearman(data_)),
        pairs_(reference_pairs(table_)) {}

  [[nodiscard]] std::vector<double> cuts() const { return frequent_cuts(pairs_); }

  /// The sinks whose decisions are made in different places.
  void edges_and_counts(const gpu::pair_filter& keep, gpu::row_folding fold, double near = 0) {
    options_ = target_.options();
    options_.fold = fold;
    wanted_ = filtered(keep, near);
    INFO("least " << keep.min_abs << ", p " << keep.max_p << ", tail "
                  << static_cast<int>(keep.side) << ", fold " << static_cast<int>(fold));
    CHECK(same(run(gpu::edge_sink{.keep = keep}).edges));
    counts(keep);
  }
  void every_sink(const gpu::pair_filter& keep, gpu::row_folding fold) {
    edges_and_counts(keep, fold);
    INFO("least " << keep.min_abs << ", fold " << static_cast<int>(fold));
    constexpr auto any_order = gpu::edge_order::unspecified;
    CHECK(same(ordered(run(gpu::edge_sink{.keep = keep, .order = any_order}).edges.to_vector())));
    CHECK(same(streamed({.keep = keep, .batch_edges = 257})));
    CHECK(same(ordered(streamed({.keep = keep, .order = any_order, .batch_edges = 1000}))));
    top_k({.k = 4, .keep = keep, .order = gpu::neighbor_order::by_value});
    top_k({.k = 150, .keep = keep, .order = gpu::neighbor_order::by_absolute_value});
  }
  void dense() const { check_dense<spearman_measure>(data_, target_); }

 private:
  [[nodiscard]] std::vector<reference_pair> filtered(const gpu::pair_filter& keep,
                                                     double near) const {
    const double weakest = weakest_kept(keep, data_.cols(), near);
    std::vector<reference_pair> out;
    for (const reference_pair& pair : pairs_) {
      if (reference_key(pair.statistic, keep.side) >= weakest) out.push_back(pair);
    }
    return out;
  }
  [[nodiscard]] bool same(std::span<const gpu::edge> got) const {
    return std::equal(got.begin(), got.end(), wanted_.begin(), wanted_.end(),
                      [](const gpu::edge& a, const reference_pair& b) {
                        return a.row == b.row && a.col == b.col && a.statistic == b.statistic;
                      });
  }
  [[nodiscard]] std::vector<gpu::edge> streamed(gpu::stream_sink sink) const {
    std::vector<gpu::edge> out;
    sink.consume = [&](std::span<const gpu::edge> e) { out.insert(out.end(), e.begin(), e.end()); };
    (void)run(sink);
    return out;
  }
  void counts(const gpu::pair_filter& keep) const {
    constexpr gpu::index_t bins = 50;
    std::vector<std::uint32_t> degree(table_.size());
    std::vector<std::uint64_t> histogram(bins);
    for (const reference_pair& pair : wanted_) {
      ++degree[pair.row];
      ++degree[pair.col];
      const auto bin = static_cast<std::size_t>(std::floor((pair.statistic + 1) * bins / 2));
      ++histogram[std::min<std::size_t>(bin, bins - 1)];
    }
    const auto with_bins = run(gpu::count_sink{.keep = keep, .histogram_bins = bins});
    CHECK(with_bins.kept == wanted_.size());
    CHECK(with_bins.degree == degree);
    CHECK(with_bins.histogram == histogram);
    const auto without = run(gpu::count_sink{.keep = keep});
    CHECK(without.kept == wanted_.size());
    CHECK(without.tested == pairs_.size());
    CHECK(without.degree == degree);
  }
  void top_k(const gpu::top_k_sink& sink) const {
    const auto got = run(sink);
    const auto strength = [&](double r) {
      return reference_partner_key(r, sink.order, sink.keep.side);
    };
    std::vector<std::vector<std::pair<double, gpu::node_id>>> best(table_.size());
    for (const reference_pair& pair : wanted_) {
      const bool is_one_sided = sink.keep.side != gpu::tail::two_sided;
      if (is_one_sided && reference_key(pair.statistic, sink.keep.side) < 0) continue;
      best[pair.row].emplace_back(pair.statistic, pair.col);
      best[pair.col].emplace_back(pair.statistic, pair.row);
    }
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < best.size(); ++i) {
      auto& row = best[i];
      std::sort(row.begin(), row.end(), [&](const auto& a, const auto& b) {
        const double x = strength(a.first);
        const double y = strength(b.first);
        return x != y ? x > y : a.second < b.second;
      });
      const auto count = std::min(row.size(), static_cast<std::size_t>(sink.k));
      wrong += got.count[i] != count ? 1U : 0U;
      for (std::size_t e = 0; e < count; ++e) {
        const auto at = std::pair(static_cast<gpu::index_t>(i), static_cast<gpu::index_t>(e));
        wrong += got.index(at.first, at.second) != row[e].second ? 1U : 0U;
        wrong += got.statistic(at.first, at.second) != row[e].first ? 1U : 0U;
      }
    }
    INFO("k " << sink.k << ", order " << static_cast<int>(sink.order));
    CHECK(wrong == 0);
  }

  gpu::matrix_view<const std::int32_t> data_;
  pair_target target_;
  statistic_table table_;
  std::vector<reference_pair> pairs_;
  gpu::pair_options options_;
  std::vector<reference_pair> wanted_;
};

/// `block`: rows that the engine takes together at most; the input has about four times as many.
inline void pairs_on_the_cut_are_kept_by_every_sink(const pair_target& target, gpu::index_t block) {
  GPU_TEST_INFO(target);
  for (const auto& [kind, name] : all_tie_classes) {
    INFO(name);
    const auto data = rows_near_cuts(kind, block, 30, 51);
    cut_check check(data, target);
    const std::vector<double> cuts = check.cuts();
    REQUIRE(cuts.size() >= 3);
    check.dense();
    const bool repeats =
        folds(target) && (kind == tie_classes::repeated || kind == tie_classes::tiny);
    for (const double cut : cuts) {
      const double p = gpu::correlation_p_value(cut, 30, gpu::tail::two_sided);
      for (const auto fold : {gpu::row_folding::never, gpu::row_folding::always}) {
        if (fold == gpu::row_folding::always && !repeats) continue;
        check.every_sink({.min_abs = cut}, fold);
        check.edges_and_counts({.min_abs = cut, .side = gpu::tail::greater}, fold);
        check.edges_and_counts({.min_abs = cut, .side = gpu::tail::less}, fold);
        if (p > 0) check.edges_and_counts({.max_p = p}, fold, cut);
        if (cut < 1) check.edges_and_counts({.min_abs = std::nextafter(cut, 2.0)}, fold);
      }
    }
  }
}

/// Where rows take other forms: more bytes, no room for the threshold, several limbs.
inline void pairs_on_the_cut_are_kept_at_every_width(const pair_target& target,
                                                     gpu::index_t block) {
  GPU_TEST_INFO(target);
  for (const gpu::index_t cols : {9, 31, 32, 33, 64, 65, 100, 127, 128, 129, 300}) {
    INFO(cols << " columns");
    const auto data = rows_near_cuts(tie_classes::blocks, block, cols, 52);
    cut_check check(data, target);
    for (const double cut : check.cuts()) {
      check.edges_and_counts({.min_abs = cut}, gpu::row_folding::never);
    }
  }
}

}  // namespace gpu_test
