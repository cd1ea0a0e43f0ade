#include "cuda/pairs/hopper/screen_input.hpp"

#include <utility>

#include "kernels/pairs/signs/kernels.hpp"

namespace gpu::cuda {
namespace {

index_t padded_rows(index_t rows) {
  return (rows + kernels::screen_row_multiple - 1) / kernels::screen_row_multiple *
         kernels::screen_row_multiple;
}

// Two orders, and what is packed: both sides are padded.
std::size_t packed_bytes(index_t rows, int depth) {
  const auto padded = static_cast<std::size_t>(padded_rows(rows) + kernels::screen_row_multiple);
  return padded * (2 * sizeof(std::uint32_t) + 1 + static_cast<std::size_t>(depth));
}

}  // namespace

std::size_t screen_input::bytes(index_t rows, int depth) {
  return packed_bytes(rows, depth) + kernels::screen_order_bytes(rows);
}

std::size_t screen_input::rounded_bytes(index_t rows, int depth) {
  return packed_bytes(rows, depth) + kernels::round_order_bytes(rows);
}

screen_input::screen_input(const device_rows& rows, const area_sides& sides,
                           kernels::screen_operand operand, int depth, cudaStream_t stream)
    : sides_(sides), order_(static_cast<std::size_t>(rows.count()), stream) {
  const index_t cols = rows.format().cols;
  ranks_ = rows.ranks();
  if (rows.format().tile == kernels::pair_tile_kind::signs) {
    signs_ = static_cast<const std::byte*>(rows.all().values);
    tied_ = &rows.tied();
  }
  {
    const device_buffer<std::byte> temporary(kernels::screen_order_bytes(rows.count()), stream);
    kernels::launch_screen_order(ranks_.square_sums, rows.count(), sides.rows,
                                 cols * (cols * cols - 1) / 3, order_.data(), temporary.data(),
                                 stream);
  }
  allocate(operand, depth, stream);
  kernels::launch_screen_pack(ranks_, packed_, stream);
}

screen_input::screen_input(const device_rows& rows, const area_sides& sides, int depth,
                           cudaStream_t stream)
    : sides_(sides),
      source_(rows.screened()),
      order_(static_cast<std::size_t>(rows.count()), stream) {
  {
    const device_buffer<std::byte> temporary(kernels::round_order_bytes(rows.count()), stream);
    kernels::launch_round_order(rows.rounding(), rows.count(), sides.rows, order_.data(),
                                temporary.data(), stream);
  }
  allocate(kernels::screen_operand::rounded, depth, stream);
  kernels::launch_pack_rounded(source_, rows.rounding(), packed_, stream);
}

void screen_input::allocate(kernels::screen_operand operand, int depth, cudaStream_t stream) {
  const index_t left = sides_.left;
  const index_t right = sides_.right;
  const std::uint32_t* order = order_.data() + (static_cast<index_t>(order_.size()) - left - right);
  // The right side begins with a tile of its own.
  const index_t before = right > 0 ? padded_rows(left) : left;
  const index_t padded = padded_rows(before + right);
  if (before > left) {
    device_buffer<std::uint32_t> placed(static_cast<std::size_t>(before + right), stream);
    const auto copy = [&](index_t to, index_t from, index_t count) {
      GPU_SIMILARITY_CUDA_CHECK(cudaMemcpyAsync(placed.data() + to, order + from,
                                                static_cast<std::size_t>(count) * sizeof *order,
                                                cudaMemcpyDeviceToDevice, stream));
    };
    static_assert(kernels::no_packed_row == 0xffffffffU);
    GPU_SIMILARITY_CUDA_CHECK(cudaMemsetAsync(placed.data(), 0xff, placed.bytes(), stream));
    copy(0, 0, left);
    copy(before, left, right);
    order_ = std::move(placed);
    order = order_.data();
  }
  tiles_ = {static_cast<std::size_t>(padded * depth), stream};
  blocks_ = {static_cast<std::size_t>(padded / kernels::screen_block_rows), stream};
  tile_bounds_ = {static_cast<std::size_t>(padded / kernels::screen_least_tile_rows + 1), stream};
  packed_ = {.operand = operand,
             .depth = depth,
             .left_rows = left,
             .first_right = sides_.rows.within ? 0 : before,
             .rows = before + right,
             .padded_rows = padded,
             .order = order,
             .tiles = tiles_.data(),
             .blocks = blocks_.data(),
             .tile_bounds = tile_bounds_.data()};
}

void screen_input::refine(const detail::pair_cut& keep, const kernels::screen_candidate* candidates,
                          const std::uint64_t* count, std::uint64_t capacity,
                          kernels::screened_edge* edges, std::uint64_t* kept,
                          cudaStream_t stream) const {
  if (signs_ != nullptr) {
    kernels::launch_refine_signs(signs_, ranks_.cols, *tied_, packed_, candidates, count, capacity,
                                 edges, kept, stream);
  } else if (packed_.operand == kernels::screen_operand::rounded) {
    kernels::launch_rounded_refine(source_, packed_, keep, candidates, count, capacity, edges, kept,
                                   stream);
  } else {
    kernels::launch_screen_refine(ranks_, packed_, keep, candidates, count, capacity, edges, kept,
                                  stream);
  }
}

}  // namespace gpu::cuda
