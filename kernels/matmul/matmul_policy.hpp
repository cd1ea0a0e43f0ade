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
/// through `stages` buffers of shared memory. `rate`: its speed over that of medium where C has
/// tiles enough of either; `wide_rate`: the same where both operands are read 16 bytes at a time.
struct register_tile {
  int block_m;
  int block_n;
  int block_k;
  int thread_m;
  int thread_n;
  int stages;
  double rate;
  double wide_rate;
  [[nodiscard]] constexpr int threads() const { return block_m / thread_m * (block_n / thread_n); }
  /// Blocks that a multiprocessor is sure to hold, at 128 registers a thread.
  [[nodiscard]] constexpr int resident() const { return 512 / threads(); }
};

/// Names of the shapes below.
enum class tile_name { large, medium, light, small, narrow, slim, flat };
inline constexpr int tile_count = 7;

/// float. Of cuBLAS on an H100, one run of all candidates, no operand transposed unless said so:
///                    medium  large  light  small
///   8192 (tn)         0.940  0.958                large: two operands that are wide already
///   8192              0.950  0.936  0.75   0.70
///   4096              0.928  0.922
///   2048              0.92   0.90   0.84   0.74
///   1536 (k in 3)     1.00
///   1024              0.98   0.58   1.00   0.97   light: 2 warps a block, 4 blocks on each
///   1021 1023 1019    0.93   0.55   0.93   0.89
///   512                             0.97   1.22   (light with k in 2)
///   65536 128 128     0.97   0.78   0.86   0.84
/// narrow, slim and flat are for C of few columns and few rows, of which the others would compute
/// mostly padding: 65536 x 32 x 1024 1.31 (stages 16 deep: 1.15), 65536 x 16 x 512 1.06 (narrow:
/// 0.78), 32 x 65536 x 1024 1.21. Without gain: 4 stages; medium and light 32 deep; 64 x 128 by 256
/// threads; 64 x 64 tiles; 8 x 16 a thread, whose loop outgrows the instruction cache unless it is
/// 8 deep.
inline constexpr std::array<register_tile, tile_count> float_tiles{
    {{128, 128, 16, 8, 8, 3, 0.985, 1.02},
     {64, 128, 16, 8, 8, 3, 1.0, 1.0},
     {32, 64, 16, 4, 8, 4, 0.91, 0.91},
     {32, 64, 16, 4, 4, 4, 0.78, 0.78},
     {128, 32, 32, 8, 4, 2, 0.9, 0.9},
     {256, 16, 32, 8, 4, 2, 0.7, 0.7},
     {32, 128, 16, 4, 8, 3, 0.9, 0.9}}};
/// double: half the accumulators for the same registers. Not swept: the rates keep the order by
/// size.
inline constexpr std::array<register_tile, tile_count> double_tiles{
    {{128, 64, 8, 8, 8, 3, 1.02, 1.02},
     {64, 64, 8, 4, 8, 3, 1.0, 1.0},
     {64, 32, 8, 4, 4, 3, 0.85, 0.85},
     {64, 32, 8, 4, 4, 3, 0.85, 0.85},
     {128, 16, 8, 8, 2, 3, 0.9, 0.9},
     {128, 16, 8, 8, 2, 3, 0.9, 0.9},
     {16, 128, 8, 2, 8, 3, 0.9, 0.9}}};

[[nodiscard]] constexpr const register_tile& tile_of(std::size_t element_bytes, tile_name name) {
  return (element_bytes == 4 ? float_tiles : double_tiles)[static_cast<std::size_t>(name)];
}

/// Shared memory of a block. slim needs more than the 64 KiB of compute capability 7.5.
[[nodiscard]] constexpr std::size_t register_shared_bytes(std::size_t element_bytes,
                                                          tile_name name) {
  const register_tile& tile = tile_of(element_bytes, name);
  const std::size_t values = static_cast<std::size_t>(tile.block_m + tile.block_n);
  return static_cast<std::size_t>(tile.stages * tile.block_k) * (values * element_bytes + 2 * 16);
}

/// What a multiprocessor's share of a product takes, in multiply-adds at the rate of medium:
/// blocks * tile * (depth of a part + block_overhead) / (rate of the tile * rate of its warps),
/// whole rounds of the blocks that it holds and what is left over. The tile and the number of parts
/// of k are those that take least; with these numbers that is the measured best at the sizes above.
/// Filling the stages and storing the tile, in steps of k.
inline constexpr double block_overhead = 40;
/// Speed of a multiprocessor with up to so many warps over that with more.
inline constexpr std::array<int, 3> warp_counts{2, 4, 8};
inline constexpr std::array<double, 3> warp_rates{0.45, 0.78, 0.87};
/// Adding up the parts of k: the launch, and an element of one part.
inline constexpr double sum_launch = 4.0e5;
inline constexpr double sum_element = 0.45;
/// k is cut into at most this many parts, each of at least so many elements.
inline constexpr index_t least_split_depth = 128;
inline constexpr index_t most_splits = 64;

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
/// 2048, 0.96 at 65536 x 256 x 1024; medium 0.90 at 1024 (64 x 128 tiles: 0.91), 1.00 at
/// 65536 x 128 x 128; small 1.04 at 512, 0.98 at 65536 x 32 x 1024. Half as many columns a warp of
/// medium: 0.88 and 0.90. small 16 deep: 0.98 at 512, 0.83 at 256 instead of 0.93. Two
/// stages 32 deep are slower than three 16 deep but for small.
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

/// An operand whose k are neighbours in memory is transposed first where each of its elements is
/// used this often in a product of this much work: 16-byte copies of the tiles then gain more than
/// the pass costs (0.93 to 0.965 of cuBLAS at 4096; at 2048 nothing is left of it).
inline constexpr index_t transpose_least_uses = 2048;
inline constexpr double transpose_least_work = 4000.0 * 4000.0 * 4000.0;

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
