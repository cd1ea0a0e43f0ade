#pragma once
/// @file
/// Differential correlation: pairs of rows whose correlation differs between two groups of columns.

#include <concepts>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include <gpu/detail/any_view.hpp>
#include <gpu/discovery.hpp>
#include <gpu/export.hpp>
#include <gpu/index.hpp>
#include <gpu/matrix.hpp>
#include <gpu/matrix_input.hpp>
#include <gpu/measure.hpp>
#include <gpu/pair_options.hpp>
#include <gpu/pair_sinks.hpp>

namespace gpu {
inline namespace v0 {

/// Two groups of columns of a table, by number from 0: at least 4 columns each, no column twice.
/// Columns in neither are left out.
struct column_groups {
  std::span<const index_t> first;   ///< Columns of the first group.
  std::span<const index_t> second;  ///< Columns of the second group.
};

/// Which pairs to keep: those that pass both cuts. They need a statistic in both groups.
struct differential_filter {
  double max_p = 1.0;    ///< Keep p <= max_p, after `adjust`; in (0, 1].
  double min_abs_z = 0;  ///< Keep |z| >= min_abs_z, not negative; with a one-sided tail z, or -z.
  /// The alternative hypothesis: `greater` is a correlation that is larger in the first group.
  tail side = tail::two_sided;
  /// Correction of max_p for the number of tested pairs, of a part for that of the whole job.
  adjustment adjust = adjustment::none;
};

/// A pair of rows.
struct differential_edge {
  node_id row;    ///< The first row.
  node_id col;    ///< The second row, larger.
  double first;   ///< The statistic over the first group.
  double second;  ///< The statistic over the second group.
  double z;       ///< The difference in standard errors: see differential_z.
  double p;       ///< p of z.
  /// Whether all members are equal.
  bool operator==(const differential_edge&) const = default;
};

/// Keep the pairs that pass, in the order of (row, col). Memory: 40 bytes a pair.
struct differential_edge_sink {
  differential_filter keep = {};  ///< Which pairs.
  /// Most pairs to hold; more throws gpu::capacity_exceeded with the number needed.
  index_t max_edges = std::numeric_limits<index_t>::max();
};

/// Count the pairs that pass.
struct differential_count_sink {
  differential_filter keep = {};  ///< Which pairs.
};

/// Keep of each row its best partners: those of the largest |z|, with a one-sided tail z or -z,
/// among the pairs that pass. Equal ones go to the lower row. Memory: rows * k * 76 bytes, of a
/// part for the rows of its panel.
struct differential_top_k_sink {
  index_t k = 10;                 ///< Partners of each row, at least 1.
  differential_filter keep = {};  ///< Which pairs.
};

/// What a call did.
struct differential_summary {
  index_t rows = 0;           ///< Rows of the table.
  index_t first_cols = 0;     ///< Columns of the first group.
  index_t second_cols = 0;    ///< Columns of the second group.
  double standard_error = 0;  ///< Of the difference of the transformed statistics.
  /// Rows without a statistic in at least one group, ascending, because all values there are equal.
  std::vector<index_t> constant_rows = {};
  std::vector<index_t> nan_rows = {};  ///< Rows with a NaN in a group (nan_policy::propagate).
  /// Rows with an infinite value in a group, and no NaN; of ranks there are none.
  std::vector<index_t> infinite_rows = {};
  index_t part_begin = 0;  ///< First row that the call was about; 0 except for a part.
  index_t part_end = 0;    ///< One past its last row.
  /// Pairs that have a statistic in both groups; those of the part, where the call is one. Over the
  /// parts of a job they add up to the family.
  std::uint64_t pairs_tested = 0;
  /// Those that passed the filter; of a differential_top_k_sink the entries of its table.
  std::uint64_t pairs_kept = 0;
  double max_p_effective = 1;      ///< The cut on p after the adjustment.
  double min_abs_z_effective = 0;  ///< The least |z| that both cuts keep, near rounding.
  std::string device = {};         ///< What computed the statistics: processor or devices.
  double seconds = 0;              ///< The whole call.
};

/// Result of differential_edge_sink.
struct differential_edges {
  std::vector<differential_edge> edges;  ///< Ascending (row, col).
  differential_summary summary;          ///< What the call did.

  /// The first edge.
  [[nodiscard]] auto begin() const noexcept { return edges.begin(); }
  /// Behind the last edge.
  [[nodiscard]] auto end() const noexcept { return edges.end(); }
};

/// Result of differential_count_sink.
struct differential_counts {
  /// [rows]: kept pairs that row i is part of; of a part all rows too. Those of parts add up.
  std::vector<std::uint32_t> degree;
  differential_summary summary;  ///< What the call did: pairs tested and kept.
};

/// Result of differential_top_k_sink: row i has count[i] partners, best first. Behind them `index`
/// is neighbor_table::no_neighbor, and the others are NaN. In a part, row 0 is row part_begin of
/// the table, and `rows` counts its panel.
struct differential_partners {
  matrix<node_id> index;         ///< [rows, k]: the partners.
  matrix<double> first;          ///< [rows, k]: the statistics over the first group.
  matrix<double> second;         ///< [rows, k]: the same over the second group.
  matrix<double> z;              ///< [rows, k]: the differences in standard errors.
  matrix<double> p;              ///< [rows, k]: p of z.
  std::vector<node_id> count;    ///< [rows]: partners of each row.
  differential_summary summary;  ///< What the call did.
};

/// The standard error of a difference: sqrt(f / (first - 3) + f / (second - 3)) with f = 1 for
/// measure::pearson (Fisher) and f = 1.06 for measure::spearman (E. C. Fieller, H. O. Hartley and
/// E. S. Pearson, Biometrika 44, 1957).
/// @param what measure::pearson or measure::spearman; others throw gpu::unsupported.
/// @param first_cols, second_cols observations of the groups, at least 4.
/// @throw gpu::invalid_argument for fewer.
[[nodiscard]] GPU_SIMILARITY_EXPORT double differential_standard_error(measure what,
                                                                       index_t first_cols,
                                                                       index_t second_cols);

/// z = (atanh first - atanh second) / standard_error, to about 1e-14 where the two are far apart,
/// near each other or near 1, since no difference of two atanh is taken. 0 where they are
/// equal, 1 and 1 included; +-infinity where exactly one is +-1, or they are 1 and -1.
/// @param first, second statistics in [-1, 1]; NaN gives NaN.
/// @param standard_error of the difference, above 0.
/// @throw gpu::invalid_argument outside these ranges.
[[nodiscard]] GPU_SIMILARITY_EXPORT double differential_z(double first, double second,
                                                          double standard_error);

namespace detail {
GPU_SIMILARITY_EXPORT differential_edges differential_pairs(measure what, const any_table& data,
                                                            const column_groups& groups,
                                                            const pair_options& options,
                                                            const differential_edge_sink& sink);
GPU_SIMILARITY_EXPORT differential_counts differential_pairs(measure what, const any_table& data,
                                                             const column_groups& groups,
                                                             const pair_options& options,
                                                             const differential_count_sink& sink);
GPU_SIMILARITY_EXPORT differential_partners differential_pairs(measure what, const any_table& data,
                                                               const column_groups& groups,
                                                               const pair_options& options,
                                                               const differential_top_k_sink& sink);
GPU_SIMILARITY_EXPORT discovery_counts differential_pairs(measure what, const any_table& data,
                                                          const column_groups& groups,
                                                          const pair_options& options,
                                                          const discovery_sink& sink);
template <class Sink>
inline constexpr bool is_differential_sink =
    std::derived_from<Sink, differential_edge_sink> ||
    std::derived_from<Sink, differential_count_sink> ||
    std::derived_from<Sink, differential_top_k_sink> || std::derived_from<Sink, discovery_sink>;
}  // namespace detail

/// The pairs of rows of `data` whose correlation over the columns of one group differs from that
/// over the other, by Fisher's z. p comes from the standard normal distribution.
///
/// @param what measure::pearson or measure::spearman. Ranks are taken within each group.
/// @param data values [rows, cols] in host memory, of any element type and layout, or in device
///   memory, a gpu::device_matrix_view or a gpu::device_table_view.
/// @param groups the columns, in host memory.
/// Every number has the same bits on every backend, on several devices, and wherever the table
/// lies. With a table in device memory the call waits for `options.exec.stream` and blocks until
/// the host has the result; only a row that holds a refused NaN is copied to the host.
///
/// @param options NaN policy (`reject`: a NaN in a column of a group throws; `propagate`: rows with
///   one have no statistic), backend, devices, stream of a table in device memory, workspace_bytes
///   (the CPU's scratch; of each device at least the packed rows of both groups, 48 bytes a row,
///   and for a table in device memory 16 bytes a value of the larger group), variant, threads,
///   progress, whose stage is "differential", in pairs, and the part, which is one as of all_pairs:
///   for edges and counts a panel of rows against all later rows, and the edges of parts 0, 1, ...
///   one after the other are the edges of the whole; for differential_top_k_sink an equal panel of
///   rows against all rows. The other options are not taken.
/// @param sink differential_edge_sink, differential_count_sink, differential_top_k_sink, or
///   discovery_sink.
/// @return what the sink gives: differential_edges, differential_counts, differential_partners or
///   discovery_counts.
/// @throw gpu::invalid_argument for a group of fewer than 4 columns, a column that the table lacks
///   or that stands twice, a cut outside its range, and as all_pairs; gpu::unsupported for other
///   measures, nan_policy::pairwise, covariates, weights, p_method::exact,
///   row_folding::always, and adjustment::benjamini_hochberg of a part, see gpu/discovery.hpp, all
///   before any work. gpu::backend_unavailable, gpu::capacity_exceeded, gpu::out_of_memory,
///   gpu::cancelled.
/// Cost: the statistics of all pairs twice, once for each group, and a few operations a pair; z is
/// computed for pairs that may pass, on the host. Benjamini and Hochberg's adjustment adds one to
/// three passes. Memory: on the CPU two blocks of 2048 x 2048 statistics and their rows, or smaller
/// ones; on CUDA 8 bytes a value of the groups until these are packed, in the table's memory, and
/// two blocks of whole rows of about 256 MiB each in device memory; what the sink keeps; never
/// [rows, rows]. On CUDA differential_top_k_sink computes each pair from both
/// of its rows. A part reads the groups of the whole table and looks for the rows without a
/// statistic, then computes its pairs alone; of differential_top_k_sink the parts compute a pair of
/// rows of two panels twice, once in each.
///
/// With differential_top_k_sink the partners of a row are decided from both sides of each pair.
/// discovery_sink is for Benjamini and Hochberg's cut of a job in parts: it counts p of the pairs
/// of a part for one step of the search, see gpu/discovery.hpp. p itself is counted, so
/// `observations` of the search is 0. The parts then run with `max_p = search.max_p_effective()`
/// and adjustment::none. These members of its summary are filled: rows, cols, constant_rows,
/// nan_rows, part_begin, part_end, pairs_tested, used, device and pairs_seconds, which is the whole
/// call.
template <table_like Data, class Sink = differential_edge_sink>
  requires detail::is_differential_sink<Sink>
[[nodiscard]] auto differential_pairs(measure what, const Data& data, const column_groups& groups,
                                      const pair_options& options = {}, const Sink& sink = {}) {
  return detail::differential_pairs(what, detail::read_table(data), groups, options, sink);
}

#if !defined(__clang__)
namespace detail {
struct a_measure__a_table__column_groups__pair_options__a_differential_sink;
}
/// Any other call.
void differential_pairs(
    detail::instead_of<
        detail::a_measure__a_table__column_groups__pair_options__a_differential_sink>,
    ...) = delete;
#endif

}  // namespace v0
}  // namespace gpu
