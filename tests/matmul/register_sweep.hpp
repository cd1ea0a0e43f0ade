#pragma once
// Times of register_tiled for float on an NVIDIA H100 80GB HBM3 by tile and number of parts of k:
// the best few of each shape, in microseconds. All are in bench/results/matmul_splits_h100.json.

#include <array>
#include <vector>

#include <gpu/index.hpp>

#include "plan/matmul_policy.hpp"

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
      {256, 256, 256, false, {{small, 1, 8.9}}},
      {384, 384, 384, false, {{small, 1, 11.2}}},
      {512, 512, 512, false, {{small, 1, 13.6}}},
      {768,
       768,
       768,
       false,
       {{small, 1, 38.4},
        {light, 3, 38.6},
        {flat, 3, 38.9},
        {flat, 4, 38.9},
        {small, 4, 39.2},
        {small, 2, 39.4},
        {flat, 6, 40.1},
        {light, 2, 40.1}}},
      {1000,
       1000,
       1000,
       false,
       {{medium, 1, 60.1}, {light, 1, 60.9}, {small, 1, 62.5}, {medium, 3, 63.7}, {flat, 2, 64.5}}},
      {1024, 1024, 1024, false, {{medium, 1, 58.7}, {medium, 3, 60.9}, {medium, 4, 62.8}}},
      {1021, 1023, 1019, false, {{medium, 1, 63.0}, {small, 1, 66.3}, {flat, 1, 67.9}}},
      {1280, 1280, 1280, false, {{medium, 3, 114.6}, {medium, 4, 122.6}, {flat, 3, 122.7}}},
      {1536,
       1536,
       1536,
       false,
       {{medium, 3, 180.8},
        {medium, 4, 185.2},
        {medium, 2, 186.2},
        {flat, 2, 186.8},
        {flat, 1, 192.3}}},
      {2048, 2048, 2048, false, {{medium, 1, 356.8}, {large, 1, 367.8}, {medium, 2, 377.4}}},
      {3072, 3072, 3072, false, {{medium, 1, 1160.4}}},
      {4096, 4096, 4096, false, {{medium, 1, 2712.0}, {large, 1, 2786.6}}},
      {4096, 4096, 4096, true, {{large, 1, 2613.5}, {medium, 1, 2665.6}}},
      {2048,
       2048,
       2048,
       true,
       {{large, 1, 345.3}, {medium, 1, 347.1}, {medium, 2, 369.4}, {large, 2, 370.4}}},
      {4097, 4095, 4099, false, {{medium, 1, 2854.6}, {large, 1, 2881.7}}},
      {65536, 128, 128, false, {{medium, 1, 65.7}, {flat, 1, 68.5}}},
      {65536, 256, 1024, false, {{medium, 1, 708.1}, {large, 1, 734.6}}},
      {32, 65536, 128, false, {{small, 1, 27.9}, {light, 1, 28.2}}},
      {32, 65536, 1024, false, {{flat, 1, 117.6}, {light, 1, 122.2}}},
      {16, 65536, 512, false, {{flat, 1, 66.3}, {light, 1, 68.7}}},
      {32,
       4096,
       4096,
       false,
       {{light, 4, 45.5},
        {small, 6, 45.7},
        {small, 4, 46.3},
        {flat, 8, 46.6},
        {small, 8, 47.5},
        {light, 8, 47.7},
        {light, 6, 47.8},
        {flat, 12, 47.9}}},
      {1024,
       1024,
       8192,
       false,
       {{medium, 3, 364.6},
        {medium, 4, 367.2},
        {medium, 6, 369.4},
        {medium, 8, 373.9},
        {large, 4, 376.2},
        {large, 6, 386.0},
        {large, 8, 390.0}}},
      {128,
       128,
       65536,
       false,
       {{medium, 64, 67.5},
        {light, 64, 68.2},
        {flat, 64, 69.1},
        {small, 32, 69.2},
        {light, 32, 69.2},
        {small, 48, 69.3},
        {small, 64, 70.4}}},
      {128,
       128,
       8192,
       false,
       {{light, 32, 17.8}, {small, 32, 17.9}, {small, 16, 18.8}, {small, 48, 19.0}}},
      {2048, 2048, 256, false, {{medium, 1, 55.3}}},
      {16384, 512, 256, false, {{medium, 1, 102.0}}},
      {300,
       300,
       65536,
       false,
       {{light, 24, 357.9},
        {medium, 32, 368.4},
        {medium, 64, 373.7},
        {medium, 24, 374.8},
        {medium, 48, 377.5}}},
  };
}

}  // namespace gpu_test
