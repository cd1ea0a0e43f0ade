#pragma once
// Times of register_tiled for float on an NVIDIA H100 80GB HBM3 by tile and number of parts of k:
// the best few of each shape, in microseconds. All are in bench/results/matmul_splits_h100.json.

#include <array>
#include <vector>

#include <gpu/index.hpp>

#include "matmul/matmul_policy.hpp"

namespace gpu_test {

struct timed_tile {
  gpu::kernels::matmul_policy::tile_name tile;
  gpu::index_t splits;
  double microseconds;
};
struct timed_product {
  gpu::index_t m;
  gpu::index_t n;
  gpu::index_t k;
  bool transpose_a;               // both operands can then be read 16 bytes at a time
  std::vector<timed_tile> tiles;  // the fastest first
};

inline std::vector<timed_product> register_sweep() {
  using enum gpu::kernels::matmul_policy::tile_name;
  return {
      {256, 256, 256, false, {{small, 1, 8.8}}},
      {512, 512, 512, false, {{small, 1, 13.7}}},
      {768,
       768,
       768,
       false,
       {{light, 3, 38.6},
        {small, 1, 39.1},
        {small, 4, 39.3},
        {flat, 4, 39.6},
        {small, 2, 39.6},
        {flat, 3, 40.1},
        {light, 2, 40.5},
        {medium, 6, 41.6}}},
      {1000,
       1000,
       1000,
       false,
       {{light, 1, 61.6},
        {small, 1, 63.0},
        {medium, 1, 63.3},
        {medium, 3, 64.2},
        {flat, 1, 65.8},
        {light, 2, 66.2},
        {flat, 2, 66.5}}},
      {1024,
       1024,
       1024,
       false,
       {{medium, 1, 61.7},
        {medium, 3, 61.8},
        {small, 1, 64.4},
        {light, 1, 64.7},
        {medium, 4, 64.8},
        {flat, 2, 66.0},
        {light, 2, 66.4}}},
      {1021,
       1023,
       1019,
       false,
       {{medium, 1, 66.2},
        {small, 1, 67.7},
        {flat, 1, 68.5},
        {light, 1, 68.9},
        {flat, 2, 69.5},
        {medium, 3, 71.2}}},
      {1536,
       1536,
       1536,
       false,
       {{medium, 3, 183.2},
        {medium, 4, 187.3},
        {medium, 2, 190.2},
        {flat, 2, 190.3},
        {flat, 1, 196.3}}},
      {2048, 2048, 2048, false, {{medium, 1, 363.6}, {large, 1, 372.3}, {medium, 2, 383.7}}},
      {3072, 3072, 3072, false, {{medium, 1, 1191.7}, {large, 2, 1284.1}}},
      {4096, 4096, 4096, false, {{medium, 1, 2782.1}, {large, 1, 2845.8}}},
      {4096, 4096, 4096, true, {{large, 1, 2658.3}, {medium, 1, 2711.1}}},
      {2048,
       2048,
       2048,
       true,
       {{medium, 1, 351.6}, {large, 1, 353.6}, {medium, 2, 374.3}, {large, 2, 376.9}}},
      {4097, 4095, 4099, false, {{medium, 1, 2894.3}, {large, 1, 2922.1}}},
      {65536, 128, 128, false, {{medium, 1, 65.0}, {flat, 1, 69.1}}},
      {65536, 256, 1024, false, {{medium, 1, 715.5}, {large, 1, 741.8}}},
      {32, 65536, 128, false, {{small, 1, 27.7}, {light, 1, 28.0}}},
      {32, 65536, 1024, false, {{flat, 1, 119.5}, {light, 1, 122.0}}},
      {32,
       4096,
       4096,
       false,
       {{light, 4, 45.3},
        {small, 6, 45.4},
        {flat, 8, 46.7},
        {small, 4, 46.9},
        {light, 6, 47.4},
        {flat, 12, 47.5},
        {small, 8, 47.5},
        {light, 8, 47.7}}},
      {1024,
       1024,
       8192,
       false,
       {{medium, 3, 370.2},
        {medium, 4, 375.4},
        {medium, 6, 378.4},
        {medium, 8, 380.1},
        {large, 4, 383.0},
        {large, 6, 396.3},
        {large, 8, 396.7}}},
      {128,
       128,
       65536,
       false,
       {{light, 32, 68.0},
        {light, 64, 68.1},
        {small, 48, 68.8},
        {medium, 64, 69.4},
        {flat, 64, 69.6},
        {small, 64, 70.0}}},
      {128, 128, 8192, false, {{light, 32, 17.3}, {small, 32, 18.3}}},
      {2048, 2048, 256, false, {{medium, 1, 56.0}}},
      {16384, 512, 256, false, {{medium, 1, 102.9}}},
      {300,
       300,
       65536,
       false,
       {{light, 24, 355.2}, {medium, 24, 376.5}, {medium, 32, 376.7}, {medium, 64, 378.6}}},
  };
}

}  // namespace gpu_test
