#pragma once
// The pair engine of rows of bits, and what a backend does for it: it goes through ranges of rows,
// into which the engine cuts a job.

#include <cstdint>
#include <memory>
#include <string>
#include <variant>

#include <gpu/array.hpp>
#include <gpu/bit_matrix.hpp>
#include <gpu/execution.hpp>
#include <gpu/pair_sinks.hpp>

#include "base/cuda_function.hpp"
#include "base/index_range.hpp"
#include "pairs/engine.hpp"
#include "pairs/tables.hpp"

namespace gpu::tanimoto {

using detail::index_range;

/// A table of a call as rows of `cols` bits.
template <memory_space Space>
basic_bit_matrix_view<const std::uint32_t, Space> bits_of(const detail::any_table& words,
                                                          index_t cols) {
  if constexpr (Space == memory_space::device) {
    const device_table_view view = detail::device_view(words);
    return {static_cast<const std::uint32_t*>(view.data()), view.rows(), cols, view.row_stride()};
  } else {
    const auto& view = std::get<matrix_view<const std::int32_t>>(words);
    return {reinterpret_cast<const std::uint32_t*>(view.data()), view.rows(), cols,
            view.row_stride()};
  }
}

/// Partners of some rows, the first of which is row 0 here: [rows, k], as neighbor_table has them.
struct partner_rows {
  matrix_view<node_id> index;
  matrix_view<double> statistic;
  node_id* count;
};

/// The prepared rows of a call. Ranges are of rows of x. Pairs are (i, j) with i in the range and,
/// unless x is against y, i < j; for partners i != j, and of a dense result all.
class search {
 public:
  search() = default;
  search(const search&) = delete;
  search& operator=(const search&) = delete;
  virtual ~search() = default;

  /// out(i, j) = the statistic of row rows.begin + i with row j of y.
  virtual void dense(index_range rows, matrix_view<double> out) = 0;
  virtual void dense(index_range rows, matrix_view<float> out) = 0;
  /// Appends the edges of `rows` with a statistic >= least, in order of (row, col); p is NaN.
  /// Returns false, with `out` as it was, where these are more than `most`. One row has at most as
  /// many as there are rows of y.
  virtual bool edges(index_range rows, double least, std::uint64_t most, array<edge>& out) = 0;
  /// Adds the pairs of `rows` with a statistic >= least. Degrees are those of the rows of x with
  /// those of y behind them.
  virtual void count(index_range rows, double least, pair_counts& out) = 0;
  /// The best partners of `rows` among those with a statistic >= least: by falling statistic, then
  /// by rising row. At most most_partners() of each.
  virtual void partners(index_range rows, double least, const partner_rows& out) = 0;

  [[nodiscard]] virtual index_t most_partners() const = 0;
  /// As pair_summary says them.
  [[nodiscard]] virtual pair_variant variant() const = 0;
  [[nodiscard]] virtual std::string device() const = 0;
  /// Rows that a range should have so that progress is reported now and then.
  [[nodiscard]] virtual index_t usual_rows() const = 0;
  /// Edges that a range may have by the limits of memory.
  [[nodiscard]] virtual std::uint64_t usual_edges() const = 0;
};

/// All sinks of host results, by the search of a backend. Throws as gpu::all_pairs documents.
std::unique_ptr<detail::pair_engine> make_engine(const detail::measure_traits& what,
                                                 const detail::pair_input& input, backend where);

}  // namespace gpu::tanimoto

namespace gpu::cpu {
/// @throw gpu::unsupported for a variant that is not offered; gpu::out_of_memory where the limit
///   does not hold the rows.
std::unique_ptr<tanimoto::search> make_tanimoto_search(const detail::measure_traits& what,
                                                       const detail::pair_input& input);
detail::engine_plan plan_tanimoto_search(const detail::pair_input& input);
/// The rows of x, as a search takes them.
std::shared_ptr<detail::prepared_table> prepare_bits(const detail::pair_request& request);
}  // namespace gpu::cpu

namespace gpu::cuda {
GPU_SIMILARITY_CUDA_FUNCTION std::unique_ptr<tanimoto::search> make_tanimoto_search(
    const detail::measure_traits& what, const detail::pair_input& input) GPU_SIMILARITY_OR_THROW;
GPU_SIMILARITY_CUDA_FUNCTION detail::engine_plan plan_tanimoto_search(
    const detail::pair_input& input) GPU_SIMILARITY_OR_THROW;
GPU_SIMILARITY_CUDA_FUNCTION std::shared_ptr<detail::prepared_table> prepare_bits(
    const detail::pair_request& request) GPU_SIMILARITY_OR_THROW;
}  // namespace gpu::cuda
