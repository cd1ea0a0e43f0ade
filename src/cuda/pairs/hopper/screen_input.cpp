#include "cuda/pairs/hopper/screen_input.hpp"

namespace gpu::cuda {
namespace {

index_t padded_rows(index_t rows) {
  return (rows + kernels::screen_row_multiple - 1) / kernels::screen_row_multiple *
         kernels::screen_row_multiple;
}

}  // namespace

std::size_t screen_input::bytes(index_t rows, int depth) {
  const auto padded = static_cast<std::size_t>(padded_rows(rows));
  return padded * (sizeof(std::uint32_t) + 1 + static_cast<std::size_t>(depth)) +
         kernels::screen_order_bytes(rows);
}

std::size_t screen_input::rounded_bytes(index_t rows, int depth) {
  const auto padded = static_cast<std::size_t>(padded_rows(rows));
  return padded * (sizeof(std::uint32_t) + 1 + static_cast<std::size_t>(depth)) +
         kernels::round_order_bytes(rows);
}

screen_input::screen_input(const device_rows& rows, index_t invalid,
                           kernels::screen_operand operand, int depth, cudaStream_t stream)
    : order_(static_cast<std::size_t>(rows.count()), stream) {
  const kernels::pair_operand all = rows.all();
  const index_t cols = rows.format().cols;
  ranks_ = {.ranks = static_cast<const std::int8_t*>(all.values),
            .stride = all.pitch,
            .cols = cols,
            .square_sums = all.square_sums};
  {
    const device_buffer<std::byte> temporary(kernels::screen_order_bytes(rows.count()), stream);
    kernels::launch_screen_order(all.square_sums, rows.count(), cols * (cols * cols - 1) / 3,
                                 order_.data(), temporary.data(), stream);
  }
  allocate(operand, rows.count(), invalid, depth, stream);
  kernels::launch_screen_pack(ranks_, packed_, stream);
}

screen_input::screen_input(const device_rows& rows, index_t invalid, int depth, cudaStream_t stream)
    : source_(rows.screened()), order_(static_cast<std::size_t>(rows.count()), stream) {
  {
    const device_buffer<std::byte> temporary(kernels::round_order_bytes(rows.count()), stream);
    kernels::launch_round_order(rows.rounding(), rows.count(), order_.data(), temporary.data(),
                                stream);
  }
  allocate(kernels::screen_operand::rounded, rows.count(), invalid, depth, stream);
  kernels::launch_pack_rounded(source_, rows.rounding(), packed_, stream);
}

void screen_input::allocate(kernels::screen_operand operand, index_t rows, index_t invalid,
                            int depth, cudaStream_t stream) {
  const index_t valid = rows - invalid;
  const index_t padded = padded_rows(valid);
  tiles_ = {static_cast<std::size_t>(padded * depth), stream};
  blocks_ = {static_cast<std::size_t>(padded / kernels::screen_block_rows), stream};
  tile_bounds_ = {static_cast<std::size_t>(padded / kernels::screen_least_tile_rows + 1), stream};
  packed_ = {.operand = operand,
             .depth = depth,
             .rows = valid,
             .padded_rows = padded,
             .order = order_.data() + invalid,
             .tiles = tiles_.data(),
             .blocks = blocks_.data(),
             .tile_bounds = tile_bounds_.data()};
}

void screen_input::refine(const detail::keep_range& keep,
                          const kernels::screen_candidate* candidates, const std::uint64_t* count,
                          std::uint64_t capacity, kernels::screened_edge* edges,
                          std::uint64_t* kept, cudaStream_t stream) const {
  if (packed_.operand == kernels::screen_operand::rounded) {
    kernels::launch_rounded_refine(source_, packed_, keep.at_least, keep.at_most, candidates, count,
                                   capacity, edges, kept, stream);
  } else {
    kernels::launch_screen_refine(ranks_, packed_, keep.at_least, keep.at_most, candidates, count,
                                  capacity, edges, kept, stream);
  }
}

double screen_input::pairs() const {
  const auto rows = static_cast<double>(packed_.rows);
  return rows * (rows - 1) / 2;
}

}  // namespace gpu::cuda
