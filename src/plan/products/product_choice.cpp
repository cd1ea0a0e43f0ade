#include "plan/products/product_choice.hpp"

#include <algorithm>
#include <cmath>

#include "base/round_up.hpp"
#include "plan/pair_policy.hpp"
#include "plan/products/product_policy.hpp"

namespace gpu::inline v0::detail {
namespace {

namespace policy = kernels::policy;

constexpr index_t half_least_rows = 192;
constexpr index_t half_least_columns = 96;

double pairs_of(const product_shape& shape) {
  const double all = static_cast<double>(shape.rows) * static_cast<double>(shape.cols);
  return shape.is_against ? all : all / 2;
}

int limbs_of(index_t observations) {
  return observations <= policy::two_limb_columns ? 2 : 3;
}

// What one pair takes: multiply-adds for each element, their rate, bytes of sums that are written
// and read again, the pairs of the smallest tile, and the parts of a sum that fill a device.
struct product_cost {
  double products;
  double rate;
  double bytes;
  double tile_pairs;
  index_t parts;
};

product_cost cost_of(const product_shape& shape, const cuda_costs& machine) {
  switch (shape.kind) {
    case product_kind::of_values:
      return {1, machine.double_rate, 2 * 8 * 8, 64 * 64, 8 * shape.slices};
    case product_kind::of_halves: {
      // A tile is that of two multiprocessors.
      const double tile_pairs = 0.5 * policy::half_tile_rows * policy::half_tile_cols;
      const index_t cells = policy::half_cells(shape.observations);
      return {
          1, machine.half_rate, 2 * 4 * 2, tile_pairs,
          std::clamp<index_t>(cells / policy::least_cells_of_split, 1, policy::most_half_splits)};
    }
    case product_kind::of_limbs:
      break;
  }
  const double products = limbs_of(shape.observations) * limbs_of(shape.observations);
  const index_t planes = ceil_div(shape.observations, policy::limb_plane_columns);
  const index_t splits =
      std::clamp<index_t>(planes / policy::least_planes_of_split, 1, policy::most_limb_splits);
  return {products, machine.limb_rate, 2 * 4 * products,
          double{policy::limb_tile_rows} * policy::limb_tile_cols,
          static_cast<index_t>(products) * splits};
}

}  // namespace

double tile_seconds(const product_shape& shape, int multiprocessors, const cuda_costs& machine) {
  const policy::tile_layout& tile = policy::tensor_limbs;
  const index_t across = ceil_div(shape.cols, index_t{tile.cols});
  const index_t down = ceil_div(shape.rows, index_t{tile.rows});
  const index_t at_once = index_t{tile.blocks_per_multiprocessor} * multiprocessors;
  const index_t walked =
      policy::walked_column_tiles(down, across, at_once, policy::column_tiles_per_block);
  const auto blocks = static_cast<double>(down * ceil_div(across, walked));
  const double share = shape.is_against ? 1.0 : 0.5;
  const double rounds = std::max(1.0, share * blocks / static_cast<double>(at_once));
  double rate = machine.float_rate;
  if (shape.kind == product_kind::of_limbs) {
    rate = limbs_of(shape.observations) == 2 ? machine.two_limb_rate : machine.three_limb_rate;
  }
  const double products =
      static_cast<double>(walked) * tile.rows * tile.cols * static_cast<double>(shape.observations);
  return rounds * products / rate + machine.launch_seconds;
}

double product_seconds(const product_shape& shape, int multiprocessors, const cuda_costs& machine) {
  const double pairs = pairs_of(shape);
  const product_cost cost = cost_of(shape, machine);
  const double tiles = std::max(1.0, pairs / cost.tile_pairs) * static_cast<double>(cost.parts);
  const double busy = std::min(1.0, tiles / (2.0 * multiprocessors));
  const double multiply = pairs * static_cast<double>(shape.observations) * cost.products /
                          (cost.rate * multiprocessors * busy);
  return multiply + pairs * cost.bytes / machine.memory_rate + 2 * machine.launch_seconds;
}

bool has_double_products(int compute_capability, int code_capability) {
  const bool at_full_rate =
      compute_capability == 80 || compute_capability == 90 || compute_capability == 100;
  return at_full_rate && code_capability >= 80;
}

bool can_take_products(product_kind kind, index_t observations, int compute_capability,
                       int code_capability) {
  const bool is_exact = kind != product_kind::of_limbs || observations <= policy::limb_most_columns;
  return has_double_products(compute_capability, code_capability) && is_exact &&
         observations >= policy::product_least_columns;
}

bool takes_products(const product_shape& shape, int multiprocessors, const cuda_costs& machine) {
  return product_seconds(shape, multiprocessors, machine) <
         tile_seconds(shape, multiprocessors, machine);
}

bool can_take_halves(const product_shape& shape) {
  return shape.rows >= half_least_rows && shape.cols >= half_least_rows &&
         shape.observations >= half_least_columns;
}

bool takes_halves(const product_shape& shape, int multiprocessors, const cuda_costs& machine) {
  if (!can_take_halves(shape)) return false;
  product_shape halves = shape;
  halves.kind = product_kind::of_halves;
  const double seconds = product_seconds(halves, multiprocessors, machine);
  return seconds < tile_seconds(shape, multiprocessors, machine) &&
         seconds < product_seconds(shape, multiprocessors, machine);
}

double share_near_cut(const keep_range& keep, index_t observations, double error) {
  constexpr double normal_peak = 0.398942;  // 1 / sqrt(2 pi)
  constexpr double spread_density = 1;
  const auto m = static_cast<double>(observations);
  double share = 0;
  for (const double cut : {keep.at_least, keep.at_most}) {
    if (!(std::abs(cut) <= 1)) continue;
    const double density = normal_peak * std::sqrt(m) * std::exp(-0.5 * m * cut * cut);
    share += 2 * error * std::max(density, spread_density);
  }
  return share;
}

bool products_are_short(const product_shape& shape, int multiprocessors,
                        const cuda_costs& machine) {
  return product_seconds(shape, multiprocessors, machine) < machine.short_products;
}

}  // namespace gpu::inline v0::detail
