#pragma once
// Tuning of the matrix multiply as data: tile shapes, the sizes at which one variant overtakes
// another, and the layout of workspaces. plan/matmul_variants.cpp picks from these tables;
// docs/matmul.md has the measurements.

#include <array>
#include <cstddef>

#include <gpu/index.hpp>

#include "base/round_up.hpp"

namespace gpu::kernels::matmul_policy {

/// `shared_tiled`: square tiles, one element of C per thread.
inline constexpr int shared_tile = 32;

/// `pitched`: rows start at multiples of this many bytes, so that every row can be read in 16-byte
/// words and no row straddles a sector that another needs.
inline constexpr std::size_t pitch_bytes = 256;

/// One shape of `register_tiled`: a block computes block_m x block_n of C, each of its
/// (block_m / thread_m) * (block_n / thread_n) threads thread_m x thread_n of it, block_k deep
/// through `stages` buffers of shared memory.
struct register_tile {
  int block_m;
  int block_n;
  int block_k;
  int thread_m;
  int thread_n;
  int stages;
};

/// Names of tiles: medium to slim of register_tiled, large to small of `tensor` for double.
enum class tile_name { large, medium, small, narrow, slim };

/// medium, small, narrow and slim. Narrow and slim are for C of at most so few columns: there the
/// others compute mostly padding. cuBLAS's time over this one's, float on an H100: medium
/// 1.03 to 1.10 at 1000 to 1536, 0.96 at 2048, 0.98 at 4096; small 1.03 at 256, 0.99 at 512, 1.19
/// at 32 x 65536 x 1024; narrow 1.31 at 65536 x 32 x 1024; slim 1.06 at 65536 x 16 x 512.
/// bench/results/matmul_splits_h100.json has more shapes (small is called light there) and tiles.
inline constexpr std::array<register_tile, 4> float_tiles{{{64, 128, 16, 8, 8, 3},
                                                           {32, 64, 16, 4, 8, 4},
                                                           {128, 32, 32, 8, 4, 2},
                                                           {256, 16, 32, 8, 4, 2}}};
/// Half the accumulators for the same registers.
inline constexpr std::array<register_tile, 4> double_tiles{
    {{64, 64, 8, 4, 8, 3}, {64, 32, 8, 4, 4, 3}, {128, 16, 8, 8, 2, 3}, {128, 16, 8, 8, 2, 3}}};

[[nodiscard]] constexpr const register_tile& tile_of(std::size_t element_bytes, tile_name name) {
  const auto index = static_cast<std::size_t>(name) - static_cast<std::size_t>(tile_name::medium);
  return (element_bytes == 4 ? float_tiles : double_tiles)[index];
}

/// Shared memory of a block. slim needs more than the 64 KiB of compute capability 7.5.
[[nodiscard]] constexpr std::size_t register_shared_bytes(std::size_t element_bytes,
                                                          tile_name name) {
  const register_tile& tile = tile_of(element_bytes, name);
  const std::size_t values = static_cast<std::size_t>(tile.block_m + tile.block_n);
  return static_cast<std::size_t>(tile.stages * tile.block_k) * (values * element_bytes + 2 * 16);
}

/// C of at least so many medium tiles per multiprocessor is computed by them.
inline constexpr double medium_least_tiles = 0.7;
/// k is cut into parts where C has fewer tiles per multiprocessor than this: into so many of medium
/// where it is deep enough, of other tiles until there are so many blocks.
inline constexpr double split_most_tiles = 2.5;
inline constexpr index_t medium_parts = 3;
inline constexpr index_t medium_least_depth = 1280;
inline constexpr index_t split_blocks = 8;
inline constexpr index_t split_least_depth = 256;  // of a part
inline constexpr index_t most_parts = 64;

/// One shape of `tensor` for double: warps compute warp_m x warp_n of a block's tile each, `blocks`
/// of them share a multiprocessor's registers.
struct tensor_double_tile_shape {
  int block_m;
  int block_n;
  int block_k;
  int warp_m;
  int warp_n;
  int stages;
  int blocks;
};
/// large, medium and small. Of cuBLAS on an H100, one run of all candidates: large 0.95 at 4096 and
/// 2048, 0.96 at 65536 x 256 x 1024; medium 0.90 at 1024, 1.00 at 65536 x 128 x 128; small 1.04 at
/// 512, 0.98 at 65536 x 32 x 1024.
inline constexpr std::array<tensor_double_tile_shape, 3> tensor_double_tiles{
    {{128, 128, 16, 64, 32, 3, 1}, {64, 64, 16, 32, 32, 4, 2}, {32, 32, 32, 16, 16, 4, 4}}};
[[nodiscard]] constexpr const tensor_double_tile_shape& tensor_double_tile(tile_name name) {
  const std::size_t index = name == tile_name::large ? 0 : name == tile_name::medium ? 1 : 2;
  return tensor_double_tiles[index];
}
/// Shared memory of a block: at most, over the orders that an operand's tile can have. large needs
/// more than the 99 KiB of compute capability 8.6, 8.9 and 12.0.
[[nodiscard]] constexpr std::size_t tensor_double_shared_bytes(tile_name name) {
  const tensor_double_tile_shape& tile = tensor_double_tile(name);
  const auto operand = [&](int lanes) {
    return lanes * tile.block_k + 4 * (lanes > tile.block_k ? lanes : tile.block_k);
  };
  return sizeof(double) * static_cast<std::size_t>(tile.stages) *
         static_cast<std::size_t>(operand(tile.block_m) + operand(tile.block_n));
}
/// `automatic` multiplies doubles on tensor cores where C has this many small tiles per
/// multiprocessor: with fewer, register_tiled cuts k into parts.
inline constexpr double tensor_double_least_tiles = 0.45;

/// Of these, large is taken where C has so many of its tiles per multiprocessor and k is so deep,
/// else medium where C has about one of those each, else small. A tile that would compute more than
/// this times C is left out.
inline constexpr double tensor_double_large_least_tiles = 1.9;
inline constexpr index_t tensor_double_large_least_depth = 1024;
inline constexpr double tensor_double_medium_least_tiles = 0.7;
inline constexpr double tensor_double_most_padding = 1.4;

/// A product on tensor cores runs for this many steps of 32 values of k before it is added to sums
/// in registers: tensor cores cut off what does not fit a float, and the loss grows with the run.
/// Deep products have error to spare for longer runs on Hopper: beside a root mean square of cuBLAS
/// float32 of 0.318, 0.308 and 0.271 of 2^-24 at 2048, 4096 and 8192 runs of 2 leave 0.094, 0.071
/// and 0.051, runs of 4 0.171, 0.119 and 0.084, in 0.96, 0.93 and 0.82 of the time. At 1536, where
/// cuBLAS cuts k, runs of 4 would be above it: 0.191 for 0.179.
inline constexpr int tensor_run = 2;
inline constexpr int tensor_long_run = 4;
inline constexpr index_t tensor_long_depth = 2048;

/// Tile widths of the warpgroup products, and what a round of such tiles takes, relatively: 81, 70
/// and 57 us for 2048 values of k on an H100. Wide tiles need less of everything per product,
/// narrow ones leave less of the last round idle; the width whose rounds take least was the fastest
/// in each of 14 shapes from 768 to 8192, 65536 x 256 x 1024 among them.
inline constexpr std::array<int, 3> tensor_columns{192, 128, 64};
inline constexpr std::array<double, 3> tensor_round_costs{81, 70, 57};

/// Below this many multiply-adds automatic takes register_tiled: packing the operands for the
/// tensor cores and three more launches cost more than they save. On an H100, us: 40 for 39 at 768,
/// 50 for 62 at 1000, 56 for 66 at 1021 x 1023 x 1019, 82 for 103 at 16384 x 512 x 256.
inline constexpr double tensor_least_work = 900.0 * 900.0 * 900.0;
/// The same without warpgroup products, whose tiles are not so well fed; not swept.
inline constexpr double tensor_least_work_of_warps = 1280.0 * 1280.0 * 1280.0;
/// The error of `tensor` stays below that of a float32 chain from this depth on.
inline constexpr index_t tensor_least_depth = 256;
/// Reading and packing an operand is only worth it if it is used against this many rows.
inline constexpr index_t tensor_least_extent = 256;

}  // namespace gpu::kernels::matmul_policy

