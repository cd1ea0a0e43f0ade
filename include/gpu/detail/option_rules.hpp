#pragma once
/// @file
/// The one check of pair_options.

#include <gpu/export.hpp>
#include <gpu/measure.hpp>
#include <gpu/pair_options.hpp>

namespace gpu {
inline namespace v0 {

struct pair_filter;

namespace detail {

/// What a call asks for or meets, a bit each.
struct call_facts {
  /// The bits.
  enum : unsigned {
    none = 0,
    pairwise = 1U << 0,  ///< These follow from the options.
    exact_p = 1U << 1,
    covariates = 1U << 2,
    weights = 1U << 3,
    effective = 1U << 4,
    folded = 1U << 5,
    parts = 1U << 6,
    shared_parts = 1U << 7,  ///< pairwise and parts
    step_up = 1U << 8,       ///< These from the filter: benjamini_hochberg, or any adjustment.
    adjusted = 1U << 9,
    device_results = 1U << 10,  ///< These from the sink, the tables and the function.
    device_table = 1U << 11,
    preparation = 1U << 12,
    prepared_y = 1U << 13,
    connectivity = 1U << 14,
    discoveries = 1U << 15,
    differences = 1U << 16,
    shuffles = 1U << 17,
    without_p = 1U << 18,  ///< A result without p of pairs.
    of_bits = 1U << 19,    ///< Rows of bits.
    tversky = 1U << 20,    ///< Follows from the options.
    columns = covariates | weights
  };
};

/// The facts of options and of a filter.
[[nodiscard]] unsigned facts_of(const pair_options& options);
[[nodiscard]] unsigned facts_of(const pair_filter& keep);

/// Whether options name covariates or weights of columns.
[[nodiscard]] inline bool names_columns(const pair_options& options) {
  return (facts_of(options) & call_facts::columns) != 0;
}

/// Checks every option by itself, with the measure, with the others and with what the call meets.
/// @throw gpu::invalid_argument for a value outside its range; gpu::unsupported for what does not
///   go together.
GPU_SIMILARITY_EXPORT void check_pair_options(measure what, const pair_options& options,
                                              unsigned meets);

}  // namespace detail
}  // namespace v0
}  // namespace gpu
