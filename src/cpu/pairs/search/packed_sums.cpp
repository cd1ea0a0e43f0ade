#include "cpu/pairs/search/packed_sums.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace gpu::cpu {
namespace {

constexpr index_t block_pairs = pair_policy::block_rows * pair_policy::block_cols;

const dot_kernels& dots_of(const pair_kernels& kernels, packing how) {
  if (how == packing::int8) return kernels.int8;
  return how == packing::int16 ? kernels.int16 : kernels.float32;
}

index_t chunk_of(const pair_kernels& kernels, packing how) {
  return how == packing::int8 ? kernels.int8_chunk : 0;
}

// Scratch of a thread: sums, row steps and row cuts.
std::int32_t* sums_of(pair_scratch& scratch) {
  return reinterpret_cast<std::int32_t*>(scratch.kernel.data());
}
std::uint8_t* steps_of(pair_scratch& scratch) {
  return reinterpret_cast<std::uint8_t*>(sums_of(scratch) + block_pairs);
}

}  // namespace

row_scales::row_scales(std::vector<float> of_rows, double relative_band, bool band_grows_with_cut)
    : scales_(std::move(of_rows)),
      relative_band_(relative_band),
      band_grows_with_cut_(band_grows_with_cut),
      largest_(scales_.empty() ? 0 : *std::max_element(scales_.begin(), scales_.end())) {
  const auto padded = round_up(static_cast<index_t>(scales_.size()), group_lanes * group_padding);
  scales_.resize(static_cast<std::size_t>(padded));
}

float row_scales::band_of(double cut) const {
  return static_cast<float>(relative_band_ * (largest_ * largest_) *
                            (band_grows_with_cut_ ? std::abs(cut) : 1.0));
}

packed_sums::packed_sums(const pair_kernels& kernels, packing how, index_t rows, index_t cols,
                         const row_scales& scales)
    : dots_(dots_of(kernels, how)),
      scales_(scales),
      columns_(how, rows, cols, chunk_of(kernels, how)) {}

std::size_t packed_sums::scratch_bytes(const pair_kernels& kernels, packing how, index_t cols) {
  const index_t steps = packed_columns::steps_of(how, cols, chunk_of(kernels, how));
  const index_t of_row = steps * step_bytes + static_cast<index_t>(sizeof(float));
  return static_cast<std::size_t>(pair_policy::task_rows * of_row) +
         sizeof(std::int32_t) * static_cast<std::size_t>(block_pairs);
}

const std::int32_t* packed_sums::sums(const kernel_tile& block, pair_scratch& scratch) const {
  dots_.sums(block, sums_of(scratch), pair_policy::block_cols);
  return sums_of(scratch);
}

kernel_tile packed_sums::tile_of(const pair_tile& tile, pair_scratch& scratch) const {
  return {columns_.tile(tile, steps_of(scratch))};
}

// A tile whose row i is compared with cut_of(i) times the scale of a column, `weakest` behind the
// last.
template <class CutOf>
kernel_tile packed_sums::compared(const pair_tile& tile, pair_scratch& scratch, float weakest,
                                  const CutOf& cut_of) const {
  kernel_tile out = tile_of(tile, scratch);
  auto* const row_cut = reinterpret_cast<float*>(
      steps_of(scratch) + pair_policy::task_rows * columns_.steps() * step_bytes);
  std::fill_n(row_cut, round_up(tile.rows(), row_padding), weakest);
  for (index_t i = 0; i < tile.rows(); ++i) {
    row_cut[i] = cut_of(i, double{scales_.of(tile.row_begin + i)});
  }
  out.row_cut = row_cut;
  out.col_scale = scales_.from(tile.col_begin);
  return out;
}

kernel_tile packed_sums::cut_tile(const pair_tile& tile, const pair_cut& cut,
                                  pair_scratch& scratch) const {
  kernel_tile out = compared(tile, scratch, 0.0F, [&](index_t, double scale) {
    return static_cast<float>(cut.least * scale);
  });
  out.band = scales_.band_of(cut.least);
  if (cut.side == cut_side::negative) out.sign_flip = 0x80000000u;
  if (cut.side == cut_side::magnitude) out.sign_keep = 0x7fffffffu;
  return out;
}

// A search with one cut per row. Statistics are at most 1, and so are the bars that matter.
void packed_sums::above(const pair_tile& tile, const double* bars, bool by_magnitude,
                        pair_scratch& scratch, const exact_test& test) const {
  constexpr float never = 3e38F;
  kernel_tile out = compared(tile, scratch, never, [&](index_t i, double scale) {
    return bars[i] < -2 ? -never : static_cast<float>(bars[i] * scale);
  });
  out.band = scales_.band_of(1);
  if (by_magnitude) out.sign_keep = 0x7fffffffu;
  out.diagonal = tile.rows();  // every pair counts
  dots_.search(out, test);
}

}  // namespace gpu::cpu
