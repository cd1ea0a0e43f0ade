#pragma once
// Host-callable launches of the Tanimoto similarities of all pairs. Asynchronous on `stream`.

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include <gpu/index.hpp>
#include <gpu/matrix_view.hpp>

#include "base/index_range.hpp"
#include "kernels/binary_matmul/kernels.hpp"
#include "stats/set_similarity.hpp"

namespace gpu::kernels {

/// Which columns a row meets.
enum class bit_columns {
  all,
  others,  ///< not that of the row's own number
  later    ///< those above it
};

/// Rows against columns of two prepared operands whose row_offsets count ones. For tables of one
/// operand both are the same.
struct bit_area {
  prepared_bits left;
  prepared_bits right;
  detail::index_range rows;  ///< of left
  detail::index_range cols;  ///< of right
  bit_columns met;
  stats::set_weights of;
};

/// Writes every statistic. Rows and columns of the area begin at (first_row, first_col) here.
template <class Value>
struct tanimoto_matrix {
  Value* values;
  index_t stride;
  index_t first_row;
  index_t first_col;
};

/// Finds the pairs with a statistic >= least. Of pairs past `capacity` only the count is right.
struct tanimoto_edges {
  double least;
  index_t first_row;
  std::uint64_t capacity;
  std::uint64_t* count;
  std::uint64_t* keys;    ///< [capacity]: 2^32 (row - first_row) + col
  std::uint32_t* common;  ///< [capacity]
};

/// Counts the pairs with a statistic >= least.
struct tanimoto_counts {
  double least;
  std::uint32_t* row_degree;  ///< [rows of left]
  std::uint32_t* col_degree;  ///< [rows of right]
  std::uint64_t* histogram;   ///< [bins]
  index_t bins;
};

/// One partner, or a candidate.
struct tanimoto_partner {
  std::uint32_t col;
  std::uint32_t common;
};

/// The best partners so far of `rows` rows from first_row on, and what might join them.
struct tanimoto_partners {
  double least;
  stats::set_weights of;
  index_t first_row;
  index_t rows;
  int k;
  int capacity;                  ///< candidates of a row
  tanimoto_partner* best;        ///< [rows, k], best first
  std::uint32_t* held;           ///< [rows]: how many there are
  double* worst;                 ///< [rows]: a candidate has more; -1 while there are fewer than k
  stats::set_screen* screen;     ///< [rows]
  tanimoto_partner* candidates;  ///< [rows, capacity]
  std::uint32_t* found;          ///< [rows]: how many, also past the capacity
  std::uint32_t* overflow;       ///< not 0: some row found more than its capacity
};

/// What takes pairs by warpgroup products of a compute capability of 9.0: where they are counted.
/// Operands prepared as tiles; depth at most bit_hopper_policy::most_pass_bits.
template <class Sink>
void launch_tanimoto_hopper(const bit_area& area, const Sink& sink, int multiprocessors,
                            cudaStream_t stream);

/// What takes pairs from the sizes of |a or b| in memory: unions(i, j) of row area.rows.begin + i
/// with column area.cols.begin + j.
template <class Sink>
void launch_tanimoto_select(const bit_area& area, device_matrix_view<const std::int32_t> unions,
                            const Sink& sink, cudaStream_t stream);

/// Empties the lists of partners.
void launch_clear_partners(const tanimoto_partners& lists, cudaStream_t stream);
/// Joins the candidates to the best, and empties their lists; leaves all as it is where `overflow`
/// is set. k + capacity is at most tanimoto_most_sorted. `ones` count those of left and right.
void launch_join_partners(const tanimoto_partners& lists, const std::int32_t* left_ones,
                          const std::int32_t* right_ones, cudaStream_t stream);
/// Empties the lists of candidates alone.
void launch_drop_candidates(const tanimoto_partners& lists, cudaStream_t stream);

inline constexpr int tanimoto_most_sorted = 2048;

/// Scratch memory of sort_tanimoto_edges.
std::size_t tanimoto_sort_bytes(std::uint64_t count);
/// Sorts edges by their keys, of which `bits` bits differ. Returns which of the two buffers holds
/// the result.
int sort_tanimoto_edges(void* scratch, std::size_t scratch_bytes, std::uint64_t* const (&keys)[2],
                        std::uint32_t* const (&common)[2], std::uint64_t count, int bits,
                        cudaStream_t stream);

}  // namespace gpu::kernels
