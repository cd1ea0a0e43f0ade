#include "cuda/pairs/programs/screen_search.hpp"

#include "base/round_up.hpp"
#include "cuda_runtime/copies.hpp"
#include "cuda_runtime/cuda_check.hpp"
#include "stats/rank_squares.hpp"

namespace gpu::cuda {
namespace {

index_t padded_rows(index_t rows) {
  return round_up(rows, kernels::screen_row_multiple);
}

bool is_rounded(const detail::screen_choice& choice) {
  return choice.operand == kernels::screen_operand::rounded;
}

}  // namespace

bool screen_search::takes(const call_shape& shape) {
  return shape.variant == pair_variant::hopper && !is_thin(shape.area) &&
         shape.format.has_screens();
}

screen_search::screen_search(index_t rows, const area_sides& sides,
                             const detail::screen_choice& choice, arena& memory)
    : rows_(rows),
      sides_(sides),
      choice_(choice),
      first_right_(sides.right > 0 ? padded_rows(sides.left) : sides.left) {
  const bool has_gap = first_right_ > sides.left;
  const index_t placed = first_right_ + sides.right;
  const index_t padded = padded_rows(placed);
  order_ = memory.take<std::uint32_t>(rows);
  placed_ = has_gap ? memory.take<std::uint32_t>(placed) : nullptr;
  temporary_ = memory.take<std::byte>(is_rounded(choice) ? kernels::round_order_bytes(rows)
                                                         : kernels::screen_order_bytes(rows));
  packed_ = {.operand = choice.operand,
             .depth = choice.depth,
             .left_rows = sides.left,
             .first_right = sides.rows.within ? 0 : first_right_,
             .rows = placed,
             .padded_rows = padded,
             .order = nullptr,
             .tiles = memory.take<std::uint8_t>(padded * choice.depth),
             .blocks = memory.take<kernels::screen_block>(padded / kernels::screen_block_rows),
             .tile_bounds =
                 memory.take<kernels::screen_block>(padded / kernels::screen_least_tile_rows + 1)};
  // Rows that take no part come first.
  packed_.order = has_gap ? placed_ : order_ + (rows - sides.left - sides.right);
}

std::size_t screen_search::bytes(index_t rows, const area_sides& sides,
                                 const detail::screen_choice& choice) {
  return bytes_taken([&](arena& memory) { return screen_search(rows, sides, choice, memory); });
}

void screen_search::place_sides(cudaStream_t stream) const {
  if (placed_ == nullptr) return;
  const std::uint32_t* const order = order_ + (rows_ - sides_.left - sides_.right);
  static_assert(kernels::no_packed_row == 0xffffffffU);
  GPU_SIMILARITY_CUDA_CHECK(cudaMemsetAsync(
      placed_, 0xff, static_cast<std::size_t>(packed_.rows) * sizeof *placed_, stream));
  copy_elements(placed_, order, sides_.left, stream);
  copy_elements(placed_ + first_right_, order + sides_.left, sides_.right, stream);
}

void screen_search::pack(const screen_origin& from, cudaStream_t stream) const {
  if (is_rounded(choice_)) {
    kernels::launch_round_order(from.rounding, rows_, sides_.rows, order_, temporary_, stream);
    place_sides(stream);
    kernels::launch_pack_rounded(from.source, from.rounding, packed_, stream);
    return;
  }
  const index_t cols = from.ranks.cols;
  kernels::launch_screen_order(from.ranks.square_sums, rows_, sides_.rows,
                               stats::untied_rank_squares(cols), order_, temporary_, stream);
  place_sides(stream);
  kernels::launch_screen_pack(from.ranks, packed_, stream);
}

void screen_search::find(double cut, index_t first, index_t last,
                         const kernels::screen_candidates& candidates, int multiprocessors,
                         cudaStream_t stream) const {
  kernels::launch_screen(packed_, cut, first, last, candidates, multiprocessors, stream);
}

void screen_search::refine(const screen_origin& from, const detail::pair_cut& keep,
                           const kernels::screen_candidates& candidates,
                           const kernels::screened_edges& edges, cudaStream_t stream) const {
  if (from.signs != nullptr) {
    kernels::launch_refine_signs(from.signs, from.ranks.cols, *from.tied, packed_, candidates,
                                 edges, stream);
  } else if (is_rounded(choice_)) {
    kernels::launch_rounded_refine(from.source, packed_, keep, candidates, edges, stream);
  } else {
    kernels::launch_screen_refine(from.ranks, packed_, keep, candidates, edges, stream);
  }
}

}  // namespace gpu::cuda