// Where copies of the operands lie in a workspace; host and device agree here.
namespace gpu::kernels {

/// The packed form of one operand, seen as rows of k values (rows of op(A), columns of op(B)).
/// A cell is 64 rows x 32 values; each row is 128 bytes, 32 high halves then 32 low halves, in the
/// 16-byte order that the 128-byte swizzle of shared memory wants. Cells of one depth lie side by
/// side: cell(panel, depth) is at (depth * panels + panel) * cell_bytes, so that neighbouring
/// panels of one depth are one contiguous copy.
struct packed_operand {
  static constexpr index_t cell_rows = 64;
  static constexpr index_t cell_depth = 32;
  static constexpr std::size_t cell_bytes = 64 * 128;

  index_t panels = 0;
  index_t depths = 0;
  [[nodiscard]] constexpr std::size_t bytes() const {
    return static_cast<std::size_t>(panels) * static_cast<std::size_t>(depths) * cell_bytes;
  }
};

/// Offsets of the parts of the workspace, in bytes; each is a multiple of 256.
struct tensor_workspace {
  packed_operand a;
  packed_operand b;
  std::size_t flag = 0;    // one word: 1 where an operand holds an Inf or NaN
  std::size_t peak_a = 0;  // bit pattern of max |a_i.| per row, padded to whole panels
  std::size_t peak_b = 0;
  std::size_t packed_a = 0;
  std::size_t packed_b = 0;
  std::size_t bytes = 0;
};

/// Panels are padded to whole tiles: pairs of 2 panels of A; 2 or 3 of B.
constexpr tensor_workspace plan_tensor_workspace(index_t m, index_t n, index_t k) {
  constexpr auto align = [](std::size_t value) { return (value + 255) / 256 * 256; };
  tensor_workspace out;
  const index_t depths = round_up(k, 2 * packed_operand::cell_depth) / packed_operand::cell_depth;
  out.a = {round_up(m, 256) / packed_operand::cell_rows, depths};
  out.b = {round_up(n, 384) / packed_operand::cell_rows, depths};
  out.flag = 0;
  out.peak_a = 256;
  out.peak_b = align(out.peak_a + static_cast<std::size_t>(out.a.panels) * 64 * sizeof(float));
  out.packed_a = align(out.peak_b + static_cast<std::size_t>(out.b.panels) * 64 * sizeof(float));
  out.packed_b = out.packed_a + out.a.bytes();
  out.bytes = out.packed_b + out.b.bytes();
  return out;
}

}  // namespace gpu::kernels
