#pragma once
/// @file
/// Tanimoto (Jaccard) similarity of all pairs of rows of bits: chemists' fingerprints, sets.
///
/// Row i is the set of the columns whose bit is 1. The statistic of two rows is
///
///     S = |a and b| / |a or b|,
///
/// the IEEE double nearest to this ratio of two integers; S = 0 where both rows are empty, as RDKit
/// has it (SciPy's distance of two empty rows is 0, which would make their similarity 1). So an
/// empty row is similar to nothing, itself included, and every pair of rows has a statistic.
///
/// Every decision is taken on that double: a pair is kept where S >= min_abs, so 4 of 5 bits pass a
/// cut of 0.8. Up to 2^26 columns two ratios that differ are two doubles, so partners have the
/// order of the exact ratios. Every backend and variant decides alike, bit for bit.

#include <concepts>

#include <gpu/binary_matmul.hpp>
#include <gpu/bit_matrix.hpp>
#include <gpu/execution.hpp>
#include <gpu/export.hpp>
#include <gpu/pair_options.hpp>
#include <gpu/pair_sinks.hpp>

namespace gpu {
inline namespace v0 {

/// Options of tanimoto_all_pairs.
struct tanimoto_options {
  /// The part of the job to compute; the default is all of it.
  pair_part part = {};
  /// What counts the common bits: `automatic`; on the CPU `popcount`; on CUDA `hopper`, which
  /// decides the pairs where they are counted, `tensor` or `popcount_tiled`, which write counts to
  /// memory first. gpu::unsupported for others, and for what the device does not offer.
  binary_matmul_variant variant = binary_matmul_variant::automatic;
  /// Where it runs, on one device at most. `workspace_bytes` bounds the copies of the
  /// rows, which are whole in scratch memory, with the tiles and lists of candidates.
  execution exec = {};
};

namespace detail {
/// x against y, or x alone where `y` is null.
template <class Sink>
GPU_SIMILARITY_EXPORT sink_result_t<Sink> tanimoto_all_pairs(const bit_matrix_view& x,
                                                             const bit_matrix_view* y,
                                                             const tanimoto_options& options,
                                                             const Sink& sink);
}  // namespace detail

/// The Tanimoto similarity of every pair of rows of `x`; `sink` says what to keep.
///
/// It has the sinks of all pairs: an edge has i < j, and its p is NaN, because the measure has
/// no test. A top_k_sink gives each row its best partners, itself left out; equal similarities go
/// to the lower row, and the order by value is that by absolute value. A dense result has S of each
/// row with itself on its diagonal: 1, or 0 for an empty row. Bins of a count_sink are as for all
/// measures, over [-1, 1].
///
/// @param x bits [rows, cols] in host memory: a gpu::bit_matrix, or a view of words; rows up to
///   2^32 - 1, cols up to 2^31 - 1. Bits past the last column are ignored.
/// @param options the part, the variant, the backend and its resources.
/// @param sink dense_sink (default), dense_sink_f32, edge_sink, top_k_sink, count_sink or
///   stream_sink. `keep.min_abs` is the least similarity that is kept, in [0, 1] or infinity; 0
///   keeps every pair. tail::less keeps similarities <= -min_abs: all pairs for 0, else none.
/// @return what the sink gives: see pair_sinks.hpp. The summary names no constant rows.
/// @throw gpu::invalid_argument for too many columns, a part, a cut, k or other member of the sink
///   outside its range, before any work. gpu::unsupported for a cut on p, an adjustment, or q of a
///   top_k_sink, which need a test, and for a variant that is not offered.
///   gpu::capacity_exceeded where max_edges does not suffice, with the number needed.
///   gpu::backend_unavailable, gpu::out_of_memory, gpu::cancelled, gpu::cuda_error.
/// Cost: rows^2 / 2 * cols / 32 word operations, for top_k_sink and a dense result twice as many.
/// Memory: one padded copy of the bits, tiles, and what the sink keeps; never [rows, rows] except
/// for a dense sink. Blocks until the result is complete.
template <pair_sink Sink = dense_sink>
sink_result_t<Sink> tanimoto_all_pairs(bit_matrix_view x, const tanimoto_options& options = {},
                                       const Sink& sink = {}) {
  return detail::tanimoto_all_pairs(x, nullptr, options, sink);
}

/// As above with the default options.
template <pair_sink Sink>
sink_result_t<Sink> tanimoto_all_pairs(bit_matrix_view x, const Sink& sink) {
  return detail::tanimoto_all_pairs(x, nullptr, {}, sink);
}

/// The Tanimoto similarity of every row of `x` with every row of `y`: as above, but the pairs are
/// (i, j) with i a row of x and j a row of y, also where both are the same rows. No pair is left
/// out. An edge's `row` is of x and its `col` of y; top-k gives for each row of x its best partners
/// in y; counts have degrees of both.
/// @param x bits [rows of x, cols].
/// @param y bits [rows of y, cols]; together at most 2^32 - 1 rows.
/// @param options as above; a part is one of the rows of x.
/// @param sink as above.
/// @throw gpu::invalid_argument where the columns differ; else as above.
template <std::convertible_to<bit_matrix_view> Y, pair_sink Sink = dense_sink>
sink_result_t<Sink> tanimoto_all_pairs(bit_matrix_view x, const Y& y,
                                       const tanimoto_options& options = {},
                                       const Sink& sink = {}) {
  const bit_matrix_view right = y;
  return detail::tanimoto_all_pairs(x, &right, options, sink);
}

/// As above with the default options.
template <std::convertible_to<bit_matrix_view> Y, pair_sink Sink>
sink_result_t<Sink> tanimoto_all_pairs(bit_matrix_view x, const Y& y, const Sink& sink) {
  const bit_matrix_view right = y;
  return detail::tanimoto_all_pairs(x, &right, {}, sink);
}

}  // namespace v0
}  // namespace gpu
