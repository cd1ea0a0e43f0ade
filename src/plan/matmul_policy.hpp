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
/// through `stages` buffers of shared memory. `blocks` of them a multiprocessor holds at once.
/// `rate`: its speed over that of medium where C has tiles enough of either; `wide_rate`: the same
/// where both operands are read 16 bytes at a time.
struct register_tile {
  int block_m;
  int block_n;
  int block_k;
  int thread_m;
  int thread_n;
  int stages;
  int blocks;
  double rate;
  double wide_rate;
  [[nodiscard]] constexpr int threads() const { return block_m / thread_m * (block_n / thread_n); }
};

/// Names of the shapes below.
enum class tile_name { large, medium, light, small, narrow, slim, flat };
inline constexpr int tile_count = 7;

/// float. Rates and the costs below were fitted to a sweep of all tiles and numbers of parts on an
/// H100. In the sweep of the kernel as it is (bench/results/matmul_splits_h100.json) the choice
/// takes at most 1.1 % longer than the best of them in each of 27 shapes, and a test holds it to 2.
/// Of cuBLAS in the same run, each tile with its best number of parts:
///                    medium  large  light  small  flat
///   256               0.72   0.46   1.03   1.31   0.93
///   512               0.83   0.57   0.99   1.23   0.91
///   1000              1.03   0.88   1.02   0.99   0.96
///   1024              1.08   0.91   1.00   0.99   0.99
///   1021 1023 1019    1.00   0.85   0.92   0.95   0.93
///   1536 (k in 3)     1.05   0.87   0.94   0.94   1.01
///   2048              0.96   0.93   0.84   0.74   0.87
///   4096              0.98   0.95   0.85   0.75   0.88
///   4096 (tn)         1.00   1.02                        two operands that are wide already
///   65536 256 1024    0.99   0.96   0.86   0.78   0.90
///   65536 128 128     0.97   0.77   0.86   0.85   0.93
///   32 65536 128      0.79          0.90   0.91   0.84
///   32 65536 1024     0.80          1.19   1.06   1.24
///   128 128 65536     1.00   0.61   0.99   0.97   0.98   k in 64, 64, 64, 32, 64
/// narrow and slim are for C of few columns, of which the others would compute mostly padding:
/// 65536 x 32 x 1024 1.31, 65536 x 16 x 512 1.06 (narrow: 0.78).
inline constexpr std::array<register_tile, tile_count> float_tiles{
    {{128, 128, 16, 8, 8, 3, 2, 0.978, 1.035},
     {64, 128, 16, 8, 8, 3, 4, 1.0, 1.0},
     {32, 64, 16, 4, 8, 4, 10, 0.828, 0.828},
     {32, 64, 16, 4, 4, 4, 6, 0.713, 0.713},
     {128, 32, 32, 8, 4, 2, 4, 0.9, 0.9},
     {256, 16, 32, 8, 4, 2, 4, 0.7, 0.7},
     {32, 128, 16, 4, 8, 3, 5, 0.832, 0.832}}};
/// double: half the accumulators for the same registers. Not swept: the rates keep the order by
/// size.
inline constexpr std::array<register_tile, tile_count> double_tiles{
    {{128, 64, 8, 8, 8, 3, 4, 1.02, 1.02},
     {64, 64, 8, 4, 8, 3, 4, 1.0, 1.0},
     {64, 32, 8, 4, 4, 3, 4, 0.85, 0.85},
     {64, 32, 8, 4, 4, 3, 4, 0.85, 0.85},
     {128, 16, 8, 8, 2, 3, 4, 0.9, 0.9},
     {128, 16, 8, 8, 2, 3, 4, 0.9, 0.9},
     {16, 128, 8, 2, 8, 3, 4, 0.9, 0.9}}};

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
/// of k are those that take least.
/// Filling the stages and storing the tile, in steps of k.
inline constexpr double block_overhead = 75;
/// Speed of a multiprocessor with up to so many warps over that with more.
inline constexpr std::array<int, 4> warp_counts{2, 4, 8, 12};
inline constexpr std::array<double, 4> warp_rates{0.5, 0.845, 0.857, 0.982};
/// Adding up the parts of k: the launch, and an element of one part.
inline constexpr double sum_launch = 1.45e6;
inline constexpr double sum_element = 0.063;
/// k is cut into one of these numbers of parts, each of at least so many elements, for at most so
/// many blocks a multiprocessor.
inline constexpr std::array<index_t, 12> split_counts{1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64};
inline constexpr index_t least_split_depth = 128;
inline constexpr index_t most_split_blocks = 10;
/// flat takes products of so few rows and from so deep on; its k is not cut.
inline constexpr index_t flat_least_depth = 512;

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

/// An operand whose k are neighbours in memory is transposed first where each of its elements is
/// used this often in a product of this much work: 16-byte copies of the tiles then gain more than
/// the pass costs (0.93 to 0.965 of cuBLAS at 4096; at 2048 nothing is left of it).
inline constexpr index_t transpose_least_uses = 2048;
inline constexpr double transpose_least_work = 4000.0 * 4000.0 * 4000.0;

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

/// Bytes of an operand of `lanes` rows of op(A) (columns of op(B)) and k values each, stored with
/// its lanes side by side.
[[nodiscard]] constexpr std::size_t transposed_bytes(index_t lanes, index_t k,
                                                     std::size_t element_bytes) {
  return static_cast<std::size_t>(round_up(lanes, 64)) * static_cast<std::size_t>(k) *
         element_bytes;
}

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
