#pragma once
/// @file
/// Soft-threshold networks: the connectivity of every row at many powers in one pass over all
/// pairs, how well it fits a scale-free network, and the topological overlap of a module.
///
/// The *adjacency* of two rows with the statistic r is a power of a number in [0, 1]:
///
///     unsigned        a = |r|^power
///     signed          a = ((1 + r) / 2)^power
///     signed hybrid   a = r^power where r > 0, else 0
///
/// The *connectivity* of row i is the sum of a(i, j) over all other rows j. These are the
/// definitions of weighted gene co-expression networks (WGCNA), which pick the power whose
/// connectivity is distributed as that of a scale-free network.

#include <optional>
#include <string_view>
#include <vector>

#include <gpu/execution.hpp>
#include <gpu/export.hpp>
#include <gpu/index.hpp>
#include <gpu/matrix.hpp>
#include <gpu/matrix_view.hpp>
#include <gpu/pair_sinks.hpp>

namespace gpu {
inline namespace v0 {

/// How a statistic becomes an adjacency.
enum class network_kind {
  unsigned_network,  ///< Unsigned: |r|^power.
  signed_network,    ///< Signed: ((1 + r) / 2)^power.
  signed_hybrid      ///< r^power where r > 0, else 0.
};

/// The name of a kind: "unsigned", "signed" or "signed_hybrid"; "unknown" for no enumerator.
[[nodiscard]] GPU_SIMILARITY_EXPORT std::string_view to_string(network_kind kind) noexcept;

/// Sum the adjacencies of each row, for many powers in one pass. Takes one table, and parts of it;
/// every measure. Memory: rows * powers * 8 bytes.
///
/// A pair without a statistic adds nothing; a row without one has NaN in all columns. Sums run in
/// double and in a fixed order: the same bytes with any number of threads and of devices, and of
/// any parts. CPU and CUDA add in different orders.
///
/// An integer power is a product of that many factors; a half more begins with a square root, any
/// other fraction f with exp2(f log2(b)). Against the exact powers of the statistics in double the
/// relative error of a sum is at most (rows / 8 + 2 power + 8) 2^-53, and 4 f |log2(b)| 2^-53 more
/// for such a fraction, where b is the smallest number that is raised. Powers that underflow are 0.
///
/// Rows are not folded; pair_options::fold `always` is gpu::unsupported. So are x against y and
/// prepared rows.
/// Cost: each pair is computed from both sides, and takes a product and a sum for every integer up
/// to the largest power; for every fraction that differs one square root, or exp2 and log2, more.
struct connectivity_sink {
  /// 1 to 64 powers, each above 0 and at most 100, in any order.
  std::vector<double> powers = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16, 18, 20};
  /// How a statistic becomes an adjacency.
  network_kind network = network_kind::unsigned_network;
};

/// Result of connectivity_sink.
struct connectivity_table {
  std::vector<double> powers;                             ///< Of the sink.
  network_kind network = network_kind::unsigned_network;  ///< Of the sink.
  matrix<double> connectivity;  ///< [rows, powers]; of a part, the rows of its panel.
  pair_summary summary;         ///< What the run did.
};

/// How well the connectivity at one power fits a scale-free network.
struct scale_free_fit_line {
  double power;      ///< The power.
  double r_squared;  ///< R^2 of the line through log10 p(k) over log10 k.
  double slope;      ///< Of that line; a scale-free network has a negative one.
  /// -sign(slope) r_squared: what is compared with the cut.
  double signed_r_squared;
  /// Adjusted R^2 of log10 p(k) by log10 k and k: of the exponentially truncated law.
  double truncated_r_squared;
  double mean;    ///< Of the connectivity.
  double median;  ///< Of the connectivity.
  double max;     ///< Of the connectivity.
};

/// Result of scale_free_fit.
struct scale_free_fits {
  std::vector<scale_free_fit_line> fits;  ///< One for each power, in their order.
  /// The first power whose signed_r_squared is above the cut; none where no fit is so good.
  std::optional<double> power;
};

/// Options of scale_free_fit.
struct scale_free_options {
  index_t bins = 10;               ///< Bins of equal width over the connectivity, 3 to 10,000.
  double r_squared_cut = 0.85;     ///< A finite number: a fit has to be above it.
  bool without_first_bin = false;  ///< Leaves out the bin of the least connectivity.
};

/// Fits a scale-free network to the connectivity of each power, as WGCNA's scaleFreeFitIndex and
/// pickSoftThreshold do.
///
/// The range of k is cut into bins of equal width, closed on the right, the least k in the first.
/// A bin has the mean k of its rows, or the middle of its range where it has none or that mean is
/// 0, and the share p of the rows that it holds; log10(p + 1e-9) is fitted over log10(k) by least
/// squares, each bin counting once. Rows whose connectivity is NaN are left out everywhere.
///
/// @param connectivity values [rows, powers], as connectivity_table::connectivity; infinite or
///   negative ones are refused.
/// @param powers as many as there are columns.
/// @param options bins and cut.
/// @return a line for each power. Where all k are equal, or there is none, R^2 and slope are NaN:
/// there is no fit; where there is none, mean, median and max are NaN too.
/// @throw gpu::invalid_argument for another number of powers, or an option or a value out of range.
/// Cost: a sort of each column.
[[nodiscard]] GPU_SIMILARITY_EXPORT scale_free_fits
scale_free_fit(matrix_view<const double> connectivity, const std::vector<double>& powers,
               const scale_free_options& options = {});

/// The same of a result of connectivity_sink.
[[nodiscard]] inline scale_free_fits scale_free_fit(const connectivity_table& table,
                                                    const scale_free_options& options = {}) {
  return scale_free_fit(table.connectivity.view(), table.powers, options);
}

/// Options of topological_overlap.
struct overlap_options {
  double power = 6;                                       ///< Above 0 and at most 100.
  network_kind network = network_kind::unsigned_network;  ///< How a statistic becomes an adjacency.
  execution exec = {};  ///< Where the product of the adjacencies runs.
};

/// The topological overlap of the rows of a module: how much of their neighbourhood two rows share.
///
///     overlap(i, j) = (sum over u of a(i, u) a(u, j) + a(i, j)) / (min(k_i, k_j) + 1 - a(i, j))
///
/// with a(i, i) = 0 in the sum and k the connectivity within the module; 1 on the diagonal. A row
/// without a statistic, which has NaN on its diagonal, has NaN in its row and column, and is not a
/// neighbour of the others; any other pair without a statistic has the adjacency 0.
///
/// @param statistics the dense result [rows, rows] of any measure for the rows of the module:
///   symmetric, in [-1, 1] or NaN. What is below the diagonal is not read.
/// @param options power, network and where the product runs.
/// @return [rows, rows], symmetric, in [0, 1] up to rounding.
/// @throw gpu::invalid_argument where the matrix is not square, a statistic is outside [-1, 1] or
///   an option out of range, before any product; else as gpu::matmul.
/// Cost: rows^3 multiply-adds in double by gpu::matmul; memory: three matrices [rows, rows].
[[nodiscard]] GPU_SIMILARITY_EXPORT matrix<double> topological_overlap(
    matrix_view<const double> statistics, const overlap_options& options = {});

namespace detail {
template <>
struct sink_result<connectivity_sink> {
  using type = connectivity_table;
};
}  // namespace detail

}  // namespace v0
}  // namespace gpu
