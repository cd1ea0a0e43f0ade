#pragma once
// A measure, described: all that the rest of the library asks of one. A new measure is a value of
// gpu::measure, a descriptor in descriptors.cpp, and a line in measures.cpp.

#include <limits>
#include <string>

#include <gpu/index.hpp>
#include <gpu/measure.hpp>
#include <gpu/pair_options.hpp>

#include "stats/row_transform.hpp"
#include "stats/set_similarity.hpp"
#include "stats/unit_rows.hpp"

namespace gpu::inline v0::detail {

/// What the rows of a measure are packed as, and with it how the statistic of two rows follows from
/// the sum of products of their elements.
enum class row_form {
  /// Centred average ranks u = 2 r - (cols + 1): integers with |u| < cols. The statistic is
  /// detail::rho_of of three exact sums, S_xy / sqrt(S_xx S_yy).
  ranks,
  /// Doubles of unit length. The statistic is their product in the order of
  /// stats/unit_rows.hpp, clipped to [-1, 1].
  unit_values,
  /// The signs of x_j - x_i of all columns i < j, from ranks. The statistic is detail::rho_of of
  /// exact sums of their products: Kendall's tau-b.
  signs,
  /// Bits, as words of 32: a row is the set of the bits that are 1. The statistic is
  /// stats::set_similarity of exact counts. Engines of their own (src/tanimoto) have them: nothing
  /// in the engines of numbers sees such rows.
  bits
};

/// A packed row of an element for each column of the input.
[[nodiscard]] constexpr index_t one_each(index_t cols) {
  return cols;
}

/// The descriptor of a measure. Everything behind src/api takes one, and none asks which it is.
struct measure_traits {
  measure_info info;
  row_form form;
  row_centre centre;  ///< Of unit_values; ranks are always centred.
  /// Of unit_values. A row that is transformed needs no centring any more.
  row_transform transform = row_transform::none;
  /// The elements of a packed row of an input of `cols` columns. Memory, the time of a pair and the
  /// choice of a way follow from it; the columns of the input are the observations of a test.
  index_t (*packed_cols)(index_t cols) = one_each;
  /// Whether rows have missing values: each pair uses the columns that both of its rows have, and
  /// ranks, transforms or sums these anew (stats/shared_columns.hpp). Pairs that share fewer than
  /// `least_shared` have no statistic.
  bool is_pairwise = false;
  index_t least_shared = 0;
  /// Most columns that CUDA takes; the CPU alone takes longer rows. 0: the CPU alone takes any.
  index_t most_cols_on_cuda = std::numeric_limits<index_t>::max();
  /// Directions that the rows were freed of: each takes an observation of the test.
  index_t removed = 0;
  /// Of bits: what counts in the statistic.
  stats::set_weights weights = {};
  /// Observations of the test before that; 0: the columns of the input.
  observation_count observations = 0;

  /// Observations of the test of rows of an input of `cols` columns.
  [[nodiscard]] constexpr observation_count observations_of(index_t cols) const {
    const observation_count all = observations > 0 ? observations : observation_count(cols);
    return all - observation_count(removed);
  }
};

extern const measure_traits spearman_traits;
extern const measure_traits pearson_traits;
extern const measure_traits cosine_traits;
extern const measure_traits bicor_traits;
extern const measure_traits kendall_traits;
extern const measure_traits tanimoto_traits;
extern const measure_traits dice_traits;
extern const measure_traits tversky_traits;

/// Most columns of ranks with missing values on CUDA: kernels/pairs/pairwise.
inline constexpr index_t most_pairwise_rank_cols_on_cuda = 65'534;

/// The same measure of rows with missing values, pair by pair.
measure_traits pairwise_traits_of(const measure_traits& complete, index_t least_shared = 3);
/// The same measure with a test of so many observations, 0: of the columns.
measure_traits effective_traits_of(const measure_traits& complete, observation_count observations);
/// The same measure of rows that were centred, weighted and freed of so many directions beforehand,
/// as doubles: their cosine.
measure_traits column_traits_of(const measure_traits& complete, index_t removed);
/// The same measure of ranks with p by permutations where neither row of a pair has ties.
measure_traits permutation_traits_of(const measure_traits& complete);
/// The same measure with p as p_method::t has it.
measure_traits student_t_traits_of(const measure_traits& complete);
/// A measure of bits with the weights that the options name. Pairs without an order need equal
/// ones.
/// @throw gpu::invalid_argument as pair_options::alpha says.
measure_traits bit_traits_of(const measure_traits& what, const pair_options& options,
                             bool has_order);
/// Whether its rows are packed as ranks, which then may stand in place of the values.
[[nodiscard]] constexpr bool packs_ranks(const measure_traits& what) {
  return what.form == row_form::ranks && !what.is_pairwise;
}

/// Whether the options name what its bits count.
[[nodiscard]] inline bool takes_weights_of_bits(const measure_traits& what) {
  return what.info.what == measure::tversky;
}

/// The names of the measures that takes() is true for, with commas between them.
std::string names_of_measures(bool (*takes)(const measure_traits&));

/// measure_info::z_variance of a measure whose differences have a test.
/// @throw gpu::unsupported of others.
double z_variance_of(measure what);

/// The descriptor of a measure.
/// @throw gpu::invalid_argument where `what` is no value of the enumeration.
const measure_traits& traits_of(measure what);

}  // namespace gpu::inline v0::detail
