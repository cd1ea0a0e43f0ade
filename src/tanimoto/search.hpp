#pragma once
// What a backend does for the Tanimoto similarities of all pairs: it goes through ranges of rows.
// src/tanimoto/jobs cuts a job into such ranges and delivers.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <gpu/bit_matrix.hpp>
#include <gpu/pair_sinks.hpp>
#include <gpu/tanimoto.hpp>

#include "base/cuda_function.hpp"
#include "base/index_range.hpp"

namespace gpu::tanimoto {

using detail::index_range;

/// The rows of a job: x against y, or of x alone, where `y` is x.
struct bit_tables {
  bit_matrix_view x;
  bit_matrix_view y;
  bool is_against;
};

/// Partners of some rows, the first of which is row 0 here: [rows, k], as neighbor_table has them.
struct partner_rows {
  matrix_view<node_id> index;
  matrix_view<double> statistic;
  node_id* count;
};

/// Sums over ranges of rows, added to what is there.
struct pair_tally {
  std::uint64_t kept = 0;
  std::vector<std::uint32_t> degree;    ///< of the rows of x, both ends where there is no y
  std::vector<std::uint32_t> y_degree;  ///< of x against y
  std::vector<std::uint64_t> histogram;
};

/// The prepared rows of a job. Ranges are of rows of x. Pairs are (i, j) with i in the range and,
/// unless x is against y, i < j; for partners i != j.
class search {
 public:
  search() = default;
  search(const search&) = delete;
  search& operator=(const search&) = delete;
  virtual ~search() = default;

  /// Appends the edges of `rows` with a statistic >= least, in order of (row, col); p is NaN.
  /// Returns false, with `out` as it was, where these are more than `most`. One row has at most as
  /// many as there are rows of y.
  virtual bool edges(index_range rows, double least, std::uint64_t most, array<edge>& out) = 0;
  /// Adds the pairs of `rows` with a statistic >= least.
  virtual void count(index_range rows, double least, pair_tally& out) = 0;
  /// The best partners of `rows` among those with a statistic >= least: by falling statistic, then
  /// by rising row.
  virtual void partners(index_range rows, double least, const partner_rows& out) = 0;

  /// The product behind it, for a dense result.
  [[nodiscard]] virtual binary_matmul_variant variant() const = 0;
  /// As pair_summary says them.
  [[nodiscard]] virtual pair_variant pair_way() const = 0;
  [[nodiscard]] virtual std::string device() const = 0;
  /// Rows that a range should have so that progress is reported now and then.
  [[nodiscard]] virtual index_t usual_rows() const = 0;
  /// Edges that a range may have by the limits of memory.
  [[nodiscard]] virtual std::uint64_t usual_edges() const = 0;
};

}  // namespace gpu::tanimoto

namespace gpu::cpu {
/// @throw gpu::out_of_memory where the limit does not hold the rows.
std::unique_ptr<tanimoto::search> make_tanimoto_search(const tanimoto::bit_tables& tables,
                                                       const tanimoto_options& options);
}  // namespace gpu::cpu

namespace gpu::cuda {
/// @throw gpu::unsupported for a variant that the device does not offer; gpu::out_of_memory.
GPU_SIMILARITY_CUDA_FUNCTION std::unique_ptr<tanimoto::search> make_tanimoto_search(
    const tanimoto::bit_tables& tables, const tanimoto_options& options) GPU_SIMILARITY_OR_THROW;
}  // namespace gpu::cuda
