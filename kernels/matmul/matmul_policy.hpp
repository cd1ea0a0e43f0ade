#pragma once
// Tuning of the matrix multiply as data: tile shapes and the sizes at which one variant overtakes
// another. plan/matmul_variants.cpp picks from these tables; docs/matmul.md has the measurements.

#include <array>
#include <cstddef>

#include <gpu/index.hpp>

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
  [[nodiscard]] constexpr int threads() const { return block_m / thread_m * (block_n / thread_n); }
};

/// Names of the shapes below.
enum class tile_name { large, medium, small, narrow, flat };
inline constexpr int tile_count = 5;

/// float. large and medium read 16 values for 64 multiply-adds; 8 x 16 a thread is no faster, since
/// its loop outgrows the instruction cache unless it is 8 deep. small makes enough blocks of a
/// small C; narrow and flat are for C of few columns and few rows, of which large would compute
/// mostly padding.
inline constexpr std::array<register_tile, tile_count> float_tiles{{{128, 128, 16, 8, 8, 3},
                                                                    {64, 128, 8, 8, 8, 4},
                                                                    {64, 64, 16, 4, 8, 4},
                                                                    {128, 32, 16, 8, 4, 3},
                                                                    {32, 128, 16, 4, 8, 3}}};
/// double: half the accumulators for the same registers.
inline constexpr std::array<register_tile, tile_count> double_tiles{{{128, 64, 8, 8, 8, 3},
                                                                     {64, 64, 8, 4, 8, 3},
                                                                     {64, 32, 8, 4, 4, 3},
                                                                     {128, 16, 8, 8, 2, 3},
                                                                     {16, 128, 8, 2, 8, 3}}};

[[nodiscard]] constexpr const register_tile& tile_of(std::size_t element_bytes, tile_name name) {
  return (element_bytes == 4 ? float_tiles : double_tiles)[static_cast<std::size_t>(name)];
}

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
/// large, medium and small. Of cuBLAS on an H200: large 0.95 at 4096, medium 0.89 at 1024, small
/// 1.01 at 512.
inline constexpr std::array<tensor_double_tile_shape, 3> tensor_double_tiles{
    {{128, 128, 16, 64, 32, 3, 1}, {64, 64, 16, 32, 16, 4, 2}, {32, 32, 16, 16, 16, 4, 4}}};
[[nodiscard]] constexpr const tensor_double_tile_shape& tensor_double_tile(tile_name name) {
  return tensor_double_tiles[static_cast<std::size_t>(name)];
}
/// `automatic` multiplies doubles on tensor cores where C has this many small tiles per
/// multiprocessor: with fewer, register_tiled cuts k into parts.
inline constexpr double tensor_double_least_tiles = 0.45;

/// large is taken where C has this many of its tiles per multiprocessor, else medium where C has
/// about one of those each, else small.
inline constexpr double large_least_tiles = 1.9;
inline constexpr double medium_least_tiles = 0.7;
/// Shallower products spend too much of large on filling its stages and storing C: at
/// 65536 x 128 x 128 it reaches 0.79 of cuBLAS, medium 0.97.
inline constexpr index_t large_least_depth = 1024;

/// k is cut into parts only where a part still has this many elements, and into at most this many.
inline constexpr index_t least_split_depth = 128;
inline constexpr index_t most_splits = 64;

/// An operand whose k are neighbours in memory is transposed first where each of its elements is
/// used this often in a product of this much work: 16-byte copies of the tiles then gain more than
/// the pass costs (0.93 to 0.965 of cuBLAS at 4096; at 2048 nothing is left of it).
inline constexpr index_t transpose_least_uses = 2048;
inline constexpr double transpose_least_work = 3072.0 * 3072.0 * 3072.0;

/// A product on tensor cores runs for this many steps of 32 values of k before it is added to sums
/// in registers: tensor cores cut off what does not fit a float, and the loss grows with the run.
inline constexpr int tensor_run = 2;

/// Time per column of a 128-column tile of warpgroup products over that of a 192-column tile.
inline constexpr double tensor_narrow_cost = 1.33;

/// Below this many multiply-adds automatic takes register_tiled: packing the operands for the
/// tensor cores and two more launches cost more than they save. At 1024 x 1024 x 1024 both take
/// as long.
inline constexpr double tensor_least_work = 1280.0 * 1280.0 * 1280.0;
/// The error of `tensor` stays below that of a float32 chain from this depth on.
inline constexpr index_t tensor_least_depth = 256;
/// Reading and packing an operand is only worth it if it is used against this many rows.
inline constexpr index_t tensor_least_extent = 256;

}  // namespace gpu::kernels::matmul_policy
