#include "cpu/pairs/signs/packed_signs.hpp"

#include <algorithm>
#include <cmath>

#include "cpu/pairs/loops/kernels.hpp"

namespace gpu::cpu {
namespace {

constexpr index_t pair_stride = pair_policy::block_cols;

}  // namespace

std::size_t packed_signs_bytes(index_t cols) {
  return sign_row_bytes(cols) + 2 * sizeof(double);
}

packed_signs::packed_signs(index_t rows, index_t cols)
    : kendall_rows(rows, cols), signs_(rows, cols) {}

void packed_signs::store(index_t i, const std::vector<std::uint32_t>& values, const row_ties& ties,
                         store_scratch& scratch) {
  signs_.store(i, values, scratch);
  set_ties(i, ties);
}

void packed_signs::finish() {
  signs_.finish();
  for (index_t i = 0; i < size(); ++i) {
    tied_pairs_.push_back(static_cast<double>(ties_of(i).pairs));
    tied_triples_.push_back(static_cast<double>(ties_of(i).triples));
  }
}

std::size_t packed_signs::kernel_bytes() const {
  return sign_scratch_bytes(cols());
}

void packed_signs::statistics(const pair_task& task, const pair_tile& tile, pair_scratch& scratch,
                              double* out) const {
  const std::int32_t* const sums = signs_.sums(tile, scratch.kernel.data());
  for (index_t r = 0; r < tile.rows(); ++r) {
    const index_t i = tile.row_begin + r;
    double* const to = out + r * pair_stride;
    usable_pair_kernels().rho(sums + r * pair_stride, static_cast<double>(untied(i)),
                              signs_.others() + tile.col_begin, tile.cols(), to);
    if (cut_of(task) != nullptr) take_row(task, i, tile, sums + r * pair_stride, to);
  }
}

// Most pairs are dropped by S^2 alone.
void packed_signs::take_row(const pair_task& task, index_t i, const pair_tile& tile,
                            const std::int32_t* sums, double* out) const {
  const stats::kendall_cut& cut = *cut_of(task);
  const auto take = [&](index_t c) {
    out[c] = taken(task, i, tile.col_begin + c, sums[c], out[c]);
  };
  if (!cut.is_screened()) {
    for (index_t c = 0; c < tile.cols(); ++c) take(c);
    return;
  }
  double least[pair_stride];
  std::uint8_t may_pass[pair_stride] = {};
  cut.least_squares(ties_of(i), tied_pairs_.data() + tile.col_begin,
                    tied_triples_.data() + tile.col_begin, tile.cols(), least);
  const tail side = cut.side();
  const double sign = side == tail::less ? -1.0 : 1.0;
  const double instead = dropped(task);
  for (index_t c = 0; c < tile.cols(); ++c) {
    const double s = sign * sums[c];
    const double square = side == tail::two_sided ? s * s : s * std::abs(s);
    may_pass[c] = square >= least[c] ? 1 : 0;
  }
  for (index_t c = 0; c < tile.cols(); ++c) {
    if (may_pass[c] != 0) {
      take(c);
    } else {
      out[c] = instead;
    }
  }
}

}  // namespace gpu::cpu
