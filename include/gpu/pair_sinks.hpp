#pragma once
/// @file
/// What to keep of all pairs of rows: filters, sinks and the results that follow from them.
///
/// A pair is (i, j) with i < j; of x against y, row i of x and row j of y. Its *statistic* belongs
/// to the measure: rho (Spearman), r (Pearson). A pair with a constant row, or with a row that
/// holds a NaN, has no statistic: it is NaN in a dense result, never an edge, and not a tested
/// pair.

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include <gpu/array.hpp>
#include <gpu/execution.hpp>
#include <gpu/export.hpp>
#include <gpu/index.hpp>
#include <gpu/matrix.hpp>
#include <gpu/measure.hpp>
#include <gpu/pair_options.hpp>

namespace gpu {
inline namespace v0 {

/// The alternative hypothesis of the t test.
enum class tail {
  two_sided,  ///< The correlation is not zero.
  greater,    ///< It is positive.
  less        ///< It is negative.
};

/// Correction of `max_p` for the number of tests, the family: all pairs of rows that both have a
/// statistic.
enum class adjustment {
  none,
  bonferroni,         ///< p * family <= max_p.
  benjamini_hochberg  ///< False discovery rate max_p; costs one to three counting passes.
};

/// Which pairs a sink keeps: both cuts must hold. The defaults keep every pair that has a
/// statistic.
struct pair_filter {
  /// Keep p <= max_p, after `adjust`; in (0, 1]. The cut is turned into one cut on the statistic
  /// before any pair is computed.
  double max_p = 1.0;
  /// Keep |statistic| >= min_abs; with a one-sided tail statistic >= min_abs (greater) or
  /// statistic <= -min_abs (less). In [0, 1]; 0 keeps all, for every tail; infinity keeps none.
  double min_abs = 0.0;
  /// The tail that p is taken from.
  tail side = tail::two_sided;
  /// Multiple-testing correction of max_p.
  adjustment adjust = adjustment::none;
};

/// One kept pair.
struct edge {
  node_id row;       ///< i
  node_id col;       ///< j > i; of x against y, a row of y
  double statistic;  ///< Of the measure: rho, r, ...
  double p;          ///< p of the filter's tail, not adjusted; NaN where the measure has none
  /// Whether all four members are equal.
  friend bool operator==(const edge&, const edge&) = default;
};

/// Order in which edges are delivered.
enum class edge_order {
  by_row_then_column,  ///< Ascending (i, j): the same bytes on every run and backend.
  unspecified  ///< As they are found: the same edges, in an order that may differ between two runs.
               ///< Takes less memory and time on large results.
};

/// Checksum of a set of pairs with their statistics. The checksums of two disjoint sets add up to
/// the checksum of both, so the parts of a job have the checksum of the whole, whoever computed
/// them and in whatever order. It differs for a set with a pair missing, repeated or with another
/// statistic, except with a probability of about 2^-128.
///
/// For each pair (i, j) with statistic s, mix1 and mix2 are two 64-bit mixes of i, j and the bits
/// of s, as checksum_of has them; the members are sums over the pairs, modulo 2^64.
struct pair_checksum {
  std::uint64_t count = 0;  ///< Number of pairs.
  std::uint64_t mix1 = 0;   ///< Sum of the first mix.
  std::uint64_t mix2 = 0;   ///< Sum of the second mix.

  /// Adds the checksum of other pairs.
  constexpr pair_checksum& operator+=(const pair_checksum& other) {
    count += other.count;
    mix1 += other.mix1;
    mix2 += other.mix2;
    return *this;
  }
  /// The checksum of the pairs of both.
  friend constexpr pair_checksum operator+(pair_checksum a, const pair_checksum& b) {
    return a += b;
  }
  /// Whether all members are equal.
  friend bool operator==(const pair_checksum&, const pair_checksum&) = default;
};

namespace detail {

/// The finaliser of Murmur3: a bijection; every bit of the result depends on every bit of `x`.
constexpr std::uint64_t murmur_mix(std::uint64_t x) {
  x = (x ^ (x >> 33)) * 0xff51afd7ed558ccdULL;
  x = (x ^ (x >> 33)) * 0xc4ceb9fe1a85ec53ULL;
  return x ^ (x >> 33);
}
/// The finaliser of SplitMix64: another one.
constexpr std::uint64_t split_mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

}  // namespace detail

/// The checksum of one pair: with k = 2^32 row + col + 0x9e3779b97f4a7c15 and s the bits of the
/// statistic as an IEEE double, -0 taken as 0, mix1 = murmur(split(k) + s) and mix2 =
/// split(murmur(k) + s), modulo 2^64; murmur and split are the finalisers of Murmur3 and of
/// SplitMix64. `row` and `col` are as an edge or a table of neighbours gives them: of a part those
/// of the whole job, and of x against y, `col` is a row of y.
constexpr pair_checksum checksum_of(node_id row, node_id col, double statistic) {
  const std::uint64_t key = (std::uint64_t{row} << 32 | col) + 0x9e3779b97f4a7c15ULL;
  const auto bits = std::bit_cast<std::uint64_t>(statistic + 0.0);
  return {.count = 1,
          .mix1 = detail::murmur_mix(detail::split_mix(key) + bits),
          .mix2 = detail::split_mix(detail::murmur_mix(key) + bits)};
}

/// "count:mix1:mix2", the count in decimal and each mix in 16 hexadecimal digits: as the command
/// writes it.
[[nodiscard]] GPU_SIMILARITY_EXPORT std::string to_string(const pair_checksum& checksum);

/// What a run did, in every result.
struct pair_summary {
  index_t rows = 0;  ///< Rows of the input; of x against y, of x.
  index_t cols = 0;  ///< Columns of the input.
  /// Observations of the test of a pair, to be given to gpu::p_value_of and
  /// gpu::confidence_interval: cols, or options.effective_observations, less one for each
  /// covariate; 0 where there is no test. With nan_policy::pairwise: of a pair that shares all
  /// columns.
  observation_count observations = 0;
  /// Rows without a statistic because all values are equal, of cosine all zero.
  /// With nan_policy::pairwise: also those of whose values fewer than min_observations are there.
  std::vector<index_t> constant_rows = {};
  std::vector<index_t> nan_rows = {};  ///< Rows that hold a NaN (nan_policy::propagate only).
  /// Rows without a statistic because they hold an infinite value; measures of ranks have none.
  std::vector<index_t> infinite_rows = {};
  index_t y_rows = 0;                         ///< Of x against y: rows of y.
  std::vector<index_t> y_constant_rows = {};  ///< Of x against y: as constant_rows, of y.
  std::vector<index_t> y_nan_rows = {};       ///< Of x against y: as nan_rows, of y.
  std::vector<index_t> y_infinite_rows = {};  ///< Of x against y: as infinite_rows, of y.
  /// First row that the call was about; 0 except for a part.
  index_t part_begin = 0;
  index_t part_end = 0;  ///< One past its last row.
  /// Distinct rank vectors that the rows were folded into, see pair_options::fold; 0: each row for
  /// itself.
  index_t patterns = 0;
  /// Pairs of rows that both have a statistic; those of the part, where the call is one. With
  /// nan_policy::pairwise and an adjustment: pairs that have a statistic, which are the family.
  std::uint64_t pairs_tested = 0;
  /// Those that passed the filter; of a top_k_sink, the entries of the table.
  std::uint64_t pairs_kept = 0;
  /// If p comes from permutations (`test`): the pairs of pairs_tested whose p is Student's, because
  /// a row has ties or there are too many columns; else 0.
  std::uint64_t pairs_by_t = 0;
  significance test = significance::none;  ///< The test behind p.
  /// No p is below it: least_rank_p of a test of ranks; 0 of other tests.
  double least_p = 0;
  /// Of the kept edges, the same whether rows were folded or not; of the entries of a table of
  /// partners. Zeros for sinks that give no pairs one by one.
  pair_checksum checksum = {};
  double max_p_effective = 1.0;  ///< The cut on p after the adjustment.
  /// The least magnitude that was kept on any side: 0 where statistics of 0 pass, infinity where
  /// none does.
  double min_abs_effective = 0.0;
  /// The cut with its sign: statistics >= cut_at_least or <= cut_at_most are kept. Infinity or
  /// -infinity where that side keeps none. With nan_policy::pairwise: that of pairs that share all
  /// columns. Of Kendall's tau and of p by permutations, where max_p cuts: that of rows without
  /// ties.
  double cut_at_least = 0.0;
  double cut_at_most = 0.0;                        ///< See cut_at_least.
  backend used = backend::cpu;                     ///< Where it ran.
  std::string device = {};                         ///< CPU or GPU name; of several, "2 x name".
  pair_variant variant = pair_variant::automatic;  ///< What ran: never `automatic`.
  double prepare_seconds = 0;                      ///< Ranking or scaling and packing of the rows.
  double pairs_seconds = 0;  ///< The pairs, with the delivery of what is kept.
};

// ---- sinks ------------------------------------------------------------------------------------

/// The types that a dense result can have.
template <class Value>
concept dense_value = std::same_as<Value, double> || std::same_as<Value, float>;

/// Keep every statistic: the full symmetric matrix [rows, rows] with ones on the diagonal, NaN in
/// the rows and columns without a statistic. Memory: rows^2 values.
template <dense_value Value>
struct basic_dense_sink {
  /// Type of the statistic in the result.
  using value_type = Value;
};
/// Statistics in double precision.
using dense_sink = basic_dense_sink<double>;
/// Statistics in single precision, half the memory.
using dense_sink_f32 = basic_dense_sink<float>;

/// Keep the pairs that pass the filter, as a list. Memory: 24 bytes an edge.
struct edge_sink {
  /// Which pairs.
  pair_filter keep = {};
  /// Largest number of edges to hold; more throws gpu::capacity_exceeded with the number needed.
  index_t max_edges = std::numeric_limits<index_t>::max();
  /// Order of the list.
  edge_order order = edge_order::by_row_then_column;
};

/// How neighbours of a row are ordered.
enum class neighbor_order {
  by_value,          ///< Largest statistic first; with tail::less the smallest first.
  by_absolute_value  ///< Largest magnitude first.
};

/// Whether a table of partners has q, their adjusted p.
enum class neighbor_q {
  none,  ///< It has none.
  /// It has: the least `max_p` with which `pair_filter::adjust` would keep the pair, see
  /// gpu::adjusted_p_values. The family is all tests of the job.
  exact
};

/// Keep the best k partners of each row among those that pass the filter; of one tail, those of its
/// sign alone. Ties go to the lowest partner. Memory: rows * k * 12 bytes.
///
/// With neighbor_q::exact another 8 bytes an entry. For benjamini_hochberg one more pass over the
/// pairs follows, which holds the p of every pair that passes the adjusted cut, 8 bytes each,
/// whatever `min_abs` and `k` leave out, and 16 bytes an entry for their order. Where these are
/// more than execution::workspace_bytes, or without that more than half of the host's memory,
/// gpu::out_of_memory says so before any partner is sought: a smaller `max_p` keeps fewer pairs.
struct top_k_sink {
  index_t k = 1;  ///< At least 1; rows with fewer partners have fewer, see neighbor_table::count.
  /// Which pairs can be neighbours.
  pair_filter keep = {};
  /// What "best" means.
  neighbor_order order = neighbor_order::by_absolute_value;
  /// Whether the table has q. `exact` needs an adjustment; of a part of a job gpu::unsupported with
  /// benjamini_hochberg, as the filter is.
  neighbor_q q = neighbor_q::none;
};

/// Count the pairs that pass the filter, in all, per row and per bin of the statistic.
struct count_sink {
  /// Which pairs.
  pair_filter keep = {};
  /// Bins of equal width over [-1, 1] for the histogram of the kept statistics; 0: none. At most
  /// 65,536. Bin b holds floor((statistic + 1) * bins / 2) == b in double arithmetic; the last
  /// bin holds 1.
  index_t histogram_bins = 0;
};

/// Hand the pairs that pass the filter to a callback in batches, without holding them all.
struct stream_sink {
  /// Which pairs.
  pair_filter keep = {};
  /// Called from the calling thread; the span is valid during the call. An exception it throws
  /// ends the run and reaches the caller, a std::bad_alloc as gpu::out_of_memory.
  std::function<void(std::span<const edge>)> consume = {};
  /// Order over all batches.
  edge_order order = edge_order::by_row_then_column;
  index_t batch_edges = index_t{1} << 20;  ///< Largest batch, at least 1.
};

// ---- results ----------------------------------------------------------------------------------

/// Result of a dense sink: a matrix [rows, rows] with the summary of the run.
template <class Value>
struct correlation_matrix : matrix<Value> {
  using matrix<Value>::matrix;
  pair_summary summary;  ///< What the run did.
};

/// Result of edge_sink.
struct edge_list {
  array<edge> edges;     ///< In the order that the sink asked for.
  pair_summary summary;  ///< What the run did.

  /// The first edge: a list is a contiguous range of its edges.
  [[nodiscard]] auto begin() const noexcept { return edges.begin(); }
  /// Behind the last edge.
  [[nodiscard]] auto end() const noexcept { return edges.end(); }
};

/// Result of top_k_sink. Row i has `count[i]` neighbours, best first; the entries behind them
/// hold `no_neighbor` and NaN.
struct neighbor_table {
  /// Follows the last neighbour of a row.
  static constexpr node_id no_neighbor = std::numeric_limits<node_id>::max();
  matrix<node_id> index;       ///< [rows, k]
  matrix<double> statistic;    ///< [rows, k]
  std::vector<node_id> count;  ///< [rows]
  /// [rows, k] with neighbor_q::exact, NaN behind the last neighbour of a row; else empty.
  matrix<double> q = {};
  pair_summary summary;  ///< What the run did.
};

/// Result of count_sink. `tested` and `kept` are in the summary too.
struct pair_counts {
  std::uint64_t tested = 0;             ///< Pairs of rows that both have a statistic.
  std::uint64_t kept = 0;               ///< Those that passed the filter.
  std::vector<std::uint32_t> degree;    ///< [rows]: kept pairs that row i is part of.
  std::vector<std::uint32_t> y_degree;  ///< Of x against y, [rows of y]: the same of the rows of y.
  std::vector<std::uint64_t> histogram;  ///< [histogram_bins]
  pair_summary summary;                  ///< What the run did.
};

namespace detail {
template <class Sink>
struct sink_result;
template <class Value>
struct sink_result<basic_dense_sink<Value>> {
  using type = correlation_matrix<Value>;
};
template <>
struct sink_result<edge_sink> {
  using type = edge_list;
};
template <>
struct sink_result<top_k_sink> {
  using type = neighbor_table;
};
template <>
struct sink_result<count_sink> {
  using type = pair_counts;
};
template <>
struct sink_result<stream_sink> {
  using type = pair_summary;
};
}  // namespace detail

/// A type that says what to keep of all pairs. The set is closed: each is precompiled.
template <class Sink>
concept pair_sink = requires { typename detail::sink_result<Sink>::type; };

/// The type of the result that a sink gives.
template <pair_sink Sink>
using sink_result_t = typename detail::sink_result<Sink>::type;

}  // namespace v0
}  // namespace gpu
